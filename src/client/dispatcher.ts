import type { Dispatcher } from 'undici'
import type { DurationMs } from '../domain/time.js'
import type { Environment } from '../system/environment.js'
import { type Header, joinedHeaders } from './headers.js'
import { proxyFor } from './proxies.js'

/** The way to an address. */
export interface Way {
  readonly dispatcher: Dispatcher
  /** The variable that names the proxy on it; undefined if there is none. */
  readonly proxy: string | undefined
}

type Headers = NonNullable<Dispatcher.DispatchOptions['headers']> | null

interface WayOptions {
  /** Certificate authorities to trust in place of the usual ones. */
  readonly ca?: readonly (string | Buffer)[]
  /** How long a connection is kept that nothing is sent on. */
  readonly idle?: DurationMs
}

/**
 * Opens the way to an address: straight, or through the proxy that the environment names for it.
 * What is sent over plain HTTP the proxy is asked for, as curl does it, since most open tunnels
 * for https alone.
 *
 * @throws TargetError if a proxy that it would go through is none
 */
export async function openWay(baseUrl: string, env: Environment, { ca, idle }: WayOptions = {}): Promise<Way> {
  const proxy = proxyFor(baseUrl, env)
  const { Pool, ProxyAgent } = await import('./undici.js')
  const tls = ca === undefined ? {} : { ca: [...ca] }
  const terms = {
    // A deadline ends an answer exactly; undici's own timers are coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(idle === undefined ? {} : { keepAliveTimeout: idle }),
  }
  if (proxy === undefined) {
    const { origin } = new URL(baseUrl)
    return { dispatcher: new Pool(origin, { ...terms, connect: tls }), proxy: undefined }
  }
  const { url, variable } = proxy
  const agent = new ProxyAgent({
    uri: url.href,
    proxyTunnel: false,
    requestTls: tls,
    factory: (origin, options) => new Pool(origin, { ...options, ...terms }),
    ...(url.username === '' ? {} : { token: basicOf(url) }),
  })
  const dispatcher = agent.compose(
    (dispatch) => (options, handler) => dispatch({ ...options, headers: joinedOf(options.headers ?? null) }, handler),
  )
  return { dispatcher, proxy: variable }
}

/** Of a name that comes twice in a list, undici's proxies take the last value alone. */
function joinedOf(headers: Headers): Headers {
  if (!Array.isArray(headers)) return headers
  const list = headers.map(String)
  return joinedHeaders(
    list.flatMap((name, place): Header[] => (place % 2 === 0 ? [[name, list[place + 1] ?? '']] : [])),
  )
}

/** undici leaves out a user without a password. */
function basicOf({ username, password }: URL): string {
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
