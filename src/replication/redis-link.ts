import { setTimeout as pause } from 'node:timers/promises'
import { randomSeed } from '../system/random-seed.js'
import { systemClock } from '../system/system-clock.js'
import { LogUnavailable, type LogWatcher } from './command-log.js'
import type { RedisConnection } from './redis.js'

const MIN_PAUSE_MS = 50
const MAX_PAUSE_MS = 2000
/** A connection that lasted this long resets the back-off. */
const STABLE_AFTER_MS = 5000

/** A connection to Redis that reconnects until it is closed. */
export class RedisLink {
  readonly #open: () => Promise<RedisConnection>
  readonly #describe: (error: unknown) => string
  readonly #watcher: LogWatcher
  readonly #closing = new AbortController()
  #redis: RedisConnection | undefined
  #reason: string | undefined
  #waiting: (() => void)[] = []
  #failures = 0

  /** @param open connects, and checks that Redis can be used @param describe explains an error to users */
  constructor(open: () => Promise<RedisConnection>, describe: (error: unknown) => string, watcher: LogWatcher) {
    this.#open = open
    this.#describe = describe
    this.#watcher = watcher
  }

  start(first?: RedisConnection): void {
    if (first !== undefined) this.#change(first, undefined)
    void this.#keepOpen(first)
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** @throws LogUnavailable when aborted or closed */
  async connection(signal?: AbortSignal): Promise<RedisConnection> {
    for (;;) {
      if (signal?.aborted || this.isClosed) throw this.unavailable()
      if (this.#redis !== undefined) return this.#redis
      await this.#nextChange(signal)
    }
  }

  current(): RedisConnection {
    if (this.#redis === undefined) throw this.unavailable()
    return this.#redis
  }

  drop(redis: RedisConnection, error: unknown): void {
    if (this.#redis === redis) this.#fail(error)
    redis.close()
  }

  unavailable(): LogUnavailable {
    return new LogUnavailable(this.#reason ?? this.#describe(new Error('it did not respond in time')))
  }

  close(): void {
    this.#closing.abort()
    this.#redis?.close()
    this.#change(undefined, 'The log has been closed.')
  }

  async #keepOpen(first: RedisConnection | undefined): Promise<void> {
    for (let given = first; !this.isClosed; given = undefined) {
      try {
        const redis = given ?? (await this.#open())
        if (this.isClosed) return redis.close()
        if (given === undefined) {
          this.#change(redis, undefined)
          this.#watcher.available()
        }
        const since = systemClock.monotonic()
        const cause = await redis.ended
        if (this.#redis === redis) this.#fail(cause)
        if (systemClock.monotonic() - since > STABLE_AFTER_MS) this.#failures = 0
      } catch (error) {
        this.#fail(error)
      }
      await this.#pause()
    }
  }

  #fail(error: unknown): void {
    if (this.isClosed) return
    const reason = this.#describe(error)
    this.#change(undefined, reason)
    this.#watcher.unavailable(reason)
  }

  #change(redis: RedisConnection | undefined, reason: string | undefined): void {
    this.#redis = redis
    this.#reason = reason
    for (const wake of this.#waiting.splice(0)) wake()
  }

  #nextChange(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      signal?.addEventListener('abort', wake)
      this.#waiting.push(wake)
    })
  }

  /** Exponential back-off with jitter, because all replicas lose Redis at the same moment. */
  #pause(): Promise<void> {
    const longest = Math.min(MIN_PAUSE_MS * 2 ** this.#failures++, MAX_PAUSE_MS)
    const share = 0.5 + randomSeed() / 2 ** 33
    return pause(longest * share, undefined, { signal: this.#closing.signal }).catch(() => {})
  }
}
