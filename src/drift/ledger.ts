import type { EpochMs } from '../domain/time.js'
import type { ContractRule, ContractViolation } from './find-violations.js'

/** One difference between the real service and the contract, with all its occurrences. */
export interface DriftFinding {
  readonly operation: string
  readonly rule: ContractRule
  /** Of the first occurrence; later ones may have other numbers and quotes. */
  readonly detail: string
  readonly count: number
  /** ISO 8601, UTC, by the space's clock. */
  readonly first: string
  readonly last: string
  /** Ids of its first exchanges. */
  readonly exchanges: readonly number[]
}

/** Differences between the real service's responses in a space and the contract. */
export interface Drift {
  /** Responses that were checked. */
  readonly checked: number
  /** Checked responses that differ. */
  readonly drifted: number
  /** Requests without a usable response. */
  readonly unanswered: number
  readonly findings: readonly DriftFinding[]
  /** Findings beyond the limit. */
  readonly leftOut: number
}

/** The state of the real service when it was last asked. */
export interface UpstreamState {
  /** `failing`: no usable response, or a 5xx. */
  readonly is: 'unasked' | 'up' | 'failing'
  /** `upstream_timeout`, or a status such as `503`; null unless it fails. */
  readonly code: string | null
  /** ISO 8601, UTC, by the space's clock; null while it was not asked. */
  readonly since: string | null
}

export interface SavedDrift extends Omit<Drift, 'findings'> {
  readonly last: LastAsked | null
  readonly findings: readonly (readonly [string, KeptFinding])[]
}

interface LastAsked {
  readonly failure: string | null
  readonly since: EpochMs
}

interface KeptFinding extends Omit<DriftFinding, 'first' | 'last'> {
  readonly first: EpochMs
  readonly last: EpochMs
}

/** A hostile service must not fill the memory. */
const MAX_FINDINGS = 500
const MAX_EXCHANGES = 10

export class DriftLedger {
  #counts = { checked: 0, drifted: 0, unanswered: 0, leftOut: 0 }
  #last: LastAsked | null = null
  #findings = new Map<string, KeptFinding>()

  add(operation: string, violations: readonly ContractViolation[], exchange: number, at: EpochMs): void {
    this.#counts.checked++
    if (violations.length > 0) this.#counts.drifted++
    for (const { rule, detail } of violations) {
      const key = `${operation} ${rule} ${driftKind(detail)}`
      const known = this.#findings.get(key) ?? { operation, rule, detail, count: 0, first: at, last: at, exchanges: [] }
      if (known.count === 0 && this.#findings.size >= MAX_FINDINGS) {
        this.#counts.leftOut++
        continue
      }
      const isKept = known.exchanges.length >= MAX_EXCHANGES || known.exchanges.at(-1) === exchange
      const exchanges = isKept ? known.exchanges : [...known.exchanges, exchange]
      this.#findings.set(key, { ...known, exchanges, count: known.count + 1, last: at })
    }
  }

  missed(code: string, at: EpochMs): void {
    this.#counts.unanswered++
    this.#setFailure(code, at)
  }

  answered(status: number, at: EpochMs): void {
    this.#setFailure(status >= 500 ? String(status) : null, at)
  }

  #setFailure(failure: string | null, at: EpochMs): void {
    if (this.#last === null || this.#last.failure !== failure) this.#last = { failure, since: at }
  }

  upstream(): UpstreamState {
    if (this.#last === null) return { is: 'unasked', code: null, since: null }
    const { failure, since } = this.#last
    return { is: failure === null ? 'up' : 'failing', code: failure, since: new Date(since).toISOString() }
  }

  report(): Drift {
    const { leftOut, ...counts } = this.#counts
    const findings = [...this.#findings.values()].map(({ first, last, ...finding }) => ({
      ...finding,
      first: new Date(first).toISOString(),
      last: new Date(last).toISOString(),
    }))
    return { ...counts, findings, leftOut }
  }

  save(): SavedDrift {
    return { ...this.#counts, last: this.#last, findings: [...this.#findings] }
  }

  restore({ last, findings, ...counts }: SavedDrift): void {
    this.#counts = { ...counts }
    this.#last = last
    this.#findings = new Map(findings)
  }
}

/** Details with the same kind describe the same drift. */
export function driftKind(detail: string): string {
  return detail.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/-?\d+(?:\.\d+)?/g, '0')
}
