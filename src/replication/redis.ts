import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { RedisAddress } from '../domain/redis-address.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { randomSeed } from '../system/this-process.js'
import { LogLost, LogUnavailable, type LogWatcher } from './command-log.js'

export type { Redis } from 'ioredis'

/** Includes the TLS handshake. */
const CONNECT_TIMEOUT_MS: DurationMs = 3 * SECOND_MS
/** Longer than a fork or sync of Redis takes. */
const RESPONSE_TIMEOUT_MS: DurationMs = 3 * SECOND_MS
const MIN_PAUSE_MS: DurationMs = 50
const MAX_PAUSE_MS: DurationMs = 2 * SECOND_MS

/** The first word of an error of a script that finds entries missing. */
export const LOST = 'LOST'

/**
 * A connection to Redis that reconnects until it is closed. It does not repeat commands on its own, because the caller
 * decides how to treat a lost response. The only module that imports the client library.
 */
export class RedisLink {
  readonly #address: RedisAddress
  readonly #probe: string
  readonly #watcher: LogWatcher
  readonly #closing = new AbortController()
  #redis: Redis | undefined
  /** Why there is no connection. */
  #reason: string | undefined
  #waiting: (() => void)[] = []

  /** @param probe key of a write that shows whether Redis can be used */
  constructor(address: RedisAddress, probe: string, watcher: LogWatcher) {
    this.#address = address
    this.#probe = probe
    this.#watcher = watcher
  }

  /** Connects for the first time. @throws LogUnavailable */
  async open(): Promise<void> {
    try {
      this.#adopt(await this.#connect())
    } catch (error) {
      throw new LogUnavailable(this.#describe(error))
    }
  }

  /** @throws LogUnavailable, LogLost */
  async use<T>(act: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = this.#redis
    if (redis === undefined) throw this.#unavailable()
    try {
      return await act(redis)
    } catch (error) {
      const [, lost] = new RegExp(`^${LOST} (.*)`).exec(messageOf(error)) ?? []
      if (lost !== undefined) throw new LogLost(lost)
      this.#drop(redis, error)
      throw this.#unavailable()
    }
  }

  /** Repeats a command until its response arrives. @throws LogUnavailable when aborted or closed; LogLost */
  async useUntilDone<T>(act: (redis: Redis) => Promise<T>, signal: AbortSignal = this.#closing.signal): Promise<T> {
    for (;;) {
      try {
        while (this.#redis === undefined && !signal.aborted && !this.#isClosed)
          await new Promise<void>((resolve) => this.#waiting.push(resolve))
        return await this.use(act)
      } catch (error) {
        if (error instanceof LogLost || signal.aborted || this.#isClosed) throw error
      }
    }
  }

  close(): void {
    this.#closing.abort()
    this.#redis?.disconnect()
    this.#redis = undefined
    this.#reason = 'The log has been closed.'
    this.#wake()
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  async #connect(): Promise<Redis> {
    const { at, isEncrypted, user, password, database } = this.#address
    const redis = new Redis({
      ...at,
      ...(isEncrypted ? { tls: serverName(at) } : {}),
      lazyConnect: true,
      retryStrategy: null,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      autoResendUnfulfilledCommands: false,
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: RESPONSE_TIMEOUT_MS,
      disableClientInfo: true,
      // Responses contain lists, never maps.
      protocol: 2,
    })
    let cause: unknown
    redis.on('error', (error) => {
      cause ??= error
    })
    try {
      await redis.connect()
      if (password !== undefined) await redis.call('AUTH', user, password)
      if (database !== 0) await redis.call('SELECT', database)
      await redis.call('SET', this.#probe, '', 'PX', 1)
      return redis
    } catch (error) {
      redis.disconnect()
      throw cause ?? error
    }
  }

  #adopt(redis: Redis): void {
    if (this.#isClosed) {
      redis.disconnect()
      return
    }
    let cause = new Error('the connection was cut')
    redis.on('error', (error) => {
      cause = error
    })
    redis.once('end', () => this.#drop(redis, cause))
    this.#redis = redis
    this.#wake()
  }

  #drop(redis: Redis, error: unknown): void {
    if (this.#redis !== redis) return
    this.#redis = undefined
    redis.disconnect()
    this.#fail(error)
    void this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    for (let failures = 0; !this.#isClosed && this.#redis === undefined; failures++) {
      await pause(pauseAfter(failures), undefined, { signal: this.#closing.signal }).catch(() => {})
      if (this.#isClosed) return
      try {
        this.#adopt(await this.#connect())
        this.#watcher.available()
      } catch (error) {
        this.#fail(error)
      }
    }
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return
    this.#reason = this.#describe(error)
    this.#watcher.unavailable(this.#reason)
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  #describe(error: unknown): string {
    return `Redis at ${this.#address.shown} cannot be used: ${describeRedisError(error)}.`
  }

  #unavailable(): LogUnavailable {
    return new LogUnavailable(this.#reason ?? this.#describe(new Error('it did not respond in time')))
  }
}

/** Redis repeats the arguments of a command that it does not know, and one may be a password. */
function describeRedisError(error: unknown): string {
  // An AggregateError, for a name with several addresses, has only a code.
  const text = messageOf(error) || String(Object(error).code)
  if (/^(?:Unknown RESP type|Protocol error)/.test(text)) return 'the response is not from Redis'
  if (text.startsWith('Socket timeout')) return `no response within ${RESPONSE_TIMEOUT_MS / SECOND_MS} s`
  return text.replace(/, with args beginning with.*/s, '').replace(/\.$/, '')
}

/** Certificates are issued for names, not for addresses. */
function serverName(at: RedisAddress['at']): { readonly servername?: string } {
  return 'host' in at && !/^[\d.]+$|:/.test(at.host) ? { servername: at.host } : {}
}

/** Exponential back-off with jitter, because all replicas lose Redis at the same moment. */
function pauseAfter(failures: number): DurationMs {
  return Math.min(MIN_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS) * (0.5 + randomSeed() / 2 ** 33)
}
