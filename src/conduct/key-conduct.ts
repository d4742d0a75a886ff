import type { Caller } from '../domain/callers.js'
import type { Ending } from '../domain/ending.js'
import type { PlanName } from '../domain/keys.js'
import type { HandlerResult } from '../domain/messages.js'
import { type Limits, NO_LIMITS } from '../domain/quota.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'
import type { Group } from './findings.js'
import type { Arrival, JudgedRequest } from './judged-request.js'
import { isServed, type News } from './news.js'
import { type Remark, whatWasSent } from './remarks.js'
import {
  FORGOTTEN_AFTER_MS,
  lacksBackoff,
  noRetries,
  noteFailure,
  noteTry,
  type Retries,
  sinceLastFailure,
  type Try,
} from './retries.js'
import { countRunning, isRunning, type Running, type Wait } from './waits.js'
import {
  countRequest,
  forgetFutureTraffic,
  openTraffic,
  restoreTraffic,
  type SavedTraffic,
  saveTraffic,
  type Traffic,
} from './what-if.js'

/** Kept of each key; the oldest is forgotten, which is to its senders' advantage. */
const MOST_WAITS = 200
const MOST_RETRIES = 100

/** Whose conduct it is. Of a key no more is kept than its label: it may be a secret. */
export interface KeyIdentity {
  /** The label of a key; the name of a stranger's account. */
  readonly name: string
  readonly isStranger: boolean
  readonly label: string
  readonly plan: PlanName
  /** Always limited or banned, so that it says nothing about plans. */
  readonly isAlwaysRefused: boolean
}

export interface SavedKeyConduct {
  readonly identity: KeyIdentity
  readonly traffic: SavedTraffic
  readonly waits: readonly Wait[]
  readonly retries: readonly (readonly [fingerprint: string, Retries])[]
  readonly mostTold: readonly (readonly [operation: string, number])[]
}

/** The conduct of one key: what its senders were told, and what each plan would do with its traffic. */
export class KeyConduct {
  readonly identity: KeyIdentity
  readonly traffic: Traffic
  /** Where remarks on single exchanges are counted, so that what comes with every request need not be looked up by its words. */
  readonly findings = new WeakMap<Remark, Group>()
  #waits: Wait[]
  /** By fingerprint; the one that failed longest ago first. */
  readonly #retries: Map<string, Retries>
  /** The most senders, but not all, who had been told to wait when a request of an operation came again. */
  readonly #mostTold: Map<string, number>

  constructor(identity: KeyIdentity, plans: readonly Limits[], saved?: SavedKeyConduct) {
    this.identity = identity
    this.traffic = saved === undefined ? openTraffic(plans) : restoreTraffic(plans, saved.traffic)
    this.#waits = [...(saved?.waits ?? [])]
    this.#retries = new Map(saved?.retries.map(copyOf))
    this.#mostTold = new Map(saved?.mostTold)
  }

