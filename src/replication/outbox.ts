import type { ExchangeRef } from '../domain/messages.js'
import { PROBLEMS } from '../domain/problems.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { systemClock } from '../system/system-clock.js'
import { batchText, type Item, itemText } from './batch-text.js'
import { type CommandLog, LogLost, LogUnavailable } from './command-log.js'
import type { HiddenKeys } from './hidden-keys.js'

/** What is under way while the log is away is answered 503 after so long. */
export const UNDER_WAY_MS: DurationMs = 5 * SECOND_MS
/** Entries that are under way at a time: what comes meanwhile is one entry afterwards. */
const ENTRIES_UNDER_WAY = 8
/** Entries are no larger than this by themselves; a single item may be. */
const LARGEST_ENTRY = 4 * 1024 * 1024

/** Who waits for an item of one's own. */
interface Waiting {
  done(result: unknown): void
  failed(error: unknown): void
}

/** An item to be appended. */
interface Outgoing {
  readonly text: string
  readonly waiting: Waiting | undefined
}

/** An entry of one's own that is under way. */
export interface OwnEntry {
  readonly batch: number
  readonly items: readonly Outgoing[]
  readonly appendedAt: number
  /** Takes it back, if it does not stand yet. */
  readonly giveUp: AbortController
  /** Gives up when its time is over. */
  readonly timer: NodeJS.Timeout
  /** As many copies have it as was asked for. */
  isKept: boolean
  /** What was done when it came back. */
  results: (() => void)[] | undefined
  /** What its requests have become when it came back. */
  exchanges: readonly ExchangeRef[]
  /** When nobody waited for it any more. */
  gaveUpAt: number | undefined
}

/** The way to the log. */
interface Way {
  /** Undefined before it was opened. */
  log(): CommandLog | undefined
  /** Why nothing can be appended now; undefined while it can. */
  away(): string | undefined
  /** The log no longer has what was appended. */
  lost(reason: string): void
}

/** What a replica has to say: appended in entries, each of which it waits for until it is read back and kept. */
export class Outbox {
  readonly #keys: HiddenKeys
  readonly #way: Way
  /** As whom it appends. */
  #replica = ''
  #batch = 0
  #outgoing: Outgoing[] = []
  /** Not known to stand yet. */
  readonly #underWay = new Set<OwnEntry>()
  /** Not told by the log yet; in order. */
  readonly #unread: OwnEntry[] = []
  #isFlushing = false
  #lagMs = 0

  constructor(keys: HiddenKeys, way: Way) {
    this.#keys = keys
    this.#way = way
  }

  /** From now on it appends as another one. */
  begin(replica: string): void {
    this.#replica = replica
    this.#batch = 0
  }

  /** The number of an entry that is appended by others. */
  nextBatch(): number {
    return ++this.#batch
  }

