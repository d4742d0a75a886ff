import { messageOf } from '../system/message-of.js'
import { NotRedis, type RedisConnection } from './redis.js'

/** Errors with an advice. The message of any other explains itself. */
const REDIS_ERRORS: Readonly<Record<string, string>> = {
  OOM: 'its memory is used up (maxmemory). Increase it, or restart the group with --reset',
  READONLY: 'it is a read-only copy. Use the address of the primary',
  MISCONF: 'it refuses writes because it cannot write to its disk. See the log of Redis',
  WRONGPASS: 'user or password is wrong',
  NOAUTH: 'it requires a password, and the address has none',
  NOPERM: 'its user lacks permissions. Allow the keys petstore-sandbox:*, streams, hashes and scripts',
  MOVED: 'it is a cluster node, and another node has the keys of this group. Use the address of that node',
  WRONGTYPE: 'another program uses the keys of this group. Choose another group with --group',
}

const NOT_TLS = 'it does not use TLS: use redis://'
const UNKNOWN_ISSUER =
  'the issuer of its certificate is unknown. Set NODE_EXTRA_CA_CERTS to the certificate of the issuer'

const NETWORK_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'its host is unknown',
  ETIMEDOUT: 'connecting timed out after 3 s. With rediss://, the server may not use TLS',
  ECONNRESET: 'the connection was cut',
  EPROTO: NOT_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_ISSUER,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
}

const NEEDED = 'use Redis 7 or newer, or Valkey 7.2 or newer'

/** Patterns of other messages. The first matches old releases that lack a command. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/unknown (?:sub)?command|wrong number of arguments for 'auth'|Unknown Redis command/i, `it is too old: ${NEEDED}`],
  [/^Protocol error|^Unknown RESP type/i, 'the server is not Redis, or it uses TLS: use rediss://'],
  [/DB index is out of range|invalid DB index/i, 'it has no database with this number'],
  [/max number of clients/i, 'it has too many clients (maxclients)'],
  [/Connection is closed/i, 'the connection was cut'],
]

/**
 * Explains to users why Redis cannot be used. Errors of the client library contain command arguments, perhaps a
 * password: never show or log them.
 */
export function describeRedisError(error: unknown): string {
  const message = messageOf(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const word = /^-?([A-Z]+)\b/.exec(message)?.[1] ?? ''
  return (
    NETWORK_ERRORS[code] ??
    REDIS_ERRORS[word] ??
    MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ??
    message.replace(/\.$/, '')
  )
}

/** @returns warnings about data that Redis may lose @throws Error if Redis is too old */
export async function inspectRedis(redis: RedisConnection): Promise<readonly string[]> {
  const server = await infoOf(redis)
  if (server?.size === 0) throw new NotRedis()
  const name = server?.get('server_name') === 'valkey' ? 'Valkey' : 'Redis'
  const version = server?.get('valkey_version') ?? server?.get('redis_version')
  // Valkey reports a compatible Redis release: 7.2.4.
  if (Number.parseInt(server?.get('redis_version') ?? '', 10) < 7) {
    throw new Error(`it is ${name} ${version}: ${NEEDED}`)
  }
  const setting = await settingsOf(redis, 'appendonly', 'save', 'maxmemory', 'maxmemory-policy')
  const warnings: string[] = []
  const save = setting.get('save')
  const policy = setting.get('maxmemory-policy') ?? 'noeviction'
  if (setting.get('appendonly') === 'no' && save === '') {
    warnings.push(
      'Redis writes nothing to disk: the state of the sandbox is lost when Redis stops. Set appendonly to yes in Redis.',
    )
  } else if (setting.get('appendonly') === 'no' && save !== undefined) {
    warnings.push(
      `Redis writes to disk only at intervals (save "${save}"): a crash loses later changes. Set appendonly to yes in Redis.`,
    )
  }
  if ((setting.get('maxmemory') ?? '0') !== '0' && policy !== 'noeviction') {
    warnings.push(
      `Redis may evict keys of the sandbox when its memory is used up (maxmemory-policy ${policy}). Set maxmemory-policy to noeviction.`,
    )
  }
  return warnings
}

/** Undefined if the command is forbidden. */
async function infoOf(redis: RedisConnection): Promise<ReadonlyMap<string, string> | undefined> {
  const text = await redis.call('INFO', 'server').catch(ignoreRefusal)
  if (text === undefined) return undefined
  const lines = String(text).matchAll(/^(\w+):(.*?)\r?$/gm)
  return new Map([...lines].map(([, name = '', value = '']) => [name, value]))
}

/** Empty if the command is forbidden, as by hosted services. */
async function settingsOf(redis: RedisConnection, ...names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = await redis.call('CONFIG', 'GET', ...names).catch(ignoreRefusal)
  const list = Array.isArray(found) ? found.map(String) : []
  return new Map(list.flatMap((name, place) => (place % 2 === 0 ? [[name, list[place + 1] ?? '']] : [])))
}

function ignoreRefusal(error: unknown): undefined {
  if (error instanceof Error && /^(?:NOPERM|ERR)\b/.test(error.message)) return undefined
  throw error
}
