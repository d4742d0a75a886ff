import type { ExchangeRef } from '../domain/messages.js'
import { PROBLEMS } from '../domain/problems.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { systemClock } from '../system/system-clock.js'
import { batchText, type Item, itemText } from './batch-text.js'
import { type CommandLog, LogLost, LogUnavailable } from './command-log.js'
import type { HiddenKeys } from './secrets.js'

/** Pending requests get a 503 when the log is unavailable for this long. */
const APPEND_TIMEOUT_MS: DurationMs = 5 * SECOND_MS
/** Further items wait and share the next entry. */
const MAX_PENDING_ENTRIES = 8
/** In characters. A single item may be larger. */
const MAX_ENTRY_LENGTH = 4 * 1024 * 1024

interface Caller {
  resolve(result: unknown): void
  reject(error: unknown): void
}

interface OutgoingItem {
  readonly text: string
  readonly caller: Caller | undefined
}

export interface OwnEntry {
  readonly batch: number
  readonly items: readonly OutgoingItem[]
  readonly appendedAt: number
  readonly abort: AbortController
  readonly timer: NodeJS.Timeout
  isStored: boolean
  /** Each passes a result to its caller. Set once the entry is read back and applied. */
  results: (() => void)[] | undefined
  exchanges: readonly ExchangeRef[]
  failedAt: number | undefined
}

interface LogAccess {
  log(): CommandLog | undefined
  unavailable(): string | undefined
  lost(reason: string): void
}

/** Appends the items of a replica to the log. A result is known once its entry was stored and read back. */
export class Outbox {
  readonly #keys: HiddenKeys
  readonly #access: LogAccess
  #replica = ''
  #batch = 0
  #waiting: OutgoingItem[] = []
  readonly #pending = new Set<OwnEntry>()
  readonly #unread: OwnEntry[] = []
  #isFlushScheduled = false
  #lagMs = 0

  constructor(keys: HiddenKeys, access: LogAccess) {
    this.#keys = keys
    this.#access = access
  }

  restart(replica: string): void {
    this.#replica = replica
    this.#batch = 0
  }

