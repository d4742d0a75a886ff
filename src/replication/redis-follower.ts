import { type Entry, type EntryId, type LogFollower, LogLost } from './command-log.js'
import { NotRedis, type RedisConnection, type RedisLink } from './redis.js'
import { CHECK_ENTRY, lostReason, runScript } from './redis-scripts.js'

const MAX_ENTRIES_PER_READ = 64
/** How long Redis waits for an entry. An empty response shows that it is alive. */
const BLOCK_MS = 1000

interface LastEntry {
  readonly id: EntryId
  /** Unknown for the entry of a checkpoint. */
  readonly author?: Pick<Entry, 'replica' | 'batch'>
}

interface LinkedEntry {
  readonly entry: Entry
  readonly after: EntryId | undefined
}

/**
 * Reads a stream. Each entry names its predecessor, so that a missing one is detected. While idle, checks that the last
 * entry still exists.
 */
export class RedisFollower {
  readonly #link: RedisLink
  readonly #log: string
  readonly #follower: LogFollower
  readonly #stopping = new AbortController()
  #last: LastEntry | undefined

  constructor(link: RedisLink, log: string, after: EntryId | undefined, follower: LogFollower) {
    this.#link = link
    this.#log = log
    this.#follower = follower
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
        for (;;) this.#pass(await this.#read(redis))
      } catch (error) {
        const reason = error instanceof LogLost ? error.message : lostReason(error)
        if (this.#stopping.signal.aborted) return
        if (reason !== undefined) {
          this.stop()
          return this.#follower.lost(reason)
        }
        this.#link.drop(redis, error)
      }
    }
  }

  async #read(redis: RedisConnection): Promise<readonly LinkedEntry[]> {
    const from = this.#last?.id ?? '0-0'
    const args = ['COUNT', MAX_ENTRIES_PER_READ, 'BLOCK', BLOCK_MS, 'STREAMS', this.#log, from]
    const response = await redis.call('XREAD', ...args)
    if (response !== null) return parseEntries(response)
    await this.#checkLast(redis)
    return []
  }

  #pass(entries: readonly LinkedEntry[]): void {
    if (entries.length === 0 || this.#stopping.signal.aborted) return
    for (const { entry, after } of entries) {
      if (after !== this.#last?.id) throw new LogLost(`entries before ${entry.id} are missing`)
      this.#last = { id: entry.id, author: entry }
    }
    this.#follower.entries(entries.map(({ entry }) => entry))
  }

  async #checkLast(redis: RedisConnection): Promise<void> {
    if (this.#last === undefined) return
    const { id, author } = this.#last
    await runScript(redis, CHECK_ENTRY, this.#log, id, author?.replica ?? '', author?.batch ?? '')
  }
}

/** @param response of XREAD for one stream: `[[key, [[id, [name, value, …]], …]]]` */
function parseEntries(response: unknown): readonly LinkedEntry[] {
  const entries = listAt(listAt(response, 0), 1)
  if (entries.length === 0) throw new NotRedis()
  return entries.map((entry) => {
    const id = String(Array.isArray(entry) ? entry[0] : '')
    const fields = listAt(entry, 1).map(String)
    const [, replica = '', , batch = '', , after = '', , text = ''] = fields
    if (fields.length !== 8 || fields[0] !== 'replica') throw new LogLost(`entry ${id} was not written by a sandbox`)
    const now = Number.parseInt(id, 10)
    return { entry: { id, now, replica, batch: Number(batch), text }, after: after === '' ? undefined : after }
  })
}

function listAt(value: unknown, index: number): readonly unknown[] {
  const found: unknown = Array.isArray(value) ? value[index] : undefined
  return Array.isArray(found) ? found : []
}
