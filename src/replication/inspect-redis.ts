import type { RedisConnection } from './redis.js'

const OLDEST_MAJOR = 7

/**
 * Whether a Redis is one that can keep a log.
 *
 * @returns what people should know of it: what it loses, and when
 * @throws Error if it cannot
 */
export async function inspectRedis(redis: RedisConnection): Promise<readonly string[]> {
  const server = await about(redis, 'server')
  const name = server.get('server_name') === 'valkey' ? 'Valkey' : 'Redis'
  const version = server.get('valkey_version') ?? server.get('redis_version')
  // Valkey goes on saying which Redis it is like: 7.2.4.
  const like = Number.parseInt(server.get('redis_version') ?? '', 10)
  if (like < OLDEST_MAJOR) {
    throw new Error(`it is ${name} ${version}: Redis 7 or newer, or Valkey 7.2 or newer, is needed`)
  }
  return warningsOf(await settings(redis, 'appendonly', 'save', 'maxmemory', 'maxmemory-policy'))
}

function warningsOf(setting: ReadonlyMap<string, string>): readonly string[] {
  const warnings: string[] = []
  const save = setting.get('save')
  const policy = setting.get('maxmemory-policy')
  if (setting.get('appendonly') === 'no' && save === '') {
    warnings.push('Redis keeps nothing on disk: the sandbox is gone when it stops. Set appendonly to yes in it.')
  } else if (setting.get('appendonly') === 'no' && save !== undefined) {
    warnings.push(
      `Redis writes to disk now and then only (save "${save}"): what came since is lost when it crashes. Set appendonly to yes in it.`,
    )
  }
  if (setting.has('maxmemory') && setting.get('maxmemory') !== '0' && policy !== undefined && policy !== 'noeviction') {
    warnings.push(
      `Redis throws keys away when its memory is used up (maxmemory-policy ${policy}), perhaps those of the sandbox. Set it to noeviction.`,
    )
  }
  return warnings
}

/** A part of INFO; empty where it is forbidden. */
async function about(redis: RedisConnection, section: string): Promise<ReadonlyMap<string, string>> {
  const text = await redis.call('INFO', section).catch(unlessForbidden)
  const lines = String(text ?? '').matchAll(/^(\w+):(.*?)\r?$/gm)
  return new Map([...lines].map(([, name = '', value = '']) => [name, value]))
}

/** Settings by name; hosted services keep theirs to themselves. */
async function settings(redis: RedisConnection, ...names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = await redis.call('CONFIG', 'GET', ...names).catch(unlessForbidden)
  const list = Array.isArray(found) ? found.map(String) : []
  return new Map(list.flatMap((name, place) => (place % 2 === 0 ? [[name, list[place + 1] ?? '']] : [])))
}

/** Redis has said no, which is an answer; anything else is a failure. */
function unlessForbidden(error: unknown): undefined {
  if (error instanceof Error && /^(?:NOPERM|ERR)\b/.test(error.message)) return undefined
  throw error
}
