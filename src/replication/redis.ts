import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { RedisAddress } from '../domain/redis-address.js'
import { messageOf } from '../system/message-of.js'
import { systemClock } from '../system/system-clock.js'
import { randomSeed } from '../system/this-process.js'
import { LogUnavailable, type LogWatcher } from './command-log.js'

export type RedisArgument = string | number | Buffer

/** Includes the TLS handshake. */
const CONNECT_TIMEOUT_MS = 3000
/** Longer than a fork or sync of Redis takes. */
const RESPONSE_TIMEOUT_S = 3

export class NotRedis extends Error {
  override readonly name = 'NotRedis'

  constructor() {
    super('the response is not from Redis')
  }
}

/** Redis repeats the arguments of a command that it does not know, and one may be a password. */
export function describeRedisError(error: unknown): string {
  // An AggregateError, for a name with several addresses, has only a code.
  const text = messageOf(error) || String(Object(error).code)
  if (/^(?:Unknown RESP type|Protocol error)/.test(text)) return new NotRedis().message
  return text.replace(/, with args beginning with.*/s, '').replace(/\.$/, '')
}

/**
 * One connection to Redis, without reconnects or repeated commands: the caller decides how to treat a lost response.
 * The only module that imports the client library.
 */
export class RedisConnection {
  readonly ended: Promise<Error>
  readonly #redis: Redis
  #pendingCount = 0
  #isClosed = false
  /** Seconds since the last response, while commands are pending. */
  #silence = 0

  private constructor(redis: Redis) {
    this.#redis = redis
    // Counts ticks instead of time: while this process is blocked, responses wait unread.
    const watch = setInterval(() => this.#checkResponses(), 1000)
    watch.unref()
    let cause: Error | undefined
    redis.on('error', (error) => {
      cause = error
    })
    this.ended = new Promise((resolve) => {
      redis.once('end', () => {
        clearInterval(watch)
        resolve(this.#timeoutError() ?? cause ?? new Error('the connection was cut'))
      })
    })
  }

  /** Connects and authenticates. @throws an error of the network or of Redis */
  static async open(address: RedisAddress): Promise<RedisConnection> {
    const redis = new Redis({
      ...address.at,
      ...(address.isEncrypted ? { tls: serverName(address) } : {}),
      lazyConnect: true,
      retryStrategy: null,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      autoResendUnfulfilledCommands: false,
      connectTimeout: CONNECT_TIMEOUT_MS,
      disconnectTimeout: 100,
      disableClientInfo: true,
      // Responses contain lists, never maps.
      protocol: 2,
    })
    let cause: unknown
    redis.on('error', (error) => {
      cause ??= error
    })
    await redis.connect().catch((error: unknown) => {
      throw cause ?? error
    })
    const connection = new RedisConnection(redis)
    try {
      await connection.#authenticate(address)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** @returns the response, with strings */
  call(command: string, ...args: readonly RedisArgument[]): Promise<unknown> {
    return this.#track(this.#redis.call(command, [...args]))
  }

  /** @returns the response, with buffers */
  callForBytes(command: string, ...args: readonly RedisArgument[]): Promise<unknown> {
    return this.#track(this.#redis.callBuffer(command, [...args]))
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#redis.disconnect()
  }

  async #authenticate({ user, password, database }: RedisAddress): Promise<void> {
    if (password !== undefined) await this.call('AUTH', user, password)
    if (database !== 0) await this.call('SELECT', database)
    await this.call('CLIENT', 'SETNAME', 'petstore-sandbox').catch(() => {})
  }

  async #track(response: Promise<unknown>): Promise<unknown> {
    this.#pendingCount++
    try {
      return await response
    } catch (error) {
      throw this.#timeoutError() ?? error
    } finally {
      this.#pendingCount--
      if (this.#silence < RESPONSE_TIMEOUT_S) this.#silence = 0
    }
  }

  #timeoutError(): Error | undefined {
    return this.#silence < RESPONSE_TIMEOUT_S ? undefined : new Error(`no response within ${RESPONSE_TIMEOUT_S} s`)
  }

  /** Without a response to one command, later commands would not get one either. */
  #checkResponses(): void {
    if (this.#pendingCount > 0 && ++this.#silence >= RESPONSE_TIMEOUT_S) this.close()
  }
}

/** Certificates are issued for names, not for addresses. */
function serverName({ at }: RedisAddress): { readonly servername?: string } {
  return 'host' in at && !/^[\d.]+$|:/.test(at.host) ? { servername: at.host } : {}
}

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
