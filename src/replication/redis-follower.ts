import type { Entry, EntryId, LogFollower } from './command-log.js'
import { NotRedis, type RedisConnection, type RedisLink } from './redis.js'
import { CHECK_ENTRY, entryDigest, lostReason, REMOVE_STRAYS, type RedisKeys, runScript } from './redis-scripts.js'

const MAX_ENTRIES_PER_READ = 64
/** How long Redis waits for an entry. An empty response shows that it is alive. */
const BLOCK_MS = 1000

interface LastEntry {
  readonly id: EntryId
  /** Unknown for the entry of a checkpoint. */
  readonly author?: Pick<Entry, 'replica' | 'batch'>
}

interface ReadEntry {
  readonly id: EntryId
  /** Undefined if no replica has written it. */
  readonly entry: Entry | undefined
  readonly after: EntryId | undefined
}

/**
 * Reads a stream. Each entry names its predecessor, so that a missing or a stray one is detected. While idle, checks that
 * the last entry still exists.
 */
export class RedisFollower {
  readonly #link: RedisLink
  readonly #keys: RedisKeys
  readonly #follower: LogFollower
  readonly #warn: (text: string) => void
  readonly #stopping = new AbortController()
  #last: LastEntry | undefined

  constructor(
    link: RedisLink,
    keys: RedisKeys,
    after: EntryId | undefined,
    follower: LogFollower,
    warn: (text: string) => void,
  ) {
    this.#link = link
    this.#keys = keys
    this.#follower = follower
    this.#warn = warn
    this.#last = after === undefined ? undefined : { id: after }
  }

  stop(): void {
    this.#stopping.abort()
    this.#link.close()
  }

  async run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const redis = await this.#link.connection(this.#stopping.signal).catch(() => undefined)
      if (redis === undefined) return
      try {
        await this.#checkLast(redis)
        for (;;) {
          const stray = this.#pass(await this.#read(redis))
          if (stray !== undefined) await this.#removeStrays(redis, stray)
        }
      } catch (error) {
        const reason = lostReason(error)
        if (this.#stopping.signal.aborted) return
        if (reason !== undefined) {
          this.stop()
          return this.#follower.lost(reason)
        }
        this.#link.drop(redis, error)
      }
    }
  }

  async #read(redis: RedisConnection): Promise<readonly ReadEntry[]> {
    const from = this.#last?.id ?? '0-0'
    const args = ['COUNT', MAX_ENTRIES_PER_READ, 'BLOCK', BLOCK_MS, 'STREAMS', this.#keys.log, from]
    const response = await redis.call('XREAD', ...args)
    if (response !== null) return parseEntries(response)
    await this.#checkLast(redis)
    return []
  }

  /** @returns the id of the first entry that does not continue the log, which is not passed on */
  #pass(read: readonly ReadEntry[]): EntryId | undefined {
    if (this.#stopping.signal.aborted) return undefined
    const entries: Entry[] = []
    let stray: EntryId | undefined
    for (const { id, entry, after } of read) {
      if (entry === undefined || after !== this.#last?.id) {
        stray = id
        break
      }
      this.#last = { id, author: entry }
      entries.push(entry)
    }
    if (entries.length > 0) this.#follower.entries(entries)
    return stray
  }

  async #removeStrays(redis: RedisConnection, stray: EntryId): Promise<void> {
    const { log, batches, cleaned } = this.#keys
    if ((await runScript(redis, REMOVE_STRAYS, log, batches, cleaned, stray)) === 1)
      this.#warn(`Removed the entry ${stray} from the log in Redis, because no replica has written it.`)
  }

  async #checkLast(redis: RedisConnection): Promise<void> {
    if (this.#last === undefined) return
    const { id, author } = this.#last
    await runScript(redis, CHECK_ENTRY, this.#keys.log, id, author?.replica ?? '', author?.batch ?? '')
  }
}

/** @param response of XREAD for one stream: `[[key, [[id, [name, value, …]], …]]]` */
function parseEntries(response: unknown): readonly ReadEntry[] {
  const entries = listAt(listAt(response, 0), 1)
  if (entries.length === 0) throw new NotRedis()
  return entries.map((entry) => {
    const id = String(Array.isArray(entry) ? entry[0] : '')
    const fields = listAt(entry, 1).map(String)
    const [, replica = '', , batch = '', , after = '', , text = '', , check] = fields
    const isOwn = fields.length === 10 && check === entryDigest(replica, batch, after, text)
    const now = Number.parseInt(id, 10)
    return {
      id,
      entry: isOwn ? { id, now, replica, batch: Number(batch), text } : undefined,
      after: after === '' ? undefined : after,
    }
  })
}

function listAt(value: unknown, index: number): readonly unknown[] {
  const found: unknown = Array.isArray(value) ? value[index] : undefined
  return Array.isArray(found) ? found : []
}
