import type { ServiceRequest } from './messages.js'

/** Web origins that may call the service: any, those of this machine, or the listed ones. */
export type AllowedOrigins = '*' | 'loopback' | readonly string[]

/** Names that no website can have, with any port. `.localhost` is reserved: RFC 6761, section 6.3 */
const LOOPBACK = String.raw`(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?`
const LOOPBACK_HOST = new RegExp(`^${LOOPBACK}$`, 'i')
const LOOPBACK_ORIGIN = new RegExp(`^https?://${LOOPBACK}$`, 'i')
/** A website cannot rebind an IP address, nor a name without a dot, as containers have it. */
const LOCAL_HOST = /^(?:[a-z0-9_-]+|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOST.test(host)
}

export function isLoopbackOrigin(origin: string): boolean {
  return LOOPBACK_ORIGIN.test(origin)
}

export function isAllowedOrigin(allowed: AllowedOrigins, origin: string): boolean {
  if (allowed === '*') return true
  return allowed === 'loopback' ? isLoopbackOrigin(origin) : allowed.includes(origin)
}

/** `loopback web origins only` */
export function describeOrigins(allowed: AllowedOrigins): string {
  if (allowed === '*') return 'any web origin'
  if (allowed.length === 0) return 'no web origin'
  return allowed === 'loopback' ? 'loopback web origins only' : `the web origins ${allowed.join(', ')} only`
}

/**
 * Finds the website that may have caused a request, unless it may use the service. Browsers send no Origin with a plain
 * GET (an `<img>`, a link), but Sec-Fetch-Site shows whether another site caused it. A website that rebinds its name to
 * this machine is of the same origin, and keeps its own Host.
 *
 * @param isExposed the sandbox listens beyond loopback
 * @returns a name for messages
 * @source Fetch Metadata Request Headers
 */
export function findWebsite(
  request: Pick<ServiceRequest, 'target' | 'headers' | 'rawHeaders'>,
  allowed: AllowedOrigins,
  isExposed: boolean,
): string | undefined {
  if (allowed === '*') return undefined
  const host = hostOf(request)
  const [origin, site] = ['origin', 'sec-fetch-site'].map((name) => request.headers[name]?.toString())
  const ownOrigins = [`http://${host}`, `https://${host}`]
  const isLoopback = host === undefined || LOOPBACK_HOST.test(host)
  const isTrusted =
    isLoopback || (isExposed && LOCAL_HOST.test(host)) || ownOrigins.some((value) => isAllowedOrigin(allowed, value))
  if (!isTrusted) return host
  if (origin !== undefined) return ownOrigins.includes(origin) || isAllowedOrigin(allowed, origin) ? undefined : origin
  // Pages of the same site as a loopback name are from this machine as well.
  const ownSites = ['same-origin', 'none', ...(allowed === 'loopback' && isLoopback ? ['same-site'] : [])]
  return site === undefined || ownSites.includes(site) ? undefined : 'another site'
}

/** In absolute form, the target replaces the header. Repeated headers are joined, which no name equals. @source RFC 9112, section 3.2 */
function hostOf({ target, rawHeaders }: Parameters<typeof findWebsite>[0]): string | undefined {
  const [, host] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target) ?? []
  const sent = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host')
  return host ?? (sent.length === 0 ? undefined : sent.join(', '))
}
