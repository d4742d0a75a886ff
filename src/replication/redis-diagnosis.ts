import { messageOf } from '../system/message-of.js'
import { NotRedis, type RedisConnection } from './redis.js'

const REDIS_ERRORS: Readonly<Record<string, string>> = {
  OOM: 'its memory is used up (maxmemory): give it more, or restart the group with --reset',
  READONLY: 'it is a read-only copy of another Redis: give the address of that one',
  LOADING: 'it is still reading its data from disk',
  MISCONF: 'it refuses writes because it cannot write to its disk: see its own log',
  NOREPLICAS: 'it refuses writes because too few copies follow it (min-replicas-to-write)',
  MASTERDOWN: 'it is a copy that has lost the Redis it follows',
  NOAUTH: 'it asks for a password, and the address has none',
  WRONGPASS: 'it does not know this user with this password',
  NOPERM: 'its user lacks permissions: the keys petstore-sandbox:*, and streams, hashes and scripts',
  MOVED: 'it is part of a cluster, and another of its nodes keeps this group: give the address of that one',
  CLUSTERDOWN: 'it is part of a cluster that is down',
  BUSY: 'it is busy with a script',
  WAITS: 'it lacks something that was sent before, which is sent again',
  UNBLOCKED: 'it has just become a copy of another Redis',
  WRONGTYPE: 'something else uses the keys of this group: choose another with --group',
}

const NOT_TLS = 'it does not speak TLS: perhaps redis:// is meant'
const UNKNOWN_ISSUER = 'its certificate is signed by nobody known: NODE_EXTRA_CA_CERTS names a file of who signed it'

const NETWORK_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOENT: 'there is no such socket',
  EACCES: 'this user may not use the socket',
  ENOTFOUND: 'no such host is known',
  EAI_AGAIN: 'the name of its host cannot be looked up now',
  ETIMEDOUT: 'there was no connection within 3 s. With rediss://, that may mean that it does not speak TLS',
  EHOSTUNREACH: 'there is no route to its host',
  ENETUNREACH: 'there is no route to its network',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  EPROTO: NOT_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_ISSUER,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_ISSUER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ISSUER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_ISSUER,
}

const NEEDED = 'Redis 7 or newer, or Valkey 7.2 or newer, is needed'

/** Other messages. The first are those of old releases about commands that they lack. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/unknown (?:sub)?command|wrong number of arguments for 'auth'|Unknown Redis command/i, `it is too old: ${NEEDED}`],
  [
    /^Protocol error|^Unknown RESP type/i,
    'the server there is not Redis, or it speaks TLS: perhaps rediss:// is meant',
  ],
  [/DB index is out of range|invalid DB index/i, 'it has no database of that number'],
  [/max number of clients/i, 'it takes no more clients (maxclients)'],
  [/Connection is closed/i, 'the connection was cut'],
]

/**
 * Why Redis cannot be used, for users. Errors of the client library contain the arguments of the command, which may
 * be a password: only this text may leave the log.
 */
export function describeRedisError(error: unknown): string {
  const message = messageOf(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const word = /^-?([A-Z]+)\b/.exec(message)?.[1] ?? ''
  return (
    NETWORK_ERRORS[code] ?? REDIS_ERRORS[word] ?? MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? message
  )
}

/**
 * Checks that a Redis can keep a log.
 *
 * @returns warnings about data that it may lose
 * @throws Error if it is too old
 */
export async function inspectRedis(redis: RedisConnection): Promise<readonly string[]> {
  const server = await infoOf(redis)
  if (server?.size === 0) throw new NotRedis()
  const name = server?.get('server_name') === 'valkey' ? 'Valkey' : 'Redis'
  const version = server?.get('valkey_version') ?? server?.get('redis_version')
  // Valkey reports the Redis release that it is compatible with: 7.2.4.
  if (Number.parseInt(server?.get('redis_version') ?? '', 10) < 7) {
    throw new Error(`it is ${name} ${version}: ${NEEDED}`)
  }
  const setting = await settingsOf(redis, 'appendonly', 'save', 'maxmemory', 'maxmemory-policy')
  const warnings: string[] = []
  const save = setting.get('save')
  const policy = setting.get('maxmemory-policy') ?? 'noeviction'
  if (setting.get('appendonly') === 'no' && save === '') {
    warnings.push('Redis keeps nothing on disk: the sandbox is lost when it stops. Set appendonly to yes in it.')
  } else if (setting.get('appendonly') === 'no' && save !== undefined) {
    warnings.push(
      `Redis writes to disk only now and then (save "${save}"): a crash loses what came since. Set appendonly to yes in it.`,
    )
  }
  if ((setting.get('maxmemory') ?? '0') !== '0' && policy !== 'noeviction') {
    warnings.push(
      `Redis evicts keys when its memory is used up (maxmemory-policy ${policy}), perhaps those of the sandbox. Set it to noeviction.`,
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
