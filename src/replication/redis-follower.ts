import { type Entry, type EntryId, type LogFollower, LogLost } from './command-log.js'
import type { RedisConnection } from './redis.js'
import type { RedisLink } from './redis-link.js'
import { LOOK, lostWords, run } from './redis-scripts.js'

/** Entries that are read at a time: what is not yet applied of others' never is more. */
const AT_A_TIME = 64
/** So long Redis waits for an entry before it says that there is none, which also says that it lives. */
const WAIT_MS = 1000

/** What was read last. */
interface Anchor {
  readonly id: EntryId
  /** Who wrote it; unknown of the entry that a checkpoint names. */
  readonly written?: Pick<Entry, 'replica' | 'batch'>
}

/** An entry, and the one before it. */
interface Link {
  readonly entry: Entry
  readonly after: EntryId | undefined
}

/**
 * Reads a stream entry by entry. Each names the one before it, so that nothing can
 * be missing between two without being noticed; while nothing comes, it looks
 * whether what was read last is still there.
 */
export class RedisFollower {
  readonly #link: RedisLink
  readonly #log: string
  readonly #follower: LogFollower
  readonly #stopping = new AbortController()
  #anchor: Anchor | undefined

  constructor(link: RedisLink, log: string, after: EntryId | undefined, follower: LogFollower) {
    this.#link = link
    this.#log = log
    this.#follower = follower
    this.#anchor = after === undefined ? undefined : { id: after }
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
        await this.#look(redis)
        for (;;) this.#hand(await this.#read(redis))
      } catch (error) {
        const reason = error instanceof LogLost ? error.message : lostWords(error)
        if (this.#stopping.signal.aborted) return
        if (reason !== undefined) {
          this.stop()
          return this.#follower.lost(reason)
        }
        this.#link.drop(redis, error)
      }
    }
  }

  async #read(redis: RedisConnection): Promise<readonly Link[]> {
    const from = this.#anchor?.id ?? '0-0'
    const answer = await redis.call('XREAD', 'COUNT', AT_A_TIME, 'BLOCK', WAIT_MS, 'STREAMS', this.#log, from)
    if (answer === null) await this.#look(redis)
    return answer === null ? [] : readAnswer(answer)
  }

  #hand(links: readonly Link[]): void {
    if (links.length === 0 || this.#stopping.signal.aborted) return
    for (const { entry, after } of links) {
      if (after !== this.#anchor?.id) throw new LogLost(`entries before ${entry.id} are not there any more`)
      this.#anchor = { id: entry.id, written: entry }
    }
    this.#follower.entries(links.map(({ entry }) => entry))
  }

  async #look(redis: RedisConnection): Promise<void> {
    if (this.#anchor === undefined) return
    const { id, written } = this.#anchor
    await run(redis, LOOK, this.#log, id, written?.replica ?? '', written?.batch ?? '')
  }
}

/** What XREAD says of one stream: `[[key, [[id, [name, value, …]], …]]]`. */
function readAnswer(answer: unknown): readonly Link[] {
  const entries = listAt(listAt(answer, 0), 1)
  return entries.map((entry) => {
    const id = String(listAt(entry)[0])
    const fields = listAt(entry, 1).map(String)
    const [, replica = '', , batch = '', , after = '', , text = ''] = fields
    if (fields.length !== 8 || fields[0] !== 'replica') throw new LogLost(`entry ${id} was not written by a sandbox`)
    const now = Number.parseInt(id, 10)
    return { entry: { id, now, replica, batch: Number(batch), text }, after: after === '' ? undefined : after }
  })
}

function listAt(value: unknown, ...[place]: readonly number[]): readonly unknown[] {
  const found: unknown = place === undefined ? value : Array.isArray(value) ? value[place] : undefined
  return Array.isArray(found) ? found : []
}
