import { Redis } from 'ioredis'
import type { RedisAddress } from '../domain/redis-address.js'

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
