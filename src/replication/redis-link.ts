import { setTimeout as pause } from 'node:timers/promises'
import { randomSeed } from '../system/random-seed.js'
import { systemClock } from '../system/system-clock.js'
import { Change } from './change.js'
import { LogUnavailable, type LogWatcher } from './command-log.js'
import type { RedisConnection } from './redis.js'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2000
/** A connection that lasted so long was a good one: pauses begin from the shortest again. */
const GOOD_AFTER_MS = 5000

/** A connection to Redis that is made anew whenever it breaks, for ever; meanwhile there is a reason why there is none. */
export class RedisLink {
  readonly #open: () => Promise<RedisConnection>
  readonly #say: (error: unknown) => string
  readonly #hears: LogWatcher
  readonly #closing = new AbortController()
  #redis: RedisConnection | undefined
  #reason: string | undefined
  /** Of the two. */
  readonly #change = new Change()
  #failures = 0

  /**
   * @param open connects, and sees to it that Redis can be used
   * @param say  why it cannot, as people may read it
   */
  constructor(open: () => Promise<RedisConnection>, say: (error: unknown) => string, hears: LogWatcher) {
    this.#open = open
    this.#say = say
    this.#hears = hears
  }

  /** @param first a connection that there is already */
  start(first?: RedisConnection): void {
    if (first !== undefined) this.#turn(first, undefined)
    void this.#keep(first)
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** The connection, as soon as there is one. @throws LogUnavailable when the signal comes, or it is closed */
  async connection(signal?: AbortSignal): Promise<RedisConnection> {
    for (;;) {
      if (signal?.aborted || this.#closing.signal.aborted) throw this.unavailable()
      if (this.#redis !== undefined) return this.#redis
      await this.#change.next(signal)
    }
  }

  /** The connection that there is. @throws LogUnavailable */
  current(): RedisConnection {
    if (this.#redis === undefined) throw this.unavailable()
    return this.#redis
  }

  /** Gives up a connection that did not do what it was to do, and makes another. */
  drop(redis: RedisConnection, error: unknown): void {
    if (this.#redis === redis) this.#fail(error)
    redis.close()
  }

  unavailable(): LogUnavailable {
    return new LogUnavailable(this.#reason ?? this.#say(new Error('no answer in time')))
  }

  close(): void {
    this.#closing.abort()
    this.#redis?.close()
    this.#turn(undefined, 'The log has been closed.')
  }

  async #keep(first: RedisConnection | undefined): Promise<void> {
    for (let given = first; !this.#closing.signal.aborted; given = undefined) {
      try {
        const redis = given ?? (await this.#open())
        if (this.#closing.signal.aborted) return redis.close()
        if (given === undefined) this.#turn(redis, undefined)
        if (given === undefined) this.#hears.available()
        await this.#last(redis)
      } catch (error) {
        this.#fail(error)
      }
      await this.#pause()
    }
  }

  async #last(redis: RedisConnection): Promise<void> {
    const since = systemClock.monotonic()
    const cause = await redis.ended
    if (this.#redis === redis) this.#fail(cause)
    if (systemClock.monotonic() - since > GOOD_AFTER_MS) this.#failures = 0
  }

  #fail(error: unknown): void {
    if (this.#closing.signal.aborted) return
    const reason = this.#say(error)
    this.#turn(undefined, reason)
    this.#hears.unavailable(reason)
  }

  #turn(redis: RedisConnection | undefined, reason: string | undefined): void {
    this.#redis = redis
    this.#reason = reason
    this.#change.tell()
  }

  /** Longer each time, and of another length for each replica: all lost Redis at the same moment. */
  #pause(): Promise<void> {
    const longest = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures++, LONGEST_PAUSE_MS)
    const share = 0.5 + randomSeed() / 2 ** 33
    return pause(longest * share, undefined, { signal: this.#closing.signal }).catch(() => {})
  }
}
