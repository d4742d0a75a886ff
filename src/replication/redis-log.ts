import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { RedisAddress } from '../domain/redis-address.js'
import { DAY_MS } from '../domain/time.js'
import {
  Availability,
  type CommandLog,
  type EntryId,
  type LogFollower,
  LogLost,
  LogUnavailable,
  type LogWatcher,
  type NewEntry,
  type StoredCheckpoint,
} from './command-log.js'
import { describeRedisError, NotRedis, RedisConnection, RedisLink } from './redis.js'
import { RedisAppends } from './redis-appends.js'
import { RedisFollower } from './redis-follower.js'
import {
  APPEND,
  CLEAR,
  END,
  KEEP_CHECKPOINT,
  loadScript,
  lostReason,
  REPAIR,
  type RedisKeys,
  redisKeys,
  runScript,
  WRITE_PIECE,
} from './redis-scripts.js'

export interface RedisLogOptions {
  readonly address: RedisAddress
  readonly group: string
  readonly watcher: LogWatcher
  readonly warn: (text: string) => void
}

/** Opens a log in a Redis stream. @throws LogUnavailable if Redis cannot be reached or used */
export async function openRedisLog(options: RedisLogOptions): Promise<CommandLog> {
  const log = new RedisLog(options)
  await log.open()
  return log
}

class RedisLog implements CommandLog {
  readonly #options: RedisLogOptions
  readonly #keys
  readonly #availability: Availability
  readonly #link: RedisLink
  readonly #appends: RedisAppends
  readonly #followers = new Set<RedisFollower>()
  /** For checkpoints, which must not delay entries. */
  readonly #separate = new Set<RedisConnection>()

  constructor(options: RedisLogOptions) {
    const { group, watcher } = options
    this.#options = options
    this.#keys = redisKeys(group)
    this.#availability = new Availability(watcher)
    this.#link = new RedisLink(() => this.#connectToAppend(), this.#describe, this.#availability.part())
    this.#appends = new RedisAppends(this.#link, this.#keys)
  }

  async open(): Promise<void> {
    try {
      this.#link.start(await this.#connectToAppend())
      void this.#appends.run()
    } catch (error) {
      this.#link.close()
      throw new LogUnavailable(this.#describe(error))
    }
  }

  append(entry: NewEntry, signal: AbortSignal): Promise<EntryId> {
    return this.#appends.append(entry, signal)
  }

  follow(after: EntryId | undefined, follower: LogFollower): () => void {
    const part = this.#availability.part()
    const link = new RedisLink(() => this.#connect(), this.#describe, part)
    const reading = new RedisFollower(link, this.#keys.log, after, follower)
    this.#followers.add(reading)
    link.start()
    void reading.run().finally(() => {
      part.available()
      this.#followers.delete(reading)
    })
    return () => reading.stop()
  }

  async end(): Promise<{ readonly id: EntryId | undefined; readonly now: number }> {
    const { log, batches } = this.#keys
    return await this.#tryOnce(async (redis) => {
      const response = await runScript(redis, END, log, batches, ...this.#appends.abandoned())
      const [id, now] = Array.isArray(response) ? response.map(String) : []
      if (id === undefined || !Number.isSafeInteger(Number(now))) throw new NotRedis()
      return { id: id === '' ? undefined : id, now: Number(now) }
    })
  }

  loadCheckpoint(): Promise<StoredCheckpoint | undefined> {
    const { log, batches, checkpoint } = this.#keys
    const { warn } = this.#options
    return this.#overOwnConnection(async (redis) => {
      const missing = await runScript(redis, REPAIR, log, batches, checkpoint)
      if (missing === 'entries')
        warn(`The key "${log}" was removed from Redis. The group continues from its newest checkpoint.`)
      if (missing === 'batches') warn(`The key "${batches}" was removed from Redis. It was created again.`)
      return await readCheckpoint(redis, checkpoint)
    })
  }

  saveCheckpoint(checkpoint: StoredCheckpoint, trimUpTo: EntryId): Promise<void> {
    return this.#overOwnConnection((redis) => writeCheckpoint(redis, this.#keys, checkpoint, trimUpTo))
  }

