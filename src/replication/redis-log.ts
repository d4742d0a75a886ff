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
import { readCheckpoint, writeCheckpoint } from './redis-checkpoint.js'
import { RedisFollower } from './redis-follower.js'
import { RedisLink } from './redis-link.js'
import { APPEND, CLEAR, END, keysOf, lostWords, type RedisKeys, run } from './redis-scripts.js'
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

type Appended = Pick<Entry, 'replica' | 'batch' | 'text'>

/** So long Redis waits for its copies before it says how many there are. */
const COPIES_WAIT_MS = 500

/**
 * Opens a log that is a stream of Redis.
 *
 * @throws LogUnavailable if Redis cannot be reached now, or cannot be used as it is
 */
export async function openRedisLog(options: RedisLogOptions): Promise<CommandLog> {
  const log = new RedisLog(options)
  await log.begin(options.warn)
  return log
}

class RedisLog implements CommandLog {
  readonly #address: RedisAddress
  readonly #keys: RedisKeys
  readonly #copies: number
  readonly #availability: Availability
  readonly #link: RedisLink
  readonly #followers = new Set<RedisFollower>()
  /** The last batch of each replica that is known to stand. */
  readonly #standing = new Map<string, number>()
  /** The last one that was given up. */
  readonly #givenUp = new Map<string, number>()
  #lastAppend: Promise<unknown> = Promise.resolve()

  constructor({ address, group, copies, watcher }: RedisLogOptions) {
    this.#address = address
    this.#keys = keysOf(group)
    this.#copies = copies
    this.#availability = new Availability(watcher)
    this.#link = new RedisLink(() => this.#connect(this.#copies), this.#say, this.#availability.part())
  }

  async begin(warn: (text: string) => void): Promise<void> {
    try {
      const redis = await this.#connect(0)
      this.#link.start(redis)
      for (const warning of await inspectRedis(redis)) warn(warning)
      await this.#awaitCopies(redis, this.#copies)
    } catch (error) {
      this.#link.close()
      throw new LogUnavailable(this.#say(error))
    }
  }

  append(entry: Appended, signal: AbortSignal): Promise<EntryId> {
    const appended = this.#lastAppend.then(() => this.#append(entry, signal))
    this.#lastAppend = appended.catch(() => {})
    return appended
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
    const answer = await this.#once((redis) => run(redis, END, log, batches, ...[...this.#givenUp].flat()))
    const [id, now] = Array.isArray(answer) ? answer : []
    return { id: id === '' ? undefined : String(id), now: Number(now) }
  }

  loadCheckpoint(): Promise<StoredCheckpoint | undefined> {
    return this.#aside((redis) => readCheckpoint(redis, this.#keys.checkpoint))
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
    this.#link.close()
  }

  readonly #say = (error: unknown): string =>
    error instanceof LogUnavailable
      ? error.message
      : `Redis at ${this.#address.shown} cannot be used: ${redisWords(error)}.`

  async #append(entry: Appended, signal: AbortSignal): Promise<EntryId> {
    // It may be on its way still.
    const giveUp = () => this.#givenUp.set(entry.replica, entry.batch)
    signal.addEventListener('abort', giveUp)
    try {
      for (;;) {
        const redis = await this.#link.connection(signal)
        const id = await this.#appendOver(redis, entry, signal)
        if (id === undefined) continue
        this.#standing.set(entry.replica, entry.batch)
        return id
      }
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** @returns undefined if this connection did not answer, or not well */
  async #appendOver(redis: RedisConnection, entry: Appended, signal: AbortSignal): Promise<EntryId | undefined> {
    const { replica, batch, text } = entry
    const known = this.#standing.get(replica) ?? 0
    const { log, batches } = this.#keys
    try {
      const id = await unlessAborted(run(redis, APPEND, log, batches, replica, batch, known, text), signal)
      await unlessAborted(this.#awaitCopies(redis, this.#copies), signal)
      return String(id)
    } catch (error) {
      const reason = lostWords(error)
      if (reason !== undefined) throw new LogLost(reason)
      if (signal.aborted) throw this.#link.unavailable()
      this.#link.drop(redis, error)
      return undefined
    }
  }

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
      return await ask(redis)
    } catch (error) {
      const reason = lostWords(error)
      throw reason === undefined ? new LogUnavailable(this.#say(error)) : new LogLost(reason)
    } finally {
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

  async #awaitCopies(redis: RedisConnection, copies: number): Promise<void> {
    if (copies === 0) return
    const there = Number(await redis.call('WAIT', copies, COPIES_WAIT_MS))
    if (there < copies)
      throw new Error(`${there} of the ${copies} copies of it that are asked for have what was written`)
  }
}

/** Rejects as soon as the signal comes, whatever the work does. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
