import { type Entry, type EntryId, LogLost } from './command-log.js'
import type { RedisConnection, RedisWord } from './redis.js'
import type { RedisLink } from './redis-link.js'
import { APPEND, lostWords, type RedisKeys, run } from './redis-scripts.js'

type Appended = Pick<Entry, 'replica' | 'batch' | 'text'>

/** An entry whose place nobody knows yet. */
interface UnderWay {
  readonly entry: Appended
  resolve(id: EntryId): void
  reject(error: Error): void
}

/**
 * Appends entries over one connection after the other, several at a time.
 *
 * Each names the one before it of its replica, without which Redis does not take it. So whatever becomes of
 * connections, and whatever is sent twice, entries stand in the order in which they were handed in, each once.
 */
export class RedisAppends {
  readonly #link: RedisLink
  readonly #keys: RedisKeys
  readonly #awaitCopies: (redis: RedisConnection) => Promise<void>
  /** In the order in which they were handed in. */
  readonly #underWay: UnderWay[] = []
  /** What they are sent over. */
  #redis: RedisConnection | undefined
  /** The last batch of each replica that is known to stand. */
  readonly #standing = new Map<string, number>()
  /** The last one that was given up. */
  readonly #givenUp = new Map<string, number>()

  /** @param awaitCopies resolves when as many copies of Redis as asked for have what was sent */
  constructor(link: RedisLink, keys: RedisKeys, awaitCopies: (redis: RedisConnection) => Promise<void>) {
    this.#link = link
    this.#keys = keys
    this.#awaitCopies = awaitCopies
  }

  append(entry: Appended, signal: AbortSignal): Promise<EntryId> {
    let giveUp = () => {}
    const appended = new Promise<EntryId>((resolve, reject) => {
      const one: UnderWay = { entry, resolve, reject }
      giveUp = () => {
        if (!this.#settle(one)) return
        this.#givenUp.set(entry.replica, Math.max(entry.batch, this.#givenUp.get(entry.replica) ?? 0))
        reject(this.#link.unavailable())
      }
      this.#underWay.push(one)
      if (signal.aborted || this.#link.isClosed) giveUp()
      else if (this.#redis !== undefined) void this.#send(this.#redis, one)
    })
    signal.addEventListener('abort', giveUp)
    return appended.finally(() => signal.removeEventListener('abort', giveUp))
  }

  /**
   * What was given up and may still be on its way, as words for END: replicas and batches in turn. What was handed in
   * before it, and is still to stand, is not shut out with it.
   */
  givenUp(): readonly RedisWord[] {
    return [...this.#givenUp].flatMap(([replica, batch]) => {
      const first = this.#underWay.find(({ entry }) => entry.replica === replica)?.entry.batch
      return [replica, Math.min(batch, (first ?? Number.POSITIVE_INFINITY) - 1)]
    })
  }

  /** Sends over every connection what is under way, until there will be no more. */
  async run(): Promise<void> {
    for (;;) {
      const redis = await this.#link.connection().catch(() => undefined)
      if (redis === undefined) break
      this.#redis = redis
      for (const one of this.#underWay) void this.#send(redis, one)
      const cause = await redis.ended
      this.#redis = undefined
      this.#link.drop(redis, cause)
    }
    for (const { reject } of this.#underWay.splice(0)) reject(this.#link.unavailable())
  }

  async #send(redis: RedisConnection, one: UnderWay): Promise<void> {
    const { replica, batch, text } = one.entry
    const { log, batches } = this.#keys
    const standing = this.#standing.get(replica) ?? 0
    try {
      const id = await run(redis, APPEND, log, batches, replica, batch, standing, this.#before(one) ?? standing, text)
      await this.#awaitCopies(redis)
      this.#standing.set(replica, Math.max(batch, this.#standing.get(replica) ?? 0))
      if (this.#settle(one)) one.resolve(String(id))
    } catch (error) {
      const reason = lostWords(error)
      if (reason === undefined) this.#link.drop(redis, error)
      else if (this.#settle(one)) one.reject(new LogLost(reason))
    }
  }

  /** The batch that has to stand before. */
  #before({ entry }: UnderWay): number | undefined {
    let before: number | undefined
    for (const { entry: other } of this.#underWay) {
      if (other === entry) break
      if (other.replica === entry.replica) before = other.batch
    }
    return before
  }

  /** @returns whether it still was under way */
  #settle(one: UnderWay): boolean {
    const place = this.#underWay.indexOf(one)
    if (place !== -1) this.#underWay.splice(place, 1)
    return place !== -1
  }
}