  save(): SavedKeyConduct {
    return {
      identity: { ...this.identity },
      traffic: saveTraffic(this.traffic),
      waits: [...this.#waits],
      retries: [...this.#retries].map(copyOf),
      mostTold: [...this.#mostTold],
    }
  }

  /** Whether anybody was told anything: without that, a request can break no rule on coming back. */
  get isTold(): boolean {
    return this.#waits.length > 0 || this.#retries.size > 0
  }

  /** Counts a request that asks for quota. */
  count({ space: { settings }, caller, now, wall }: JudgedRequest): void {
    if (this.identity.isAlwaysRefused) return
    countRequest(this.traffic, settings, settings.rateLimit ? caller.limits : NO_LIMITS, now, wall)
  }

  /** The clock has gone back to an instant: nobody need wait for the end of what began later. */
  forgetFuture(now: EpochMs): void {
    this.#waits = this.#waits.filter(({ from }) => from <= now)
    for (const [fingerprint, { told }] of this.#retries) {
      if (told.some((at, index) => index % 2 === 0 && at > now)) this.#retries.delete(fingerprint)
    }
    forgetFutureTraffic(this.traffic, now)
  }

  /** An answer was received. */
  hear(news: News, { position, at, wall, endedAt, connection }: Ending): void {
    if (news.kind === 'failure') {
      const retries = this.#retries.get(news.fingerprint) ?? noRetries()
      noteFailure(retries, at, wall)
      this.#retries.delete(news.fingerprint)
      this.#retries.set(news.fingerprint, retries)
      if (this.#retries.size > MOST_RETRIES) this.#retries.delete(oldestOf(this.#retries))
    } else if (isRunning(news.wait, at, wall)) {
      this.#waits.push({ ...news.wait, position, endedAt, connection })
      if (this.#waits.length > MOST_WAITS) this.#waits.shift()
    }
  }

  /** The answer to a request may not have been read, though it was sent: nobody need wait for what it named. */
  unread(position: number): void {
    const index = this.#waits.findIndex((wait) => wait.position === position)
    if (index !== -1) this.#waits.splice(index, 1)
  }

  /** Judges whether a request came when it was allowed to, in the light of what its key was told before. */
  judge(judged: JudgedRequest, answer: HandlerResult, fingerprint: string): readonly Remark[] {
    if (!this.isTold) return []
    this.#forgetFailures(judged)
    const { senders } = judged.space
    const running = countRunning(this.#waits, fingerprint, judged)
    const retries = this.#retries.get(fingerprint)
    const another = retries && noteTry(retries, senders, judged)
    if (isServed(answer)) this.#retries.delete(fingerprint)
    const isLikely = running.own > 0 && running.own < senders && this.#isMore(running.own, judged)
    return [...onWaits(judged, answer, running, isLikely), ...onTry(judged, another)]
  }

  /** Whether so many had never been told before: of a crew that keeps the rules, some wait at nearly every request of another. */
  #isMore(told: number, { route }: JudgedRequest): boolean {
    const operation = route.kind === 'operation' ? route.operation.id : ''
    if (told <= (this.#mostTold.get(operation) ?? 0)) return false
    this.#mostTold.set(operation, told)
    return true
  }

  /** Lets go of those that are long ago, so that a key that has recovered costs nothing. */
  #forgetFailures(arrival: Arrival): void {
    for (const [fingerprint, retries] of this.#retries) {
      if (sinceLastFailure(retries, arrival) < FORGOTTEN_AFTER_MS) return
      this.#retries.delete(fingerprint)
    }
  }
}

/** Who a caller with a key is, as far as conduct keeps it. */
export function identityOf({ name, label, apiKey, isStranger }: Caller & { readonly kind: 'key' }): KeyIdentity {
  const { plan = 'free', always } = apiKey
  return { name, isStranger, label, plan, isAlwaysRefused: always !== undefined }
}

function onWaits(judged: JudgedRequest, answer: HandlerResult, running: Running, isLikely: boolean): readonly Remark[] {
  const { own, limits, bans } = running
  const { senders } = judged.space
  const what = whatWasSent(judged)
  const detail = detailOf(judged)
  const remarks: Remark[] = []
  if (own >= senders) {
    const who = senders === 1 ? '' : ` by one of ${senders} senders, all of them told to wait,`
    const message = `${what} was sent again${who} ${lengthOf(running.ownLeft)} before its Retry-After had passed.${heldBack(judged)}`
    remarks.push({ rule: 'early-retry', detail, message, senders: own + 1 })
  } else if (isLikely) {
    const message = `${what} was sent again ${lengthOf(running.ownLeft)} before a Retry-After had passed: by ${told(own)}, or by another of ${senders} senders.`
    remarks.push({ rule: 'early-retry-likely', detail, message, senders: 1 })
  }
  if (answer.reason === 'ban') {
    if (bans >= senders) {
      const message = `${what} was sent although its key had been told that it is banned.`
      remarks.push({ rule: 'request-while-banned', detail, message, senders: bans + 1 })
    }
  } else if (own === 0 && limits >= senders && answer.reason !== 'forced') {
    const message = `${what} was sent although its key had been told to wait another ${lengthOf(running.limitLeft)}.`
    remarks.push({ rule: 'request-while-limited', detail, message, senders: limits + 1 })
  }
  return remarks
}

function onTry(judged: JudgedRequest, another: Try | undefined): readonly Remark[] {
  if (another === undefined) return []
  const { senders } = judged.space
  const what = whatWasSent(judged)
  const detail = detailOf(judged)
  const { gap, instant, excusedBy } = another
  const after = `${what} was tried again ${lengthOf(gap)} after a failure`
  if (lacksBackoff(another, senders)) {
    return [
      {
        rule: 'no-backoff',
        detail,
        message: `${after}: ${instant} tries in a row without a wait.`,
        senders: excusedBy,
      },
    ]
  }
  if (!another.isWeak) return []
  return [{ rule: 'weak-backoff', detail, message: `${after}: its waits do not grow.` }]
}

function told(count: number): string {
  return count === 1 ? 'the one who was told' : `one of the ${count} who were told`
}

/** Only browsers send Sec-Fetch-Site. StrictMode runs effects twice while a page is being developed. */
function heldBack({ request: { method, headers }, space: { senders } }: JudgedRequest): string {
  if (senders > 1 || method !== 'GET' || headers['sec-fetch-site'] === undefined) return ''
  return " A browser holds back a GET while the same is under way (as React's StrictMode makes it): that page is two senders."
}

/** Requests of one operation are reported together. */
function detailOf(judged: JudgedRequest): string {
  return judged.route.kind === 'operation' ? '' : whatWasSent(judged)
}

function copyOf([fingerprint, { told, instant, gaps }]: readonly [string, Retries]): readonly [string, Retries] {
  return [fingerprint, { told: [...told], instant: [...instant], gaps: [...gaps] }]
}

function oldestOf(retries: ReadonlyMap<string, Retries>): string {
  const [oldest = ''] = retries.keys()
  return oldest
}

/** In seconds, or in milliseconds below a tenth of one. */
function lengthOf(duration: DurationMs): string {
  return duration < SECOND_MS / 10 ? `${Math.ceil(duration)} ms` : `${(duration / SECOND_MS).toFixed(1)} s`
}
