import type { RedisAddress } from '../domain/redis-address.js'
import { Availability } from './availability.js'
import {
  type CommandLog,
  type Entry,
  type EntryId,
  type LogFollower,
  LogLost,
  LogUnavailable,
  type LogWatcher,
  type StoredCheckpoint,
} from './command-log.js'
import { inspectRedis } from './inspect-redis.js'
import { RedisConnection } from './redis.js'
import { RedisAppends } from './redis-appends.js'
import { readCheckpoint, writeCheckpoint } from './redis-checkpoint.js'
import { RedisFollower } from './redis-follower.js'
import { RedisLink } from './redis-link.js'
import { APPEND, CLEAR, END, keysOf, load, lostWords, MEND, type RedisKeys, run } from './redis-scripts.js'
import { redisWords } from './redis-words.js'

export interface RedisLogOptions {
  readonly address: RedisAddress
  /** Those who share a log share its name. */
  readonly group: string
  /** How many copies of Redis must have an entry before it counts as appended. */
  readonly copies: number
  readonly watcher: LogWatcher
  /** Hears what of this Redis people should know. */
  readonly warn: (text: string) => void
}

/** So long Redis waits for its copies before it says how many there are. */
const COPIES_WAIT_MS = 500

/**
 * Opens a log that is a stream of Redis.
 *
 * @throws LogUnavailable if Redis cannot be reached now, or cannot be used as it is
 */
export async function openRedisLog(options: RedisLogOptions): Promise<CommandLog> {
  const log = new RedisLog(options)
  await log.begin()
  return log
}

class RedisLog implements CommandLog {
  readonly #address: RedisAddress
  readonly #keys: RedisKeys
  readonly #copies: number
  readonly #warn: (text: string) => void
  readonly #availability: Availability
  readonly #link: RedisLink
  readonly #appends: RedisAppends
  readonly #followers = new Set<RedisFollower>()
  /** Connections for what is large. */
  readonly #asides = new Set<RedisConnection>()

  constructor({ address, group, copies, watcher, warn }: RedisLogOptions) {
    this.#address = address
    this.#keys = keysOf(group)
    this.#copies = copies
    this.#warn = warn
    this.#availability = new Availability(watcher)
    this.#link = new RedisLink(() => this.#connectToAppend(), this.#say, this.#availability.part())
    this.#appends = new RedisAppends(this.#link, this.#keys, (redis) => this.#awaitCopies(redis, copies))
  }

  async begin(): Promise<void> {
    try {
      const redis = await this.#connect(0)
      await load(redis, APPEND)
      this.#link.start(redis)
      for (const warning of await inspectRedis(redis)) this.#warn(warning)
      await this.#awaitCopies(redis, this.#copies)
      void this.#appends.run()
    } catch (error) {
      this.#link.close()
      throw new LogUnavailable(this.#say(error))
    }
  }

  append(entry: Pick<Entry, 'replica' | 'batch' | 'text'>, signal: AbortSignal): Promise<EntryId> {
    return this.#appends.append(entry, signal)
  }

  follow(after: EntryId | undefined, follower: LogFollower): () => void {
    const part = this.#availability.part()
    const link = new RedisLink(() => this.#connect(0), this.#say, part)
    const reading = new RedisFollower(link, this.#keys.log, after, follower)
    this.#followers.add(reading)
    link.start()
    void reading.run().finally(() => {
      // What it lacked, nobody lacks any more.
      part.available()
      this.#followers.delete(reading)
    })
    return () => reading.stop()
  }

  async end(): Promise<{ readonly id: EntryId | undefined; readonly now: number }> {
    const { log, batches } = this.#keys
    const answer = await this.#once((redis) => run(redis, END, log, batches, ...this.#appends.givenUp()))
    const [id, now] = Array.isArray(answer) ? answer : []
    return { id: id === '' ? undefined : String(id), now: Number(now) }
  }

  loadCheckpoint(): Promise<StoredCheckpoint | undefined> {
    const { log, batches, checkpoint } = this.#keys
    return this.#aside(async (redis) => {
      const missing = await run(redis, MEND, log, batches, checkpoint)
      if (missing === 'entries')
        this.#warn(`Somebody has removed "${log}" from Redis: the group goes on from its newest checkpoint.`)
      if (missing === 'batches') this.#warn(`Somebody has removed "${batches}" from Redis: it was made anew.`)
      return await readCheckpoint(redis, checkpoint)
    })
  }

  saveCheckpoint(checkpoint: StoredCheckpoint, trimUpTo: EntryId): Promise<void> {
    return this.#aside((redis) => writeCheckpoint(redis, this.#keys, checkpoint, trimUpTo))
  }

  async clear(): Promise<void> {
    const { log, batches, checkpoint } = this.#keys
    await this.#once((redis) => run(redis, CLEAR, log, batches, checkpoint))
  }

  async close(): Promise<void> {
    this.#availability.end()
    for (const follower of this.#followers) follower.stop()
    for (const redis of this.#asides) redis.close()
    this.#link.close()
  }

  readonly #say = (error: unknown): string =>
    error instanceof LogUnavailable
      ? error.message
      : `Redis at ${this.#address.shown} cannot be used: ${redisWords(error)}.`

  /** Asks once, over the connection that there is. */
  async #once<T>(ask: (redis: RedisConnection) => Promise<T>): Promise<T> {
    const redis = this.#link.current()
    try {
      return await ask(redis)
    } catch (error) {
      this.#link.drop(redis, error)
      throw new LogUnavailable(this.#say(error))
    }
  }

  /** Asks over a connection of its own: what is large must not be in the way of what is fast. */
  async #aside<T>(ask: (redis: RedisConnection) => Promise<T>): Promise<T> {
    let redis: RedisConnection | undefined
    try {
      redis = await this.#connect(0)
      this.#asides.add(redis)
      if (this.#link.isClosed) throw this.#link.unavailable()
      return await ask(redis)
    } catch (error) {
      const reason = lostWords(error)
      throw reason === undefined ? new LogUnavailable(this.#say(error)) : new LogLost(reason)
    } finally {
      if (redis !== undefined) this.#asides.delete(redis)
      redis?.close()
    }
  }

  /**
   * Connects, and sees whether Redis takes what is written. WAIT asks for what its own connection has written: what
   * an earlier one has written came before.
   */
  async #connect(copies: number): Promise<RedisConnection> {
    const redis = await RedisConnection.open(this.#address)
    try {
      await redis.call('SET', this.#keys.probe, '', 'PX', 1)
      await this.#awaitCopies(redis, copies)
      return redis
    } catch (error) {
      redis.close()
      throw error
    }
  }

  async #connectToAppend(): Promise<RedisConnection> {
    const redis = await this.#connect(this.#copies)
    try {
      await load(redis, APPEND)
      return redis
    } catch (error) {
      redis.close()
      throw error
    }
  }

  async #awaitCopies(redis: RedisConnection, copies: number): Promise<void> {
    if (copies === 0) return
    const there = Number(await redis.call('WAIT', copies, COPIES_WAIT_MS))
    if (there < copies)
      throw new Error(`${there} of the ${copies} copies of it that are asked for have what was written`)
  }
}
