export interface RedisAddress {
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string }
  readonly isEncrypted: boolean
  readonly database: number
  readonly user: string
  readonly password: string | undefined
  /** Without user and password. */
  readonly shown: string
}

export const REDIS_ADDRESS_FORM =
  'must be an address such as redis://127.0.0.1:6379, rediss://user:password@redis.example:6380/2 or unix:///run/redis.sock?db=2'

const SOCKET = /^(?:redis\+)?unix:\/\/(?:([^:@/?#]*):([^@/?#]*)@)?(\/[^?#]+)(?:\?db=(\d{1,5}))?$/
const SERVER = /^(rediss?):\/\/(?:([^:@/?#]*):([^@/?#]*)@)?(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?(?:\/(\d{0,5}))?$/i
const DEFAULT_PORT = '6379'
const MAX_PORT = 65_535

/** Returns the address, or the problem ("must be …") without the text, which may contain a password. */
export function readRedisAddress(text: string): RedisAddress | { readonly problem: string } {
  try {
    const address = readSocket(text) ?? readServer(text)
    if (address !== undefined) return address
  } catch {
    // Invalid percent-encoding.
  }
  return { problem: `${REDIS_ADDRESS_FORM}, user and password percent-encoded` }
}

function readSocket(text: string): RedisAddress | undefined {
  const [found, user, password, path = '', database = '0'] = SOCKET.exec(text) ?? []
  if (found === undefined) return undefined
  const shown = `unix://${path}${database === '0' ? '' : `?db=${database}`}`
  return { at: { path: decodeURIComponent(path) }, isEncrypted: false, shown, ...identity(user, password, database) }
}

function readServer(text: string): RedisAddress | undefined {
  const [found, scheme = '', user, password, host = '', port = DEFAULT_PORT, database = ''] = SERVER.exec(text) ?? []
  if (found === undefined || Number(port) > MAX_PORT) return undefined
  return {
    at: { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) },
    isEncrypted: scheme.toLowerCase() === 'rediss',
    shown: `${scheme}://${host}:${port}${Number(database) === 0 ? '' : `/${database}`}`,
    ...identity(user, password, database),
  }
}

function identity(user = '', password = '', database = '') {
  return {
    user: user === '' ? 'default' : decodeURIComponent(user),
    password: password === '' ? undefined : decodeURIComponent(password),
    database: Number(database),
  }
}
