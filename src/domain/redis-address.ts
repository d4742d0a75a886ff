export interface RedisAddress {
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string }
  readonly isEncrypted: boolean
  readonly database: number
  readonly user: string
  readonly password: string | undefined
  /** Without user and password. */
  readonly shown: string
}

const DEFAULT_PORT = 6379
export const REDIS_ADDRESS_FORM =
  'must be an address such as redis://127.0.0.1:6379, rediss://user:password@redis.example:6380/2 or unix:///run/redis.sock?db=2'
/** Missing encoding is the usual cause of an invalid address. */
const ENCODED = 'user and password percent-encoded'

const SOCKET = /^(?:redis\+)?unix:\/\/(?:([^:@/?#]*):([^@/?#]*)@)?(\/[^?#]+)(?:\?db=(\d{1,5}))?$/

/** Returns the address, or the problem ("must be …") without the text, which may contain a password. */
export function readRedisAddress(text: string): RedisAddress | { readonly problem: string } {
  try {
    return SOCKET.test(text) ? readSocket(text) : readUrl(new URL(text))
  } catch {
    // Not a URL, or invalid percent-encoding.
    return { problem: `${REDIS_ADDRESS_FORM}, ${ENCODED}` }
  }
}

function readSocket(text: string): RedisAddress {
  const [, user = '', password = '', path = '', database = '0'] = SOCKET.exec(text) ?? []
  return {
    at: { path: decodeURIComponent(path) },
    isEncrypted: false,
    shown: `unix://${path}${database === '0' ? '' : `?db=${database}`}`,
    ...identity(user, password),
    database: Number(database),
  }
}

function readUrl(url: URL): RedisAddress | { readonly problem: string } {
  const isEncrypted = url.protocol === 'rediss:'
  const database = /^\/?(\d{0,5})$/.exec(url.pathname)?.[1]
  if (!isEncrypted && url.protocol !== 'redis:') return { problem: REDIS_ADDRESS_FORM }
  if (url.hostname === '' || database === undefined) return { problem: `${REDIS_ADDRESS_FORM}, ${ENCODED}` }
  if (url.search !== '' || url.hash !== '')
    return { problem: `${REDIS_ADDRESS_FORM}, ${ENCODED}, without query and fragment` }
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port)
  return {
    at: { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port },
    isEncrypted,
    shown: `${url.protocol}//${url.hostname}:${port}${Number(database) === 0 ? '' : `/${database}`}`,
    ...identity(url.username, url.password),
    database: Number(database),
  }
}

function identity(user: string, password: string): Pick<RedisAddress, 'user' | 'password'> {
  return {
    user: user === '' ? 'default' : decodeURIComponent(user),
    password: password === '' ? undefined : decodeURIComponent(password),
  }
}
