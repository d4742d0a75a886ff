import type { ExchangeRecord } from './exchange-record.js'

/** Bounds of the logs. @source docs/behaviour.md, "The log" */
export const LOG_BODY_CHARACTERS = 64 * 1024
const LOG_BYTES_A_SPACE = 16 * 1024 * 1024
const LOG_BYTES_IN_ALL = 256 * 1024 * 1024

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

/** Is told of each exchange. */
export interface Follower {
  onExchange(record: ExchangeRecord): void
  /** The space is gone; there will be no more. */
  end(): void
}

/** The last exchanges of a space: a ring buffer. */
export class ExchangeLog {
  readonly #limit: number
  readonly #budget: LogBudget
  #records: (ExchangeRecord | undefined)[] = []
  /** Size of each record, so that dropping an old one need not touch it: it is long out of the processor's cache. */
  #weights: number[] = []
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

  takeId(): number {
    return this.#nextId++
  }

  /** Tells a follower of each exchange from now on, and of the end. @returns a function that unsubscribes */
  follow(follower: Follower): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }

  add(record: ExchangeRecord): void {
    for (const { onExchange } of this.#followers) onExchange(record)
    if (this.#limit === 0 || this.#isClosed) return
    if (this.#count === this.#limit) this.dropOldest()
    const place = (this.#first + this.#count) % this.#limit
    const weight = weightOf(record)
    this.#records[place] = record
    this.#weights[place] = weight
    this.#count++
    this.#bytes += weight
    while (this.#bytes > LOG_BYTES_A_SPACE && this.#count > 1) this.dropOldest()
    this.#budget.book(weight)
  }

  /** @returns whether there was one */
  dropOldest(): boolean {
    if (this.#count === 0) return false
    const weight = this.#weights[this.#first] ?? 0
    this.#records[this.#first] = undefined
    this.#first = (this.#first + 1) % this.#limit
    this.#count--
    this.#bytes -= weight
    this.#budget.book(-weight)
    return true
  }

  /** Kept exchanges, oldest first. */
  *[Symbol.iterator](): Generator<ExchangeRecord> {
    for (let i = 0; i < this.#count; i++) {
      const record = this.#records[(this.#first + i) % this.#limit]
      if (record !== undefined) yield record
    }
  }

  /** Drops all exchanges and counts from 1 again. */
  clear(): void {
    this.#budget.book(-this.#bytes)
    this.#records = []
    this.#weights = []
    this.#first = this.#count = this.#bytes = 0
    this.#nextId = 1
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