  /** Appends the request to join, when the replica is not a member yet. */
  async appendFirst(log: CommandLog, item: Item): Promise<void> {
    const text = batchText([this.#keys.hide(itemText(item))])
    const entry = { replica: this.#replica, batch: ++this.#batch, text }
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), APPEND_TIMEOUT_MS)
    await log.append(entry, abort.signal).finally(() => clearTimeout(timer))
  }

  /** Round trip of the last entry; grows while one is overdue. */
  get lagMs(): number {
    const oldest = [...this.#unread, ...this.#pending].find(({ failedAt }) => failedAt === undefined)
    return oldest === undefined ? this.#lagMs : Math.max(this.#lagMs, systemClock.monotonic() - oldest.appendedAt)
  }

  /** @returns the result, once the item was read back and applied. @throws LogUnavailable */
  append(item: Item): Promise<unknown> {
    return new Promise((resolve, reject) => this.#put(item, { resolve, reject }))
  }

  send(item: Item): void {
    this.#put(item, undefined)
  }

  #put(item: Item, caller: Caller | undefined): void {
    this.#waiting.push({ text: this.#keys.hide(itemText(item)), caller })
    if (this.#isFlushScheduled || this.#pending.size >= MAX_PENDING_ENTRIES) return
    this.#isFlushScheduled = true
    setImmediate(() => {
      this.#isFlushScheduled = false
      this.flush()
    })
  }

  flush(): void {
    const log = this.#access.log()
    while (
      log !== undefined &&
      this.#access.unavailable() === undefined &&
      this.#waiting.length > 0 &&
      this.#pending.size < MAX_PENDING_ENTRIES
    )
      this.#appendEntry(log)
  }

  #appendEntry(log: CommandLog): void {
    const entry: OwnEntry = {
      batch: ++this.#batch,
      items: this.#takeItems(),
      appendedAt: systemClock.monotonic(),
      abort: new AbortController(),
      timer: setTimeout(() => {
        entry.abort.abort()
        if (entry.isStored)
          this.#fail(
            entry,
            new LogUnavailable(this.#access.unavailable() ?? 'The log does not return an entry that it stored.'),
          )
      }, APPEND_TIMEOUT_MS),
      isStored: false,
      results: undefined,
      exchanges: [],
      failedAt: undefined,
    }
    this.#pending.add(entry)
    this.#unread.push(entry)
    const text = batchText(entry.items.map((item) => item.text))
    const replica = this.#replica
    log.append({ replica, batch: entry.batch, text }, entry.abort.signal).then(
      () => {
        if (this.#replica !== replica) return
        entry.isStored = true
        this.#deliver(entry)
        if (this.#pending.delete(entry)) this.flush()
      },
      (error: unknown) => {
        if (this.#replica !== replica) return
        this.#fail(entry, error)
        if (this.#pending.delete(entry)) this.flush()
        if (error instanceof LogLost) this.#access.lost(error.message)
      },
    )
  }

  #takeItems(): readonly OutgoingItem[] {
    let length = 0
    const tooMany = this.#waiting.findIndex(({ text }) => {
      length += text.length
      return length > MAX_ENTRY_LENGTH
    })
    return this.#waiting.splice(0, tooMany === -1 ? this.#waiting.length : Math.max(1, tooMany))
  }

  #deliver(entry: OwnEntry): void {
    if (!entry.isStored || entry.results === undefined) return
    clearTimeout(entry.timer)
    for (const deliver of entry.results) deliver()
    entry.results = []
  }

  #fail(entry: OwnEntry, error: unknown): void {
    clearTimeout(entry.timer)
    entry.failedAt = systemClock.monotonic()
    for (const { caller } of entry.items) caller?.reject(error)
    this.#reportUndelivered(entry)
  }

  /** Reports responses that became available after their clients had received a 503. */
  #reportUndelivered({ exchanges, appendedAt, failedAt }: OwnEntry): void {
    if (exchanges.length === 0 || failedAt === undefined) return
    const { status, message } = PROBLEMS.log_unavailable
    const instead = { status, body: JSON.stringify({ code: 'log_unavailable', message, status }) }
    const end = { how: 'unknown', durationMs: failedAt - appendedAt, waitingMs: 0, bodyMs: 0, connection: 0 } as const
    this.send({ kind: 'ended', exchanges: exchanges.map((exchange) => ({ ...exchange, ...end, instead })) })
  }

  /** Removes an own entry that was read back, and older ones, which were never stored. */
  take(batch: number): OwnEntry | undefined {
    while (this.#unread[0] !== undefined && this.#unread[0].batch <= batch) {
      const first = this.#unread.shift()
      if (first?.batch === batch) return first
    }
    return undefined
  }

  applied(entry: OwnEntry, results: (() => void)[], exchanges: readonly ExchangeRef[]): void {
    this.#lagMs = systemClock.monotonic() - entry.appendedAt
    entry.results = results
    entry.exchanges = exchanges
    if (entry.failedAt === undefined) this.#deliver(entry)
    else this.#reportUndelivered(entry)
  }

  failAll(error: LogUnavailable): void {
    // An entry may be read back before it is confirmed.
    const entries = new Set([...this.#unread, ...this.#pending])
    this.#unread.length = 0
    this.#pending.clear()
    for (const { items, timer, abort } of entries) {
      clearTimeout(timer)
      abort.abort()
      for (const { caller } of items) caller?.reject(error)
    }
    this.failWaiting(error)
  }

  /** Rejects items that are not appended. Ends of exchanges stay queued. */
  failWaiting(error: LogUnavailable): void {
    const rejected = this.#waiting.filter(({ caller }) => caller !== undefined)
    this.#waiting = this.#waiting.filter(({ caller }) => caller === undefined)
    for (const { caller } of rejected) caller?.reject(error)
  }
}
