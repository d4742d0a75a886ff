import { Redis } from 'ioredis'
import type { RedisAddress } from '../domain/redis-address.js'

export type RedisArgument = string | number | Buffer

/** Includes TLS. */
const CONNECT_TIMEOUT_MS = 3000
/** Longer than Redis needs to fork or to sync. */
const ANSWER_TIMEOUT_S = 3

/** The answer is not one of Redis. */
export class NotRedis extends Error {
  override readonly name = 'NotRedis'

  constructor() {
    super('it does not answer as Redis does')
  }
}

/**
 * One connection to Redis. It neither reconnects nor repeats commands: the caller decides what a lost answer means.
 *
 * The only module that imports the client library.
 */
export class RedisConnection {
  /** Resolves with the cause when it has ended, on either side. */
  readonly ended: Promise<Error>
  readonly #redis: Redis
  #unanswered = 0
  #isClosed = false
  /** Seconds since the last answer, while some are due. */
  #silence = 0

  private constructor(redis: Redis) {
    this.#redis = redis
    // Ticks are counted, not time: while this process is blocked, none pass, and answers wait for it.
    const watch = setInterval(() => this.#checkAnswers(), 1000)
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

  /** Connects and authenticates. Rejects with the error of the network or of Redis. */
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
      // Answers are lists, never maps.
      protocol: 2,
    })
    let cause: unknown
    redis.on('error', (error) => {
      cause ??= error
    })
    await redis.connect().catch((error: unknown) => {
      // The rejection only says that there is no connection.
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

  /** Sends a command. Texts in the answer are strings. */
  call(command: string, ...args: readonly RedisArgument[]): Promise<unknown> {
    return this.#answered(this.#redis.call(command, [...args]))
  }

  /** Sends a command. Texts in the answer are buffers. */
  callForBytes(command: string, ...args: readonly RedisArgument[]): Promise<unknown> {
    return this.#answered(this.#redis.callBuffer(command, [...args]))
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

  async #answered(answer: Promise<unknown>): Promise<unknown> {
    this.#unanswered++
    try {
      return await answer
    } catch (error) {
      throw this.#timeoutError() ?? error
    } finally {
      this.#unanswered--
      if (this.#silence < ANSWER_TIMEOUT_S) this.#silence = 0
    }
  }

  #timeoutError(): Error | undefined {
    return this.#silence < ANSWER_TIMEOUT_S ? undefined : new Error(`no answer within ${ANSWER_TIMEOUT_S} s`)
  }

  /** A missing answer ends the connection: later commands would not be answered either. */
  #checkAnswers(): void {
    if (this.#unanswered > 0 && ++this.#silence >= ANSWER_TIMEOUT_S) this.close()
  }
}

/** Certificates are issued for names, not for addresses. */
function serverName({ at }: RedisAddress): { readonly servername?: string } {
  return 'host' in at && !/^[\d.]+$|:/.test(at.host) ? { servername: at.host } : {}
}
