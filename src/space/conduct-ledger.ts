import { Findings } from './findings.js'
import type { Answer } from './message.js'
import type { Visit } from './visit.js'

/** Keeps account of how well clients keep the service's rules, as requests pass; it does not end with the log. */
export class ConductLedger {
  readonly findings = new Findings()
  #requests = 0

  /** Exchanges that were judged. */
  get requests(): number {
    return this.#requests
  }

  /** Judges one exchange. @param id of the exchange */
  judge({ caller, path, now }: Visit, answer: Answer, id: number): void {
    this.#requests++
    if (caller.kind === 'address') {
      this.findings.add(
        {
          rule: 'unauthenticated',
          key: caller.label,
          operation: undefined,
          detail: path,
          message: `answered ${answer.status}`,
        },
        id,
        now,
      )
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#requests = 0
    this.findings.clear()
  }
}
