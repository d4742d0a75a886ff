import type { EpochMs } from '../domain/time.js'
import type { Breach, BreachRule } from './exchange.js'

/** One way in which the real service drifts from the contract, however often it was seen. */
export interface DriftFinding {
  readonly operation: string
  readonly rule: BreachRule
  /** As it was first seen: numbers and what is quoted may have been others since. */
  readonly detail: string
  readonly count: number
  /** ISO 8601, UTC, by the space's clock. */
  readonly first: string
  readonly last: string
  /** Ids of the exchanges in which it was seen first. */
  readonly exchanges: readonly number[]
}

/** What was found of the answers that the real service gave in a space. */
export interface Drift {
  /** Answers that were held against the contract. */
  readonly checked: number
  /** Of these, answers that drift. */
  readonly drifted: number
  /** Requests that the real service gave no answer to, or none that could be used. */
  readonly unanswered: number
  readonly findings: readonly DriftFinding[]
  /** Findings beyond as many as are kept. */
  readonly leftOut: number
}

/** How the real service was when it was asked last. */
export interface UpstreamState {
  /** `failing`: it gave no answer that can be used, or a 5xx. */
  readonly is: 'unasked' | 'up' | 'failing'
  /** Why it fails: `upstream_timeout`, or the status of its answer, such as `503`; null unless it does. */
  readonly code: string | null
  /** Since when it is so: ISO 8601, UTC, by the space's clock; null while it was not asked. */
  readonly since: string | null
}

/** As plain data. */
export interface SavedDrift extends Omit<Drift, 'findings'> {
  readonly last: LastAsked | null
  readonly findings: readonly (readonly [string, Kept])[]
}

interface LastAsked {
  readonly failure: string | null
  readonly since: EpochMs
}

interface Kept {
  readonly operation: string
  readonly rule: BreachRule
  readonly detail: string
  readonly first: EpochMs
  readonly exchanges: readonly number[]
  readonly count: number
  readonly last: EpochMs
}

/** More ways than a service drifts in: a hostile one must not fill the memory. */
const MOST_FINDINGS = 500
const MOST_EXCHANGES = 10

/** Counts how forwarded answers of one space drift. */
export class DriftLedger {
  #checked = 0
  #drifted = 0
  #unanswered = 0
  #leftOut = 0
  #last: LastAsked | null = null
  readonly #findings = new Map<string, Kept>()

  /** An answer was held against the contract. */
  add(operation: string, breaches: readonly Breach[], exchange: number, at: EpochMs): void {
    this.#checked++
    if (breaches.length === 0) return
    this.#drifted++
    for (const { rule, detail } of breaches) {
      const key = `${operation} ${rule} ${kindOf(detail)}`
      const known = this.#findings.get(key)
      if (known !== undefined) {
        const exchanges =
          known.exchanges.length < MOST_EXCHANGES && known.exchanges.at(-1) !== exchange
            ? [...known.exchanges, exchange]
            : known.exchanges
        this.#findings.set(key, { ...known, exchanges, count: known.count + 1, last: at })
      } else if (this.#findings.size < MOST_FINDINGS)
        this.#findings.set(key, { operation, rule, detail, first: at, last: at, exchanges: [exchange], count: 1 })
      else this.#leftOut++
    }
  }

  /** The real service gave no answer that can be used. @param code of what is answered instead */
  missed(code: string, at: EpochMs): void {
    this.#unanswered++
    this.#is(code, at)
  }

  /** The real service answered. */
  answered(status: number, at: EpochMs): void {
    this.#is(status >= 500 ? String(status) : null, at)
  }

  #is(failure: string | null, at: EpochMs): void {
    if (this.#last === null || this.#last.failure !== failure) this.#last = { failure, since: at }
  }

  /** How the real service was when it was asked last. */
  upstream(): UpstreamState {
    if (this.#last === null) return { is: 'unasked', code: null, since: null }
    const { failure, since } = this.#last
    return { is: failure === null ? 'up' : 'failing', code: failure, since: new Date(since).toISOString() }
  }

  report(): Drift {
    return {
      checked: this.#checked,
      drifted: this.#drifted,
      unanswered: this.#unanswered,
      findings: [...this.#findings.values()].map(({ first, last, ...finding }) => ({
        ...finding,
        first: new Date(first).toISOString(),
        last: new Date(last).toISOString(),
      })),
      leftOut: this.#leftOut,
    }
  }

  save(): SavedDrift {
    return {
      checked: this.#checked,
      drifted: this.#drifted,
      unanswered: this.#unanswered,
      leftOut: this.#leftOut,
      last: this.#last,
      findings: [...this.#findings],
    }
  }

  restore({ checked, drifted, unanswered, leftOut, last, findings }: SavedDrift): void {
    this.#last = last
    this.#checked = checked
    this.#drifted = drifted
    this.#unanswered = unanswered
    this.#leftOut = leftOut
    this.#findings.clear()
    for (const [key, kept] of findings) this.#findings.set(key, kept)
  }
}

/** What two details have in common that tell of the same drift. */
export function kindOf(detail: string): string {
  return detail.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/-?\d+(?:\.\d+)?/g, '0')
}
