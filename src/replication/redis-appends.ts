import { type EntryId, LogLost, type NewEntry } from './command-log.js'
import { NotRedis, type RedisArgument, type RedisConnection, type RedisLink } from './redis.js'
import { APPEND, lostReason, type RedisKeys, runScript } from './redis-scripts.js'

interface PendingEntry {
  readonly entry: NewEntry
  resolve(id: EntryId): void
  reject(error: Error): void
}

/**
 * Appends entries across reconnects, several at a time.
 *
 * Each entry names the previous one of its replica, and Redis refuses an entry whose predecessor is missing. So entries
 * are stored in order, each once, even if they are sent twice.
 */
export class RedisAppends {
  readonly #link: RedisLink
  readonly #keys: RedisKeys
  readonly #pending: PendingEntry[] = []
  #redis: RedisConnection | undefined
  readonly #stored = new Map<string, number>()
  readonly #abandoned = new Map<string, number>()

  constructor(link: RedisLink, keys: RedisKeys) {
    this.#link = link
    this.#keys = keys
  }

  append(entry: NewEntry, signal: AbortSignal): Promise<EntryId> {
    let abandon = () => {}
    const appended = new Promise<EntryId>((resolve, reject) => {
      const one: PendingEntry = { entry, resolve, reject }
      abandon = () => {
        if (!this.#settle(one)) return
        this.#abandoned.set(entry.replica, Math.max(entry.batch, this.#abandoned.get(entry.replica) ?? 0))
        reject(this.#link.unavailable())
      }
      this.#pending.push(one)
      if (signal.aborted || this.#link.isClosed) abandon()
      else if (this.#redis !== undefined) void this.#send(this.#redis, one)
    })
    signal.addEventListener('abort', abandon)
    return appended.finally(() => signal.removeEventListener('abort', abandon))
  }

  /** Abandoned batches that may still arrive, as arguments for END: alternating replicas and batches. Excludes pending ones. */
  abandoned(): readonly RedisArgument[] {
    return [...this.#abandoned].flatMap(([replica, batch]) => {
      const first = this.#pending.find(({ entry }) => entry.replica === replica)?.entry.batch
      return [replica, Math.min(batch, (first ?? Number.POSITIVE_INFINITY) - 1)]
    })
  }

  async run(): Promise<void> {
    for (;;) {
      const redis = await this.#link.connection().catch(() => undefined)
      if (redis === undefined) break
      this.#redis = redis
      for (const one of this.#pending) void this.#send(redis, one)
      const cause = await redis.ended
      this.#redis = undefined
      this.#link.drop(redis, cause)
    }
    for (const { reject } of this.#pending.splice(0)) reject(this.#link.unavailable())
  }

  async #send(redis: RedisConnection, one: PendingEntry): Promise<void> {
    const { replica, batch, text } = one.entry
    const { log, batches } = this.#keys
    const stored = this.#stored.get(replica) ?? 0
    const before = this.#pending.slice(0, this.#pending.indexOf(one)).findLast(({ entry }) => entry.replica === replica)
    const previous = before?.entry.batch ?? stored
    try {
      const id = await runScript(redis, APPEND, log, batches, replica, batch, stored, previous, text)
      if (!/^\d+-\d+$/.test(String(id))) throw new NotRedis()
      this.#stored.set(replica, Math.max(batch, this.#stored.get(replica) ?? 0))
      if (this.#settle(one)) one.resolve(String(id))
    } catch (error) {
      const reason = lostReason(error)
      if (reason === undefined) this.#link.drop(redis, error)
      else if (this.#settle(one)) one.reject(new LogLost(reason))
    }
  }

  #settle(one: PendingEntry): boolean {
    const index = this.#pending.indexOf(one)
    if (index !== -1) this.#pending.splice(index, 1)
    return index !== -1
  }
}
