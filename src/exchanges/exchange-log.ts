import type { EndedExchange, ExchangeRef } from '../domain/messages.js'
import type { ExchangeRecord } from './exchange-record.js'
import { copyOf, type KeptRecord, rewrite } from './kept-record.js'
import type { SpaceEvent } from './space-event.js'

/** Bounds of the logs. @source docs/control-api.md, "The log" */
export const LOG_BODY_CHARACTERS = 64 * 1024
const LOG_BYTES_A_SPACE = 16 * 1024 * 1024
const LOG_BYTES_IN_ALL = 256 * 1024 * 1024

/** A log as plain data. */
export interface SavedLog {
  readonly nextId: number
  readonly records: readonly ExchangeRecord[]
  readonly unkept: readonly ExchangeRecord[]
}

/** The total size of the logs of all spaces. */
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

  /** Accounts for bytes taken or returned; beyond the bound, the fullest log drops its oldest exchanges. */
  book(bytes: number): void {
    this.#bytes += bytes
    while (this.#bytes > LOG_BYTES_IN_ALL) {
      let fullest: ExchangeLog | undefined
      for (const log of this.#logs) if (fullest === undefined || log.bytes > fullest.bytes) fullest = log
      if (fullest === undefined || !fullest.dropOldest()) return
    }
  }
}

/** Is told of each exchange, when it has come and when it has ended. */
export interface Follower {
  onBegan?(record: ExchangeRecord): void
  onEnded(record: ExchangeRecord): void
  onEvent?(event: SpaceEvent): void
  /** The space is gone; there will be no more. */
  end(): void
}

/**
 * The last exchanges of a space: a ring buffer.
 *
 * Once it is full, it writes each exchange over the one that it drops. A new record a request, kept for a thousand
 * requests, would outlive every scavenge of V8: that is the time of the scavenges, and the memory that V8 takes to
 * have fewer of them. So whoever asks gets a copy, which stays as it is.
 */
export class ExchangeLog {
  readonly #limit: number
  readonly #budget: LogBudget
  #records: (KeptRecord | undefined)[] = []
  /**
   * Size of each record, negative while it is under way, so that dropping an old one
   * need not touch it: it is long out of the processor's cache.
   */
  #weights: number[] = []
  /** Exchanges under way that found no room, or lost it: whoever follows is still to be told of them. By position. */
  readonly #unkept = new Map<number, KeptRecord>()
  #first = 0
  #count = 0
  #nextId = 1
  #bytes = 0
  readonly #followers = new Set<Follower>()
  #isClosed = false

  /** @param limit exchanges kept at most, 0 keeps none */
  constructor(limit: number, budget: LogBudget) {
    this.#limit = limit
    this.#budget = budget
    budget.join(this)
  }

  /** Approximate size of the kept exchanges. */
  get bytes(): number {
    return this.#bytes
  }

  /** Number of exchanges so far, including dropped ones. */
  get total(): number {
    return this.#nextId - 1
  }

