import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { RedisAddress } from '../domain/redis-address.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { randomSeed } from '../system/this-process.js'
import { LogLost, LogUnavailable } from './command-log.js'

/** Includes the TLS handshake. */
const CONNECT_TIMEOUT_MS: DurationMs = 3 * SECOND_MS
/** Longer than a fork or sync of Redis takes. */
const RESPONSE_TIMEOUT_MS: DurationMs = 3 * SECOND_MS
const MIN_PAUSE_MS: DurationMs = 50
const MAX_PAUSE_MS: DurationMs = 2 * SECOND_MS

/** The first word of an error of a script that finds entries missing. */
export const LOST = 'LOST'

/** Two connections, because reading blocks. */
export interface Connections {
  readonly commands: Redis
  readonly reading: Redis
}

/**
 * Connections to Redis that are renewed until they are closed. Commands are not repeated on their own, because the caller
 * decides how to treat a lost response. The only module that imports the client library.
 */
export class RedisLink {
  readonly #address: RedisAddress
  readonly #probe: string
  readonly #warn: (text: string) => void
  readonly #closing = new AbortController()
  #open: Connections | undefined
  #reason: string | undefined
  #waiting: (() => void)[] = []

  /** @param probe key of a write that shows whether Redis can be used */
  constructor(address: RedisAddress, probe: string, warn: (text: string) => void) {
    this.#address = address
    this.#probe = probe
    this.#warn = warn
  }

  /** Why there is no connection. */
  get reason(): string | undefined {
    return this.#reason
  }

  /** Connects for the first time. @throws LogUnavailable */
  async open(): Promise<void> {
    try {
      await this.#connect()
    } catch (error) {
      throw new LogUnavailable(this.#describe(error))
    }
  }

  /** @throws LogUnavailable, LogLost */
  async use<T>(act: (open: Connections) => Promise<T>): Promise<T> {
    const open = this.#open
    if (open === undefined) throw this.#unavailable()
    try {
      return await act(open)
    } catch (error) {
      const [, lost] = new RegExp(`^${LOST} (.*)`).exec(messageOf(error)) ?? []
      if (lost !== undefined) throw new LogLost(lost)
      this.#drop(open, error)
      throw this.#unavailable()
    }
  }

  /** Repeats a command until its response arrives. @throws LogUnavailable when aborted or closed; LogLost */
  async useUntilDone<T>(
    act: (open: Connections) => Promise<T>,
    signal: AbortSignal = this.#closing.signal,
  ): Promise<T> {
    const isOver = () => signal.aborted || this.#closing.signal.aborted
    for (;;) {
      try {
        while (this.#open === undefined && !isOver()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
        return await this.use(act)
      } catch (error) {
        if (error instanceof LogLost || isOver()) throw error
      }
    }
  }

  close(): void {
    this.#closing.abort()
    this.#reason = 'The log has been closed.'
    if (this.#open !== undefined) disconnect(this.#open)
    this.#open = undefined
    this.#wake()
  }

  async #connect(): Promise<void> {
    const commands = await this.#connectOne()
    const reading = await this.#connectOne().catch((error: unknown) => {
      commands.disconnect()
      throw error
    })
    const open = { commands, reading }
    if (this.#closing.signal.aborted) return disconnect(open)
    for (const redis of [commands, reading]) {
      let cause = new Error('the connection was cut')
      redis.on('error', (error) => {
        cause = error
      })
      redis.once('end', () => this.#drop(open, cause))
    }
    this.#open = open
    this.#reason = undefined
    this.#wake()
  }

  async #connectOne(): Promise<Redis> {
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

  #drop(open: Connections, error: unknown): void {
    if (this.#open !== open) return
    this.#open = undefined
    disconnect(open)
    this.#fail(error)
    void this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing
    for (let failures = 0; ; failures++) {
      await pause(pauseAfter(failures), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      try {
        await this.#connect()
        return this.#warn('The log can be reached again.')
      } catch (error) {
        this.#fail(error)
      }
    }
  }

  #fail(error: unknown): void {
    if (this.#closing.signal.aborted) return
    const reason = this.#describe(error)
    if (reason !== this.#reason) this.#warn(`The log cannot be reached. Requests get a 503 until it can: ${reason}`)
    this.#reason = reason
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

function disconnect({ commands, reading }: Connections): void {
  commands.disconnect()
  reading.disconnect()
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
