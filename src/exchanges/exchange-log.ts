import type { EndedExchange } from '../domain/messages.js'
import { type ExchangeRecord, WITHOUT_VALUES } from './exchange-record.js'
import type { LoggedEvent, SpaceEvent } from './space-event.js'

/** Bounds of the logs. @source docs/control-api.md, "The log" */
const LOG_BYTES_A_SPACE = 16 * 1024 * 1024
const LOG_BYTES_IN_ALL = 256 * 1024 * 1024
const MAX_EVENTS = 200

export interface SavedLog {
  readonly nextId: number
  readonly records: readonly ExchangeRecord[]
  readonly unkept: readonly ExchangeRecord[]
}

export class LogBudget {
  #bytes = 0
  readonly #logs = new Set<ExchangeLog>()

  join(log: ExchangeLog): void {
    this.#logs.add(log)
  }

  leave(log: ExchangeLog): void {
    this.#logs.delete(log)
    this.#bytes -= log.bytes
  }

  /** Beyond the bound, the fullest log drops its oldest exchanges. */
  charge(bytes: number): void {
    this.#bytes += bytes
    while (this.#bytes > LOG_BYTES_IN_ALL) {
      let fullest: ExchangeLog | undefined
      for (const log of this.#logs) if (fullest === undefined || log.bytes > fullest.bytes) fullest = log
      if (fullest === undefined || !fullest.dropOldest()) return
    }
  }
}

export interface Follower {
  onBegan?(record: ExchangeRecord): void
  onEnded(record: ExchangeRecord): void
  onEvent?(event: SpaceEvent): void
  /** All exchanges were dropped, including those under way, whose ends are not reported. */
  onCleared?(): void
  end(): void
}

/** The last exchanges of a space, in a ring buffer. */
export class ExchangeLog {
  readonly #limit: number
  readonly #budget: LogBudget
  #records: (ExchangeRecord | undefined)[] = []
  /** Bytes of each record. */
  #weights: number[] = []
  /** Exchanges under way without a place, by position: their ends are still reported to followers. */
  readonly #unkept = new Map<number, ExchangeRecord>()
  #first = 0
  #count = 0
  #nextId = 1
  #bytes = 0
  #open = 0
  readonly #followers = new Set<Follower>()
  events: readonly LoggedEvent[] = []
  #eventsBefore: readonly LoggedEvent[] = []
  #isClosed = false

  constructor(limit: number, budget: LogBudget) {
    this.#limit = limit
    this.#budget = budget
    budget.join(this)
  }

  get bytes(): number {
    return this.#bytes
  }

  get total(): number {
    return this.#nextId - 1
  }

  /** Exchanges that it has. */
  get size(): number {
    return this.#count
  }

  /** Exchanges that have not ended. */
  get open(): number {
    return this.#open
  }

  publish(done: SpaceEvent): void {
    const event = { ...done, afterId: this.total }
    this.events = [...this.events, event].slice(-MAX_EVENTS)
    for (const follower of this.#followers) follower.onEvent?.(event)
  }

  takeId(): number {
    return this.#nextId++
  }

  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  add(record: ExchangeRecord): void {
    if (this.#isClosed) return
    this.#open++
    this.#place(record)
    for (const follower of this.#followers) follower.onBegan?.(record)
  }

  #place(record: ExchangeRecord): void {
    if (this.#limit === 0) {
      this.#unkept.set(record.position, record)
      return
    }
    if (this.#count === this.#limit) this.dropOldest()
    const place = (this.#first + this.#count) % this.#limit
    const weight = weightOf(record)
    this.#records[place] = record
    this.#weights[place] = weight
    this.#count++
    this.#bytes += weight
    while (this.#bytes > LOG_BYTES_A_SPACE && this.#count > 1) this.dropOldest()
    this.#budget.charge(weight)
  }

  end({ id, position, how, durationMs, waitingMs, bodyMs, instead, isUnanswered }: EndedExchange): void {
    const place = (this.#first + this.#count - (this.#nextId - id)) % this.#limit
    const kept = this.#records[place]
    const begun = kept?.position === position ? kept : this.#unkept.get(position)
    if (begun === undefined) return
    if (begun.how === undefined) this.#open--
    const record: ExchangeRecord = {
      ...begun,
      how,
      durationMs,
      waitingMs,
      bodyMs,
      ...(instead !== undefined && { status: instead.status, reason: undefined, responseBody: instead.body }),
      ...(isUnanswered === true && { status: undefined }),
    }
    if (begun === kept) this.#records[place] = record
    else this.#unkept.delete(position)
    for (const { onEnded } of this.#followers) onEnded(record)
  }

  dropOldest(): boolean {
    const record = this.#records[this.#first]
    if (this.#count === 0 || record === undefined) return false
    const weight = this.#weights[this.#first] ?? 0
    if (record.how === undefined) this.#unkept.set(record.position, record)
    this.#records[this.#first] = undefined
    this.#first = (this.#first + 1) % this.#limit
    this.#count--
    this.#bytes -= weight
    this.#budget.charge(-weight)
    return true
  }

  *[Symbol.iterator](): Generator<ExchangeRecord> {
    for (let i = 0; i < this.#count; i++) {
      const record = this.#records[(this.#first + i) % this.#limit]
      if (record !== undefined) yield record
    }
  }

  /** Counts from 1 again. Returns what `restore` takes. */
  clear(): SavedLog {
    const before = this.save()
    this.#budget.charge(-this.#bytes)
    this.#records = []
    this.#weights = []
    this.#unkept.clear()
    this.#first = this.#count = this.#bytes = this.#open = 0
    this.#nextId = 1
    this.#eventsBefore = this.events
    this.events = []
    for (const follower of this.#followers) follower.onCleared?.()
    return before
  }

  /** Restores a log that was cleared. Exchanges that have ended since follow it, under new ids; those under way get no place. */
  restore(saved: SavedLog): void {
    const since = [...this]
    while (this.dropOldest());
    this.load(saved)
    this.events = [...this.#eventsBefore, ...this.events].slice(-MAX_EVENTS)
    this.#eventsBefore = []
    for (const record of since) if (record.how !== undefined) this.#place({ ...record, id: this.takeId() })
  }

  save(): SavedLog {
    return {
      nextId: this.#nextId,
      records: [...this],
      unkept: [...this.#unkept.values()],
    }
  }

  /** Only for an empty log. */
  load({ nextId, records, unkept }: SavedLog): void {
    this.#open += unkept.length + records.filter(({ how }) => how === undefined).length
    for (const record of records) {
      this.#nextId = record.id + 1
      this.#place({ ...WITHOUT_VALUES, ...record })
    }
    for (const record of unkept) this.#unkept.set(record.position, { ...WITHOUT_VALUES, ...record })
    this.#nextId = nextId
  }

  close(): void {
    this.#isClosed = true
    this.#budget.leave(this)
    for (const { end } of this.#followers) end()
    this.#followers.clear()
  }
}

/** Two bytes for each character that a client can send. */
function weightOf(record: ExchangeRecord): number {
  let characters = record.path.length + record.query.length + record.requestBody.length + record.responseBody.length
  for (const text of record.requestHeaders) characters += text.length
  return 1024 + 2 * characters
}
