import type { Reply } from '../domain/messages.js'
import { PROBLEMS } from '../domain/problems.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { systemClock } from '../system/system-clock.js'
import { batchText, type Item, itemText } from './batch-text.js'
import { type CommandLog, LogLost, LogUnavailable } from './command-log.js'

/** Requests get a 503 when their entry is not read back within this time. */
export const APPEND_TIMEOUT_MS: DurationMs = 5 * SECOND_MS
/** In characters. A single item may be larger. */
const MAX_ENTRY_LENGTH = 4 * 1024 * 1024

/** What became of an item of an entry. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown }

interface OutgoingItem {
  readonly text: string
  readonly isRequest: boolean
  /** Undefined for items that nobody waits for, such as ends of exchanges. */
  readonly caller: { resolve(result: unknown): void; reject(error: unknown): void } | undefined
}

interface OwnEntry {
  readonly batch: number
  readonly items: readonly OutgoingItem[]
  readonly appendedAt: number
  readonly giveUp: AbortController
  readonly timer: NodeJS.Timeout
  /** When its callers got an error, although it may have been stored. */
  failedAt: number | undefined
  isRead: boolean
}

/** Appends the items of a replica to the log, one entry at a time. A result is known once its entry is read back. */
export class Outbox {
  readonly #log: CommandLog
  readonly #hide: (text: string) => string
  readonly #lost: (reason: string) => void
  #replica = ''
  #batch = 0
  #stored = 0
  #waiting: OutgoingItem[] = []
  /** Appended, but not read back. An abandoned entry may never be. */
  #unread: OwnEntry[] = []
  #isAppending = false
  #isScheduled = false
  #isClosed = false
  #lagMs = 0

  constructor(log: CommandLog, hide: (text: string) => string, lost: (reason: string) => void) {
    this.#log = log
    this.#hide = hide
    this.#lost = lost
  }

  /** @param replica its new id */
  restart(replica: string): void {
    this.#replica = replica
    this.#batch = 0
    this.#stored = 0
    // Those of the id before have the same numbers. Their callers are told by their timers.
    this.#unread = []
  }

  /** Round trip of the last entry; grows while one is overdue. */
  get lagMs(): number {
    const oldest = this.#unread.find(({ failedAt }) => failedAt === undefined)
    return oldest === undefined ? this.#lagMs : Math.max(this.#lagMs, systemClock.monotonic() - oldest.appendedAt)
  }

  /** @returns the result, once the item was read back and applied. @throws LogUnavailable; any error of the item */
  append(item: Item): Promise<unknown> {
    return new Promise((resolve, reject) => this.#put(item, { resolve, reject }))
  }

  send(item: Item): void {
    this.#put(item, undefined)
  }

  #put(item: Item, caller: OutgoingItem['caller']): void {
    this.#waiting.push({ text: this.#hide(itemText(item)), isRequest: item.kind === 'request', caller })
    if (this.#isAppending || this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      void this.#appendAll()
    })
  }

  async #appendAll(): Promise<void> {
    if (this.#isAppending) return
    this.#isAppending = true
    while (this.#waiting.length > 0 && !this.#isClosed) await this.#appendEntry()
    this.#isAppending = false
  }

  async #appendEntry(): Promise<void> {
    const [replica, batch, items] = [this.#replica, ++this.#batch, this.#takeItems()]
    const giveUp = new AbortController()
    const entry: OwnEntry = {
      batch,
      items,
      appendedAt: systemClock.monotonic(),
      giveUp,
      timer: setTimeout(() => this.#fail(entry, new LogUnavailable(OVERDUE)), APPEND_TIMEOUT_MS),
      failedAt: undefined,
      isRead: false,
    }
    this.#unread.push(entry)
    const text = batchText(items.map((item) => item.text))
    try {
      await this.#log.append({ replica, batch, text }, this.#stored, giveUp.signal)
      if (this.#replica === replica) this.#stored = batch
    } catch (error) {
      this.#fail(entry, error)
      if (this.#replica !== replica || entry.isRead) return
      // Ends of exchanges must not be lost. They count once, even if both entries are stored.
      this.#waiting.unshift(...items.filter(({ caller }) => caller === undefined))
      if (error instanceof LogLost) this.#lost(error.message)
    }
  }

  #takeItems(): readonly OutgoingItem[] {
    let length = 0
    const tooMany = this.#waiting.findIndex(({ text }) => {
      length += text.length
      return length > MAX_ENTRY_LENGTH
    })
    return this.#waiting.splice(0, tooMany === -1 ? this.#waiting.length : Math.max(1, tooMany))
  }

  /** Passes the outcomes of an own entry that was read back to its callers. Older entries were never stored. */
  settle(batch: number, outcomes: readonly Outcome[]): void {
    const entry = this.#unread.find((item) => item.batch === batch)
    this.#unread = this.#unread.filter((item) => item.batch > batch)
    if (entry === undefined) return
    entry.isRead = true
    clearTimeout(entry.timer)
    this.#lagMs = systemClock.monotonic() - entry.appendedAt
    if (entry.failedAt !== undefined) this.#reportUndelivered(entry, outcomes)
    for (const [index, { caller }] of entry.items.entries()) {
      const outcome = outcomes[index] ?? { error: new LogUnavailable(OVERDUE) }
      if ('error' in outcome) caller?.reject(outcome.error)
      else caller?.resolve(outcome.result)
    }
  }

  #fail(entry: OwnEntry, error: unknown): void {
    clearTimeout(entry.timer)
    entry.giveUp.abort()
    entry.failedAt ??= systemClock.monotonic()
    for (const { caller } of entry.items) caller?.reject(error)
    // They would only wait longer.
    this.#rejectWaiting(error)
  }

  /** Ends of exchanges stay. */
  #rejectWaiting(error: unknown): void {
    const waiting = this.#waiting
    this.#waiting = waiting.filter(({ caller }) => caller === undefined)
    for (const { caller } of waiting) caller?.reject(error)
  }

  /** Reports responses that became available after their clients had received a 503. */
  #reportUndelivered({ items, appendedAt, failedAt = appendedAt }: OwnEntry, outcomes: readonly Outcome[]): void {
    const { status, message } = PROBLEMS.log_unavailable
    const instead = { status, body: JSON.stringify({ code: 'log_unavailable', message, status }) }
    const end = { how: 'unknown', durationMs: failedAt - appendedAt, waitingMs: 0, bodyMs: 0, connection: 0 } as const
    const exchanges = outcomes.flatMap((outcome, index) => {
      const reply = items[index]?.isRequest && 'result' in outcome ? (outcome.result as Reply) : undefined
      return reply?.exchange === undefined ? [] : [{ ...reply.exchange, ...end, instead }]
    })
    if (exchanges.length > 0) this.send({ kind: 'ended', exchanges })
  }

  failAll(error: LogUnavailable): void {
    for (const entry of this.#unread.splice(0)) this.#fail(entry, error)
    this.#rejectWaiting(error)
  }

  close(): void {
    this.#isClosed = true
    this.failAll(new LogUnavailable('The sandbox is stopping.'))
  }
}

export const OVERDUE = 'The log did not return an entry in time.'
