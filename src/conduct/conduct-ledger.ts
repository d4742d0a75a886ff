import { isBrowsersOwn } from '../domain/browsers-own.js'
import type { Caller } from '../domain/callers.js'
import type { Ending } from '../domain/ending.js'
import type { HandlerResult } from '../domain/messages.js'
import type { Limits } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import { countAgain, Findings, type Group, type SavedGroup } from './findings.js'
import type { JudgedRequest } from './judged-request.js'
import { identityOf, KeyConduct, type SavedKeyConduct } from './key-conduct.js'
import { beganAt, fingerprintOf, isReceived, mayTell, type News, newsOf } from './news.js'
import { type Remark, remarksOn } from './remarks.js'

type KeyCaller = Caller & { readonly kind: 'key' }

/** Unknown tokens (--any-key) that are told apart; the oldest makes room. */
const STRANGERS_KEPT = 1000

/** Answers under way that tell something; the oldest is forgotten, and tells nothing. */
const MOST_PENDING = 10_000

/** An answer that tells something, and has not ended. */
interface Pending {
  readonly account: KeyConduct
  readonly news: News
}

/** A ledger as plain JSON. */
export interface SavedConduct {
  readonly requests: number
  readonly findings: readonly SavedGroup[]
  readonly keys: readonly SavedKeyConduct[]
  readonly pending: readonly {
    readonly position: number
    readonly name: string
    readonly isStranger: boolean
    readonly news: News
  }[]
}

/**
 * Records how well clients keep the service's rules, as requests pass,
 * so that it does not depend on the log. Its size is bounded, whatever
 * clients send.
 *
 * Nothing is guessed from who sent what when: answers oblige their clients once
 * they were received, and then it only counts.
 */
export class ConductLedger {
  readonly findings = new Findings()
  readonly #plans: readonly Limits[]
  readonly #hide: ((text: string) => string) | undefined
  readonly #keys = new Map<string, KeyConduct>()
  readonly #strangers = new Map<string, KeyConduct>()
  /** By the ordinal of the request. */
  readonly #pending = new Map<number, Pending>()
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
   * Judges one exchange, in the order of arrival. What its answer tells begins when that has ended.
   *
   * @param at the id of the exchange, and the ordinal of its request: `ended` refers to it
   */
  judge(judged: JudgedRequest, answer: HandlerResult, at: { readonly id: number; readonly position: number }): void {
    const { caller, now, request } = judged
    if (isBrowsersOwn(request)) return
    const { id } = at
    this.#requests++
    const account = caller.kind === 'key' ? this.#of(caller) : undefined
    if (account !== undefined && (account.isTold || mayTell(answer))) this.#judgeReturn(account, judged, answer, at)
    for (const remark of remarksOn(judged, answer)) {
      // A remark that every request of an operation earns is the same object each time.
      const known = account?.findings.get(remark)
      if (known === undefined) {
        const found = this.#find(judged, id, remark)
        account?.findings.set(remark, found)
      } else countAgain(known, id, now)
    }
  }

  /** Whether it wants to hear what becomes of some answer. */
  get isListening(): boolean {
    return this.#pending.size > 0
  }

  /** What became of an answer. Of those that tell nothing it need not be said. */
  ended(ending: Ending): void {
    const pending = this.#pending.get(ending.position)
    if (pending === undefined) return
    this.#pending.delete(ending.position)
    if (isReceived(pending.news, ending.how)) pending.account.hear(pending.news, ending)
  }

  /** An answer that was sent may not have been read. @param position of the request that it answers */
  unread(position: number): void {
    for (const account of this.#keys.values()) account.unread(position)
    for (const account of this.#strangers.values()) account.unread(position)
  }

  /** The clock was set back to an instant: waits that began later are over. Findings stay. */
  forgetFuture(now: EpochMs): void {
    for (const account of this.keys()) account.forgetFuture(now)
    for (const [position, { news }] of this.#pending) if (beganAt(news) > now) this.#pending.delete(position)
  }

  /** Forgets everything. */
  clear(): void {
    this.#requests = 0
    this.findings.clear()
    this.#keys.clear()
    this.#strangers.clear()
    this.#pending.clear()
  }

  /** All of it, as plain JSON; `restore` on a new ledger of the same plans goes on from there. */
  save(): SavedConduct {
    return {
      requests: this.#requests,
      findings: this.findings.save(),
      keys: this.keys().map((account) => account.save()),
      pending: [...this.#pending].flatMap(([position, { account, news }]) => {
        const { name, isStranger } = account.identity
        // One of a stranger who has made room tells nobody anything, whoever has the name by now.
        return this.#accounts(isStranger).get(name) === account ? [{ position, name, isStranger, news }] : []
      }),
    }
  }

  restore({ requests, findings, keys, pending }: SavedConduct): void {
    this.clear()
    this.#requests = requests
    this.findings.restore(findings)
    for (const saved of keys) {
      const { identity } = saved
      this.#accounts(identity.isStranger).set(identity.name, new KeyConduct({ ...identity }, this.#plans, saved))
    }
    for (const { position, name, isStranger, news } of pending) {
      const account = this.#accounts(isStranger).get(name)
      if (account !== undefined) this.#pending.set(position, { account, news })
    }
  }

  /** Whether it came when it was allowed to, and what it is told in turn. */
  #judgeReturn(
    account: KeyConduct,
    judged: JudgedRequest,
    answer: HandlerResult,
    { id, position }: { readonly id: number; readonly position: number },
  ): void {
    const fingerprint = fingerprintOf(judged.request)
    for (const remark of account.judge(judged, answer, fingerprint)) this.#find(judged, id, remark)
    const news = mayTell(answer) ? newsOf(answer, judged, fingerprint) : undefined
    if (news === undefined) return
    this.#pending.set(position, { account, news })
    if (this.#pending.size <= MOST_PENDING) return
    const [oldest] = this.#pending.keys()
    if (oldest !== undefined) this.#pending.delete(oldest)
  }

  #find({ caller, route, now }: JudgedRequest, id: number, remark: Remark): Group {
    const operation = route.kind === 'operation' ? route.operation.id : null
    const hide = this.#hide ?? asItIs
    const { detail, message } = remark
    return this.findings.add(
      { ...remark, key: caller.label, operation, detail: hide(detail), message: hide(message) },
      id,
      now,
    )
  }

  #accounts(isStranger: boolean): Map<string, KeyConduct> {
    return isStranger ? this.#strangers : this.#keys
  }

  #of(caller: KeyCaller): KeyConduct {
    const { name, isStranger } = caller
    const accounts = this.#accounts(isStranger)
    const known = accounts.get(name)
    if (known !== undefined) return known
    const opened = new KeyConduct(identityOf(caller), this.#plans)
    accounts.set(name, opened)
    if (isStranger && accounts.size > STRANGERS_KEPT) {
      const [oldest] = accounts.keys()
      if (oldest !== undefined) accounts.delete(oldest)
    }
    return opened
  }
}

function asItIs(text: string): string {
  return text
}
