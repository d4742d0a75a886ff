import type { Dispatcher } from 'undici'
import type { DurationMs } from '../domain/time.js'
import type { Environment } from '../system/this-process.js'
import { type Header, joinedHeaders } from './headers.js'
import { proxyFor } from './proxies.js'

interface DispatcherOptions {
  readonly ca?: readonly (string | Buffer)[]
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
  { ca, idle, connections }: DispatcherOptions = {},
): Promise<{ readonly dispatcher: Dispatcher; readonly proxy: string | undefined }> {
  const proxy = proxyFor(baseUrl, env)
  const { Pool, ProxyAgent } = await import('./undici.js')
  const tls = ca === undefined ? {} : { ca: [...ca] }
  const options = {
    // Our own deadline is exact; undici's timers are coarse.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(idle === undefined ? {} : { keepAliveTimeout: idle }),
    ...(connections === undefined ? {} : { connections }),
  }
  if (proxy === undefined)
    return { dispatcher: new Pool(new URL(baseUrl).origin, { ...options, connect: tls }), proxy: undefined }
  const { url, variable } = proxy
  // undici ignores a user without a password.
  const user = [url.username, url.password].map(decodeURIComponent).join(':')
  const agent = new ProxyAgent({
    uri: url.href,
    proxyTunnel: false,
    requestTls: tls,
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