  /** Tells those who follow of something else that has happened in the space. */
  tell(event: SpaceEvent): void {
    for (const follower of this.#followers) follower.onEvent?.(event)
  }

  takeId(): number {
    return this.#nextId++
  }

  /** Tells a follower of each exchange from now on, and of the end. @returns a function that unsubscribes */
  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  /** Adds the exchange whose id was taken last. */
  add(record: ExchangeRecord): void {
    if (this.#isClosed) return
    this.#place(record)
    for (const follower of this.#followers) follower.onBegan?.(record)
  }

  #place(record: ExchangeRecord): void {
    if (this.#limit === 0) {
      this.#unkept.set(record.position, copyOf(record))
      return
    }
    if (this.#count === this.#limit) this.#letGo()
    const place = (this.#first + this.#count) % this.#limit
    const weight = weightOf(record)
    const before = this.#records[place]
    if (before === undefined) this.#records[place] = copyOf(record)
    else rewrite(before, record)
    this.#weights[place] = record.how === undefined ? -weight : weight
    this.#count++
    this.#bytes += weight
    while (this.#bytes > LOG_BYTES_A_SPACE && this.#count > 1) this.dropOldest()
    this.#budget.book(weight)
  }

  /** Writes down what became of an exchange, and tells those who follow, unless the log was cleared since it began. */
  end(ended: EndedExchange): void {
    const record = this.#underWay(ended)
    if (record === undefined) return
    record.how = ended.how
    record.durationMs = ended.durationMs
    record.waitingMs = ended.waitingMs
    record.bodyMs = ended.bodyMs
    if (ended.instead !== undefined) {
      record.status = ended.instead.status
      record.reason = undefined
      record.responseBody = ended.instead.body
    }
    if (ended.isUnanswered === true) record.status = undefined
    if (this.#followers.size === 0) return
    const told = copyOf(record)
    for (const { onEnded } of this.#followers) onEnded(told)
  }

  #underWay({ id, position }: ExchangeRef): KeptRecord | undefined {
    const place = (this.#first + this.#count - (this.#nextId - id)) % this.#limit
    const record = this.#records[place]
    if (record?.position === position) {
      this.#weights[place] = Math.abs(this.#weights[place] ?? 0)
      return record
    }
    const unkept = this.#unkept.get(position)
    this.#unkept.delete(position)
    return unkept
  }

  /** @returns whether there was one */
  dropOldest(): boolean {
    if (this.#count === 0) return false
    const place = this.#first
    this.#letGo()
    this.#records[place] = undefined
    return true
  }

  /** Counts the oldest out; its place is to be written to, or emptied. */
  #letGo(): void {
    const marked = this.#weights[this.#first] ?? 0
    const weight = Math.abs(marked)
    if (marked < 0) {
      const record = this.#records[this.#first]
      if (record !== undefined) this.#unkept.set(record.position, copyOf(record))
    }
    this.#first = (this.#first + 1) % this.#limit
    this.#count--
    this.#bytes -= weight
    this.#budget.book(-weight)
  }

  /** Copies of the kept exchanges, oldest first. */
  *[Symbol.iterator](): Generator<ExchangeRecord> {
    for (let i = 0; i < this.#count; i++) {
      const record = this.#records[(this.#first + i) % this.#limit]
      if (record !== undefined) yield copyOf(record)
    }
  }

  /** Drops all exchanges and counts from 1 again. @returns takes it back */
  clear(): () => void {
    const before = [this.#records, this.#weights, this.#first, this.#count, this.#bytes, this.#nextId] as const
    const unkept = [...this.#unkept]
    this.#budget.book(-this.#bytes)
    this.#records = []
    this.#weights = []
    this.#unkept.clear()
    this.#first = this.#count = this.#bytes = 0
    this.#nextId = 1
    return () => {
      // Whoever follows is still to be told of what came since; it has no place among what is back.
      while (this.dropOldest());
      ;[this.#records, this.#weights, this.#first, this.#count, this.#bytes, this.#nextId] = before
      for (const [position, record] of unkept) this.#unkept.set(position, record)
      this.#budget.book(this.#bytes)
    }
  }

  /**
   * Brings back what was there before it was cleared. What has come since stands behind it, under new ids; what of it is
   * under way is told of, but has no place.
   */
  bringBack(saved: SavedLog): void {
    const since = [...this]
    while (this.dropOldest());
    // Of those that were under way when it was cleared nobody has heard what became of them.
    const ended = saved.records.filter(({ how }) => how !== undefined)
    this.load({ ...saved, records: ended, unkept: [] })
    for (const record of since) if (record.how !== undefined) this.#place({ ...record, id: this.takeId() })
  }

  /** As plain data: what it keeps, and what is under way without a place in it. */
  save(): SavedLog {
    return { nextId: this.#nextId, records: [...this], unkept: [...this.#unkept.values()].map(copyOf) }
  }

  /** Continues from what another log has saved; only for a new one. */
  load({ nextId, records, unkept }: SavedLog): void {
    const once = sharedTexts()
    // As if it had just been taken: places are counted from the last id.
    for (const record of records) {
      this.#nextId = record.id + 1
      this.#place(once(record))
    }
    for (const record of unkept) this.#unkept.set(record.position, copyOf(once(record)))
    this.#nextId = nextId
  }

  /** The space is gone: returns its share of the budget and keeps nothing more. */
  close(): void {
    this.#isClosed = true
    this.#budget.leave(this)
    for (const { end } of this.#followers) end()
    this.#followers.clear()
  }
}

/** A fixed part for the fields, and two bytes for each character of the parts that a client can make long. */
function weightOf(record: ExchangeRecord): number {
  let characters = record.path.length + record.query.length + record.requestBody.length + record.responseBody.length
  for (const text of record.requestHeaders) characters += text.length
  return 1024 + 2 * characters
}

/** What was read has every text anew, though most exchanges have their headers, and often their body, in common: here they share them. */
function sharedTexts(): (record: ExchangeRecord) => ExchangeRecord {
  const texts = new Map<string, string>()
  const shared = (text: string): string => {
    const known = texts.get(text)
    if (known !== undefined) return known
    texts.set(text, text)
    return text
  }
  return (record) => ({
    ...record,
    requestHeaders: record.requestHeaders.map(shared),
    requestBody: shared(record.requestBody),
    responseHeaders: record.responseHeaders.map(shared),
    responseBody: shared(record.responseBody),
  })
}
