import { Redis } from 'ioredis'
import type { RedisAddress } from '../domain/redis-address.js'

/** A part of a command to Redis. */
export type RedisWord = string | number | Buffer

/** How long a network may take until it has connected us, TLS included. */
const CONNECT_PATIENCE_MS = 3000
/** How long Redis may take for an answer: longer than it needs to fork or to sync, shorter than people wait. */
const ANSWER_PATIENCE_S = 3

/**
 * One connection to Redis, from its beginning to its end: it never reconnects, and
 * repeats nothing. Whoever uses it decides what a lost answer means.
 *
 * The only door to the client library.
 */
export class RedisConnection {
  /** Resolves when it has ended, whoever ended it, with why. */
  readonly ended: Promise<Error>
  readonly #redis: Redis
  #unanswered = 0
  #isClosed = false
  /** Turns of the watch since an answer came, while some were due. */
  #silence = 0

  private constructor(redis: Redis) {
    this.#redis = redis
    // Seconds are counted, not measured: while our own process is held up, none pass, and answers wait for us.
    const watch = setInterval(() => this.#listen(), 1000)
    watch.unref()
    let cause: Error | undefined
    redis.on('error', (error) => {
      cause = error
    })
    this.ended = new Promise((resolve) => {
      redis.once('end', () => {
        clearInterval(watch)
        resolve(this.#silentTooLong() ?? cause ?? new Error('the connection was cut'))
      })
    })
  }

  /** Connects, and says who we are. Rejects with what the network or Redis says against it. */
  static async open(address: RedisAddress): Promise<RedisConnection> {
    const redis = new Redis({
      ...address.at,
      ...(address.isEncrypted ? { tls: serverName(address) } : {}),
      lazyConnect: true,
      retryStrategy: null,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      autoResendUnfulfilledCommands: false,
      connectTimeout: CONNECT_PATIENCE_MS,
      disconnectTimeout: 100,
      disableClientInfo: true,
      // Its answers are lists throughout.
      protocol: 2,
    })
    let cause: unknown
    redis.on('error', (error) => {
      cause ??= error
    })
    await redis.connect().catch((error: unknown) => {
      // What it rejects with says only that there is no connection.
      throw cause ?? error
    })
    const connection = new RedisConnection(redis)
    try {
      await connection.#introduce(address)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Sends a command and waits for its answer. Texts come as strings. */
  call(command: string, ...words: readonly RedisWord[]): Promise<unknown> {
    return this.#answered(this.#redis.call(command, [...words]))
  }

  /** As `call`; texts come as bytes. */
  callForBytes(command: string, ...words: readonly RedisWord[]): Promise<unknown> {
    return this.#answered(this.#redis.callBuffer(command, [...words]))
  }

  /** Ends it. What still waits for an answer is rejected. Everything under way on it may say so. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#redis.disconnect()
  }

  async #introduce({ user, password, database }: RedisAddress): Promise<void> {
    if (password !== undefined) await this.call('AUTH', user, password)
    if (database !== 0) await this.call('SELECT', database)
    // Shown by CLIENT LIST. Some services forbid it.
    await this.call('CLIENT', 'SETNAME', 'petstore-sandbox').catch(() => {})
  }

  async #answered(answer: Promise<unknown>): Promise<unknown> {
    this.#unanswered++
    try {
      return await answer
    } catch (error) {
      throw this.#silentTooLong() ?? error
    } finally {
      this.#unanswered--
      if (this.#silence < ANSWER_PATIENCE_S) this.#silence = 0
    }
  }

  #silentTooLong(): Error | undefined {
    return this.#silence < ANSWER_PATIENCE_S ? undefined : new Error(`no answer within ${ANSWER_PATIENCE_S} s`)
  }

  /** An answer that does not come ends the connection: nothing sent after it would be answered either. */
  #listen(): void {
    if (this.#unanswered > 0 && ++this.#silence >= ANSWER_PATIENCE_S) this.close()
  }
}

/** A certificate is for a name; an address has none to ask for. */
function serverName({ at }: RedisAddress): { readonly servername?: string } {
  return 'host' in at && !/^[\d.]+$|:/.test(at.host) ? { servername: at.host } : {}
}