  /** How long its entries take to come back, in milliseconds: more, while one is waited for. */
  get lagMs(): number {
    const oldest = [...this.#unread, ...this.#underWay].find(({ gaveUpAt }) => gaveUpAt === undefined)
    return oldest === undefined ? this.#lagMs : Math.max(this.#lagMs, systemClock.monotonic() - oldest.appendedAt)
  }

  /** Appends an item. @returns what it has come to, once it was read back and applied. @throws LogUnavailable */
  append(item: Item): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#put(item, { done: resolve, failed: reject })
    })
  }

  /** Appends an item that nobody waits for. */
  tell(item: Item): void {
    this.#put(item, undefined)
  }

  #put(item: Item, waiting: Waiting | undefined): void {
    this.#outgoing.push({ text: this.#keys.hide(itemText(item)), waiting })
    // Something may have been left over from when it could not be said.
    if (this.#isFlushing || this.#underWay.size >= ENTRIES_UNDER_WAY) return
    this.#isFlushing = true
    // All of a turn are one entry.
    setImmediate(() => {
      this.#isFlushing = false
      this.flush()
    })
  }

  /** Appends what could not be appended before. */
  flush(): void {
    const log = this.#way.log()
    while (
      log !== undefined &&
      this.#way.away() === undefined &&
      this.#outgoing.length > 0 &&
      this.#underWay.size < ENTRIES_UNDER_WAY
    )
      this.#appendSome(log)
  }

  #appendSome(log: CommandLog): void {
    const entry: OwnEntry = {
      batch: this.nextBatch(),
      items: this.#takeSome(),
      appendedAt: systemClock.monotonic(),
      giveUp: new AbortController(),
      timer: setTimeout(() => {
        entry.giveUp.abort()
        if (entry.isKept)
          this.#giveUp(entry, new LogUnavailable(this.#way.away() ?? 'The log takes long to tell what it took.'))
      }, UNDER_WAY_MS),
      isKept: false,
      results: undefined,
      exchanges: [],
      gaveUpAt: undefined,
    }
    this.#underWay.add(entry)
    this.#unread.push(entry)
    const text = batchText(entry.items.map((item) => item.text))
    const replica = this.#replica
    log.append({ replica, batch: entry.batch, text }, entry.giveUp.signal).then(
      () => {
        if (this.#replica !== replica) return
        entry.isKept = true
        this.#release(entry)
        this.#appended(entry)
      },
      (error: unknown) => {
        if (this.#replica !== replica) return
        this.#giveUp(entry, error)
        this.#appended(entry)
        if (error instanceof LogLost) this.#way.lost(error.message)
      },
    )
  }

  #appended(entry: OwnEntry): void {
    if (this.#underWay.delete(entry)) this.flush()
  }

  #takeSome(): readonly Outgoing[] {
    let characters = 0
    const most = this.#outgoing.findIndex(({ text }) => {
      characters += text.length
      return characters > LARGEST_ENTRY
    })
    return this.#outgoing.splice(0, most === -1 ? this.#outgoing.length : Math.max(1, most))
  }

  /** Answers when an entry is both read back and kept. */
  #release(entry: OwnEntry): void {
    if (!entry.isKept || entry.results === undefined) return
    clearTimeout(entry.timer)
    for (const answer of entry.results) answer()
    entry.results = []
  }

  /** Nobody waits for an entry any more. It may be in the log all the same. */
  #giveUp(entry: OwnEntry, error: unknown): void {
    clearTimeout(entry.timer)
    entry.gaveUpAt = systemClock.monotonic()
    for (const { waiting } of entry.items) waiting?.failed(error)
    this.#disown(entry)
  }

  /** Of answers that came after their clients were told 503 somebody has to say what became of them. */
  #disown({ exchanges, appendedAt, gaveUpAt }: OwnEntry): void {
    if (exchanges.length === 0 || gaveUpAt === undefined) return
    const { status, message } = PROBLEMS.log_unavailable
    const instead = { status, body: JSON.stringify({ code: 'log_unavailable', message, status }) }
    const durationMs = gaveUpAt - appendedAt
    const times = { durationMs, waitingMs: 0, bodyMs: 0, connection: 0 }
    this.tell({
      kind: 'ended',
      exchanges: exchanges.map((exchange) => ({ ...exchange, ...times, how: 'unknown', instead })),
    })
  }

  /** One of its own was read back: takes it out, and all before it, which never stood. */
  take(batch: number): OwnEntry | undefined {
    while (this.#unread.length > 0) {
      const first = this.#unread[0]
      if (first === undefined || first.batch > batch) return undefined
      this.#unread.shift()
      if (first.batch === batch) return first
    }
    return undefined
  }

  /** What was taken out was applied. @param results tell those who wait; @param exchanges what its requests have become */
  cameBack(own: OwnEntry, results: (() => void)[], exchanges: readonly ExchangeRef[]): void {
    this.#lagMs = systemClock.monotonic() - own.appendedAt
    own.results = results
    own.exchanges = exchanges
    if (own.gaveUpAt === undefined) this.#release(own)
    else this.#disown(own)
  }

  /** Nothing that is under way is waited for any more. */
  failAll(error: LogUnavailable): void {
    // One that was read back may still wait for its copies.
    const entries = new Set([...this.#unread, ...this.#underWay])
    this.#unread.length = 0
    this.#underWay.clear()
    for (const { items, timer, giveUp } of entries) {
      clearTimeout(timer)
      giveUp.abort()
      for (const { waiting } of items) waiting?.failed(error)
    }
    this.refuse(error)
  }

  /** What was not appended yet never will be. What became of answers is told later. */
  refuse(error: LogUnavailable): void {
    const waiting = this.#outgoing.filter((outgoing) => outgoing.waiting !== undefined)
    this.#outgoing = this.#outgoing.filter((outgoing) => outgoing.waiting === undefined)
    for (const outgoing of waiting) outgoing.waiting?.failed(error)
  }
}
