import type { Dispatcher } from 'undici'
import { decodePercent } from '../contract/query.js'
import { isLoopback, shownAddress } from '../domain/base-address.js'
import type { DurationMs } from '../domain/time.js'
import type { Environment } from '../system/this-process.js'
import { TargetError } from './errors.js'
import { type Header, joinedHeaders } from './headers.js'

interface DispatcherOptions {
  readonly idle?: DurationMs
  readonly connections?: number
}

/**
 * Plain HTTP goes to the proxy without a tunnel, as in curl: most proxies open tunnels for https alone.
 *
 * @returns also the variable that names the proxy
 * @throws TargetError if a proxy variable is invalid
 */
export async function openDispatcher(
  baseUrl: string,
  env: Environment,
  { idle, connections }: DispatcherOptions = {},
): Promise<{ readonly dispatcher: Dispatcher; readonly proxy: string | undefined }> {
  const proxy = proxyFor(baseUrl, env)
  const { Pool, ProxyAgent } = await import('./undici.js')
  const options = {
    // Our own deadline is exact; undici's timers are coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(idle === undefined ? {} : { keepAliveTimeout: idle }),
    ...(connections === undefined ? {} : { connections }),
  }
  if (proxy === undefined) return { dispatcher: new Pool(new URL(baseUrl).origin, options), proxy: undefined }
  const { url, variable } = proxy
  // undici ignores a user without a password.
  const user = [url.username, url.password].map(decodePercent).join(':')
  const agent = new ProxyAgent({
    uri: url.href,
    proxyTunnel: false,
    factory: (origin, given) => new Pool(origin, { ...given, ...options }),
    ...(url.username === '' ? {} : { token: `Basic ${Buffer.from(user).toString('base64')}` }),
  })
  const dispatcher = agent.compose(
    (dispatch) => (given, handler) => dispatch({ ...given, headers: joined(given.headers ?? null) }, handler),
  )
  return { dispatcher, proxy: variable }
}

/** Of a header that is given twice, undici's proxy agent sends the last value alone. */
function joined(headers: NonNullable<Dispatcher.DispatchOptions['headers']> | null) {
  if (!Array.isArray(headers)) return headers
  const list = headers.map(String)
  return joinedHeaders(
    list.flatMap((name, place): Header[] => (place % 2 === 0 ? [[name, list[place + 1] ?? '']] : [])),
  )
}

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
    // An IPv6 address has brackets in a URL, and in a list only before a port.
    const written = /^[^[]*:.*:/.test(entry) ? `[${entry}]` : entry.toLowerCase()
    const [, name = '', only] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(written) ?? []
    const host = name.startsWith('[') && URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : name
    return host !== '' && (only ?? asked) === asked && (hostname === host || hostname.endsWith(`.${host}`))
  })
}
