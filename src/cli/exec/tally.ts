import type { Reason } from '../../domain/reasons.js'
import { kindOf } from '../../drift/ledger.js'
import type { ExchangeRecord } from '../../exchanges/exchange-record.js'
import type { DriftSeen } from '../conduct/conduct-report.js'
import { escapeControls } from '../escape-controls.js'

/** How many operations a line names; the rest are only counted. */
const MOST_NAMES = 5

/** The traffic of a run. */
export interface Summary {
  readonly requests: number
  /** Operations that were called at least once, whatever the answer. */
  readonly reached: readonly string[]
  readonly missed: readonly string[]
  /** How many requests were refused with a 429 or a ban, by reason. */
  readonly refused: ReadonlyMap<Reason | 'other', number>
}

type Counted = Pick<ExchangeRecord, 'operation' | 'status' | 'reason' | 'drift'>

/** More than anyone reads. */
const MOST_DRIFTS = 500

/** Counts exchanges as they happen, so the summary does not depend on the log. */
export class Tally {
  #requests = 0
  readonly #reached = new Set<string>()
  readonly #refused = new Map<Reason | 'other', number>()
  readonly #drifts = new Map<string, DriftSeen>()

  add({ operation, status, reason, drift = [] }: Counted): void {
    for (const detail of drift) this.#addDrift(operation ?? '', detail)
    this.#requests++
    if (operation !== undefined) this.#reached.add(operation)
    if (status !== 429 && reason !== 'ban') return
    const why = reason ?? 'other'
    this.#refused.set(why, (this.#refused.get(why) ?? 0) + 1)
  }

  /** How the real service has drifted. */
  drift(): readonly DriftSeen[] {
    return [...this.#drifts.values()]
  }

  #addDrift(operation: string, detail: string): void {
    const key = `${operation} ${kindOf(detail)}`
    const known = this.#drifts.get(key)
    if (known !== undefined) this.#drifts.set(key, { ...known, count: known.count + 1 })
    else if (this.#drifts.size < MOST_DRIFTS) this.#drifts.set(key, { operation, detail, count: 1 })
  }

  /** @param operations all that the contract has, in its order */
  summary(operations: readonly string[]): Summary {
    return {
      requests: this.#requests,
      reached: operations.filter((operation) => this.#reached.has(operation)),
      missed: operations.filter((operation) => !this.#reached.has(operation)),
      refused: new Map(this.#refused),
    }
  }
}

/** `petstore-sandbox: 12 requests; 3 of 4 operations reached (not listOrders); 2 refused (quota-minute 2)` */
export function prettySummary({ requests, reached, missed, refused }: Summary): string {
  const refusals = [...refused].map(([reason, count]) => `${reason} ${count}`)
  const total = [...refused.values()].reduce((sum, count) => sum + count, 0)
  const parts = [
    `${requests} ${requests === 1 ? 'request' : 'requests'}`,
    `${reached.length} of ${reached.length + missed.length} operations reached${reached.length === 0 ? '' : within(named(missed), 'not ')}`,
    total === 0 ? 'none refused' : `${total} refused${within(refusals)}`,
  ]
  return escapeControls(`petstore-sandbox: ${parts.join('; ')}`)
}

export function jsonSummary(summary: Summary, conduct: object): string {
  return JSON.stringify({ event: 'summary', ...summaryFacts(summary), conduct })
}

/** The same for programs. */
export function summaryFacts({ requests, reached, missed, refused }: Summary) {
  return { requests, operations: { reached, missed }, refused: Object.fromEntries(refused) }
}

function named(operations: readonly string[]): readonly string[] {
  const rest = operations.length - MOST_NAMES
  return rest > 0 ? [...operations.slice(0, MOST_NAMES), `${rest} more`] : operations
}

function within(words: readonly string[], before = ''): string {
  return words.length === 0 ? '' : ` (${before}${words.join(', ')})`
}
