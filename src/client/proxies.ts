import type { Environment } from '../system/this-process.js'
import { isLoopback, shownAddress } from './base-address.js'
import { TargetError } from './errors.js'

export interface Proxy {
  /** May contain user and password. */
  readonly url: URL
  readonly variable: string
}

/** Lower-case variables win. Without a scheme: an HTTP proxy, as in curl. @throws TargetError naming the variable */
export function proxyFor(baseUrl: string, env: Environment): Proxy | undefined {
  if (isLoopback(baseUrl) || isExcepted(new URL(baseUrl), env.no_proxy ?? env.NO_PROXY ?? '')) return undefined
  const find = (...names: readonly string[]) => {
    const variable = names.find((name) => env[name] !== undefined)
    const text = variable === undefined ? '' : (env[variable] ?? '').trim()
    return variable === undefined || text === '' ? undefined : { variable, text }
  }
  const ofHttp = find('http_proxy', 'HTTP_PROXY')
  const found = baseUrl.startsWith('https:') ? (find('https_proxy', 'HTTPS_PROXY') ?? ofHttp) : ofHttp
  if (found === undefined) return undefined
  const { variable, text } = found
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (url !== undefined && /^(?:https?|socks5?):$/.test(url.protocol)) return { url, variable }
  const form = 'must be the address of a proxy, such as http://proxy.example:3128'
  throw new TargetError('INVALID_TARGET', `${variable} ${shownAddress(written)}: ${form}`)
}

/** The status of a proxy's refusal. undici's error for it has no code. */
export function proxyRefusal(error: unknown): string | undefined {
  const text = error instanceof Error ? error.message : ''
  return /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(text)?.[1]
}

/** NO_PROXY: a host includes its subdomains; with a port, only that; `*` includes all hosts. */
function isExcepted({ protocol, hostname, port }: URL, list: string): boolean {
  const asked = port === '' ? { 'http:': '80', 'https:': '443' }[protocol] : port
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*') return true
    const [, host = '', only] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
    return host !== '' && (only ?? asked) === asked && (hostname === host || hostname.endsWith(`.${host}`))
  })
}
