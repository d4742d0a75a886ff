import type { Account, Caller } from '../domain/callers.js'
import type { HandlerResult } from '../domain/messages.js'
import type { Limits } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import { countAgain, Findings, type Group } from './findings.js'
import type { JudgedRequest } from './judged-request.js'
import { KeyConduct } from './key-conduct.js'
import { type Remark, remarksOn } from './remarks.js'

type KeyCaller = Caller & { readonly kind: 'key' }

/** Unknown tokens (--any-key) that are told apart; the oldest makes room. */
const STRANGERS_KEPT = 1000

/**
 * Records how well clients keep the service's rules, as requests pass,
 * so that it does not depend on the log. Its size is bounded, whatever
 * clients send.
 */
export class ConductLedger {
  readonly findings = new Findings()
  readonly #plans: readonly Limits[]
  readonly #hide: ((text: string) => string) | undefined
  readonly #keys = new Map<string, KeyConduct>()
  readonly #strangers = new Map<Account, KeyConduct>()
  #requests = 0

  /**
   * @param plans limits of the plans, smallest first
   * @param hide  hides secrets in what a finding quotes
   */
  constructor(plans: readonly Limits[], hide?: (text: string) => string) {
    this.#plans = plans
    this.#hide = hide
  }

  /** Exchanges that were judged. */
  get requests(): number {
    return this.#requests
  }

  /** Accounts of the keys, in the order of their first request; strangers last. */
  keys(): readonly KeyConduct[] {
    return [...this.#keys.values(), ...this.#strangers.values()]
  }

  /** Counts a request that got as far as the quota. */
  count(judged: JudgedRequest): void {
    const { caller } = judged
    if (caller.kind === 'key') this.#of(caller).count(judged)
  }

  /**
   * Judges one exchange.
   *
   * @param id        of the exchange
   * @param startedAt when the request arrived, monotonic
   * @param dueAt     when its response is sent, monotonic
   */
  judge(judged: JudgedRequest, answer: HandlerResult, id: number, startedAt = 0, dueAt = 0): void {
    const { caller, now } = judged
    this.#requests++
    const account = caller.kind === 'key' ? this.#of(caller) : undefined
    for (const remark of account?.judge(judged, answer, startedAt, dueAt) ?? []) this.#find(judged, id, remark)
    for (const remark of remarksOn(judged, answer)) {
      // A remark that every request of an operation earns is the same object each time.
      const known = account?.findings.get(remark)
      if (known === undefined) {
        const found = this.#find(judged, id, remark)
        account?.findings.set(remark, found)
      } else countAgain(known, id, now)
    }
  }

  /** The clock was set back to an instant: waits that began later are over. Findings stay. */
  forgetFuture(now: EpochMs): void {
    for (const account of this.keys()) account.forgetFuture(now)
  }

  ended(_ended: unknown, _at: number, _instant: unknown): void {}

  /** Forgets everything. */
  clear(): void {
    this.#requests = 0
    this.findings.clear()
    this.#keys.clear()
    this.#strangers.clear()
  }

  #find({ caller, route, now }: JudgedRequest, id: number, { rule, detail, message }: Remark): Group {
    const operation = route.kind === 'operation' ? route.operation.id : undefined
    const hide = this.#hide
    const found = hide === undefined ? { detail, message } : { detail: hide(detail), message: hide(message) }
    return this.findings.add({ rule, key: caller.label, operation, ...found }, id, now)
  }

  #of({ label, apiKey, account, isStranger }: KeyCaller): KeyConduct {
    const known = isStranger ? this.#strangers.get(account) : this.#keys.get(label)
    if (known !== undefined) return known
    const opened = new KeyConduct(apiKey, this.#plans)
    if (isStranger) {
      this.#strangers.set(account, opened)
      const [oldest] = this.#strangers.keys()
      if (this.#strangers.size > STRANGERS_KEPT && oldest !== undefined) this.#strangers.delete(oldest)
    } else this.#keys.set(label, opened)
    return opened
  }
}