  async clear(): Promise<void> {
    const { log, batches, checkpoint } = this.#keys
    await this.#tryOnce((redis) => runScript(redis, CLEAR, log, batches, checkpoint))
  }

  async close(): Promise<void> {
    this.#availability.end()
    for (const follower of this.#followers) follower.stop()
    for (const redis of this.#separate) redis.close()
    this.#link.close()
  }

  readonly #describe = (error: unknown): string =>
    error instanceof LogUnavailable
      ? error.message
      : `Redis at ${this.#options.address.shown} cannot be used: ${describeRedisError(error)}.`

  async #tryOnce<T>(use: (redis: RedisConnection) => Promise<T>): Promise<T> {
    const redis = this.#link.current()
    try {
      return await use(redis)
    } catch (error) {
      this.#link.drop(redis, error)
      throw new LogUnavailable(this.#describe(error))
    }
  }

  async #overOwnConnection<T>(use: (redis: RedisConnection) => Promise<T>): Promise<T> {
    let redis: RedisConnection | undefined
    try {
      redis = await this.#connect()
      this.#separate.add(redis)
      if (this.#link.isClosed) throw this.#link.unavailable()
      return await use(redis)
    } catch (error) {
      const reason = lostReason(error)
      throw reason === undefined ? new LogUnavailable(this.#describe(error)) : new LogLost(reason)
    } finally {
      if (redis !== undefined) this.#separate.delete(redis)
      redis?.close()
    }
  }

  /** Connects, and checks that Redis accepts writes. */
  async #connect(prepare?: (redis: RedisConnection) => Promise<void>): Promise<RedisConnection> {
    const redis = await RedisConnection.open(this.#options.address)
    try {
      await redis.call('SET', this.#keys.probe, '', 'PX', 1)
      await prepare?.(redis)
      return redis
    } catch (error) {
      redis.close()
      throw error
    }
  }

  #connectToAppend(): Promise<RedisConnection> {
    return this.#connect((redis) => loadScript(redis, APPEND))
  }
}

const CONCURRENCY = 4
const UNFINISHED_TTL_S = 60
/** Time to live of the batches of an idle replica. */
const BATCHES_TTL_MS = DAY_MS
/** A checkpoint may be replaced while it is read. */
const MAX_ATTEMPTS = 10

const compress = promisify(deflateRaw)
const expand = promisify(inflateRaw)

async function writeCheckpoint(
  redis: RedisConnection,
  keys: RedisKeys,
  { id, pieces }: StoredCheckpoint,
  trimUpTo: EntryId,
): Promise<void> {
  const writing = `${keys.checkpoint}-${await redis.call('INCR', keys.writings)}`
  let count = 0
  await forEachConcurrently(pieces, async (piece) => {
    const index = count++
    // Fast compression: a checkpoint is written often and rarely read.
    const bytes = await compress(piece, { level: 1 })
    await runScript(redis, WRITE_PIECE, writing, UNFINISHED_TTL_S, index, bytes)
  })
  const forgottenBefore = Number.parseInt(id, 10) - BATCHES_TTL_MS
  const { checkpoint, log, batches } = keys
  await runScript(redis, KEEP_CHECKPOINT, checkpoint, writing, log, batches, id, count, trimUpTo, forgottenBefore)
}

async function readCheckpoint(redis: RedisConnection, key: string): Promise<StoredCheckpoint | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const [id, count] = await fields(redis, key, 'id', 'pieces')
    if (id === undefined) return undefined
    const pieces: string[] = []
    let isSame = true
    await forEachConcurrently(Array(Number(count)).keys(), async (index) => {
      const [stillId, bytes] = isSame ? await fields(redis, key, 'id', String(index)) : []
      isSame &&= bytes !== undefined && stillId?.equals(id) === true
      if (isSame && bytes !== undefined) pieces[index] = (await expand(bytes)).toString()
    })
    if (isSame) return { id: id.toString(), pieces }
  }
  throw new LogUnavailable('The checkpoint in Redis is incomplete.')
}

async function fields(redis: RedisConnection, key: string, ...names: readonly string[]) {
  const values = await redis.callForBytes('HMGET', key, ...names)
  if (!Array.isArray(values)) throw new NotRedis()
  return values.map((value) => (Buffer.isBuffer(value) ? value : undefined))
}

async function forEachConcurrently<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}
