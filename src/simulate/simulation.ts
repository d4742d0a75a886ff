import { countRequest, forgetFutureTraffic, openTraffic, refusalsOn, type Traffic } from '../conduct/what-if.js'
import type { Contract } from '../contract/contract.js'
import { planLimits } from '../core/plan-book.js'
import type { Caller } from '../domain/callers.js'
import { PLAN_NAMES } from '../domain/keys.js'
import { type Limits, NO_LIMITS } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import { BAN_RULES, Judge, type JudgeOptions, keyCaller, unauthenticatedCaller } from './judge.js'
import { type KeyField, KeyNames, MOST_KEYS } from './key-names.js'
import { copiesOf, type Scale } from './scale.js'
import { TimeOrder } from './time-order.js'
import { Timeline } from './timeline.js'
import type { TrafficRecord, TrafficSink } from './traffic-record.js'

/** Why a request is not simulated. */
export const LEFT_OUT = {
  elsewhere: 'for other hosts or paths',
  keyless: 'without a valid key (401)',
  madeUp: 'answered by a storm, a fault or Prefer',
  preflight: 'preflights of a browser',
  unsent: 'never sent: answered by a browser itself',
  underWay: 'still under way',
  alwaysRefused: 'with a key that is always refused',
  furtherKeys: `of further keys than the first ${MOST_KEYS}`,
} as const
export type LeftOutCause = keyof typeof LEFT_OUT

/** Of what cannot be read so many are named. */
const MOST_NAMED = 20
/** Addresses outside are counted by host and path, but not without end. */
const MOST_PLACES = 200

/** Answers that a fault made up before the quota was asked; any other only changes one on its way. */
const LATE_FAULT = 'slow-body'
/** Their quota says nothing. @source docs/behaviour.md, "Keys" */
const ALWAYS_REFUSED: readonly string[] = ['sandbox-limited', 'sandbox-banned']

export interface SimulationOptions {
  readonly contract: Contract
  readonly basePath: string
  /** Only requests to it, where the input says to which they were; lower case. */
  readonly host: string | undefined
  readonly keyField: KeyField
  readonly scale: Scale
  /** How many senders may share a key, 1 to 100. */
  readonly senders: number
}

/** Traffic of one key, once more, some times larger. */
interface GrownTraffic {
  readonly factor: number
  readonly traffic: Traffic
}

/** All that is kept of a key. */
export interface SimulatedKey {
  /** What the timeline knows it by. */
  readonly name: string
  readonly label: string
  /** Where its first request is. */
  readonly place: number
  /** The label stands for a secret. */
  readonly isHidden: boolean
  readonly traffic: Traffic
  readonly grown: readonly GrownTraffic[]
  readonly caller: Caller
}

interface KnownKey extends SimulatedKey {
  lastAt: EpochMs
}

/** A request that is replayed, and whose it is. */
interface Arrival {
  readonly at: EpochMs
  readonly record: TrafficRecord
  /** Undefined where it had no valid key. */
  readonly key: KnownKey | undefined
  /** It asks for quota; else only conduct looks at it. */
  readonly isCharged: boolean
}

/** What goes by one clock. */
interface SpaceReplay {
  readonly order: TimeOrder<Arrival>
  readonly judge: Judge
  lastAt: EpochMs
}

/**
 * Replays traffic on a clock that is moved by its own times: what would each plan have done with it, key by key?
 *
 * Its size is bounded: it keeps counts, and the requests of about a minute to put them into order.
 */
export class Simulation implements TrafficSink {
  readonly plans: readonly Limits[]
  readonly timeline = new Timeline()
  readonly #options: SimulationOptions
  readonly #names: KeyNames
  readonly #keys = new Map<string, KnownKey>()
  readonly #spaces = new Map<string, SpaceReplay>()
  readonly #leftOut = new Map<LeftOutCause, number>()
  readonly #badFirst: { readonly place: number; readonly problem: string }[] = []
  readonly #elsewhere = new Map<string, number>()
  readonly #hosts = new Map<string, number>()
  #bad = 0
  #read = 0
  #replayed = 0
  #from = Number.POSITIVE_INFINITY
  #to = Number.NEGATIVE_INFINITY
  /** It has been seen that unknown keys are refused, so that those that were limited had no quota of a key. */
  #refusesUnknown = false

  constructor(options: SimulationOptions) {
    this.#options = options
    this.plans = PLAN_NAMES.map((plan) => planLimits(options.contract, plan))
    this.#names = new KeyNames(options.keyField)
  }

  record(record: TrafficRecord): void {
    this.#read++
    const cause = this.#causeToLeaveOut(record)
    if (cause !== undefined) {
      this.#leaveOut(cause)
      // Who sends no key is judged all the same, where the input says what was sent.
      if (cause === 'keyless' && (record.answer !== undefined || record.own !== undefined))
        this.#arrive({ at: record.at, record, key: undefined, isCharged: false })
      if (cause !== 'madeUp' && cause !== 'alwaysRefused') return
    }
    const key = this.#keyOf(record)
    if (key !== undefined) this.#arrive({ at: record.at, record, key, isCharged: cause === undefined })
    else if (cause === undefined) this.#leaveOut('furtherKeys')
  }

  bad(place: number, problem: string): void {
    this.#bad++
    if (this.#badFirst.length < MOST_NAMED) this.#badFirst.push({ place, problem })
  }

  /** Replays what is left. */
  end(): void {
    for (const { order } of this.#spaces.values()) order.end()
  }

  /** What was read, and what of it was not simulated. */
  facts() {
    const spaces = [...this.#spaces.values()]
    return {
      read: this.#read,
      requests: this.#replayed,
      from: this.#replayed === 0 ? undefined : this.#from,
      to: this.#replayed === 0 ? undefined : this.#to,
      outOfOrder: spaces.reduce((sum, { order }) => sum + order.late, 0),
      bad: { count: this.#bad, first: this.#badFirst },
      leftOut: this.#leftOut,
      elsewhere: this.#elsewhere,
      hosts: this.#hosts,
    }
  }

  /** Those with requests that count, in the order of their first ones. */
  keys(): readonly SimulatedKey[] {
    return [...this.#keys.values()].filter(({ traffic }) => traffic.requests > 0)
  }

  conduct() {
    const reports = [...this.#spaces.values()].map(({ judge }) => judge.report())
    return {
      violations: reports.flatMap(({ violations }) => violations),
      warnings: reports.flatMap(({ warnings }) => warnings),
    }
  }

  #causeToLeaveOut(record: TrafficRecord): LeftOutCause | undefined {
    const { own, status } = record
    if (!this.#isHere(record)) return 'elsewhere'
    if (record.isUnsent) return 'unsent'
    if (isPreflight(record)) return 'preflight'
    if (own?.ended === null) return 'underWay'
    if (own !== undefined && isMadeUp(own.reason, own.fault)) return 'madeUp'
    if (own?.key === 'unknown' && status === 401) this.#refusesUnknown = true
    const isUnknown = own?.key === 'none' || (own?.key === 'unknown' && this.#refusesUnknown)
    if ((status === 401 && own?.reason !== 'ban') || isUnknown) return 'keyless'
    if (own !== undefined && ALWAYS_REFUSED.includes(own.key)) return 'alwaysRefused'
    return undefined
  }

  #isHere({ host, path }: TrafficRecord): boolean {
    const { basePath, host: wanted } = this.#options
    const isUnder = path.startsWith(basePath) && (path.length === basePath.length || path[basePath.length] === '/')
    if (isUnder && (wanted === undefined || host === undefined || host === wanted)) {
      if (host !== undefined) countIn(this.#hosts, host)
      return true
    }
    countIn(this.#elsewhere, `${host ?? ''}/${path.split('/')[1] ?? ''}`)
    return false
  }

  #leaveOut(cause: LeftOutCause): void {
    this.#leftOut.set(cause, (this.#leftOut.get(cause) ?? 0) + 1)
  }

  #keyOf(record: TrafficRecord): KnownKey | undefined {
    const { name, label, isHidden } = this.#names.of(record)
    const known = this.#keys.get(name)
    if (known !== undefined) return known
    if (this.#keys.size >= MOST_KEYS) return undefined
    const key: KnownKey = {
      name,
      label,
      place: record.place,
      isHidden,
      traffic: openTraffic(this.plans),
      grown: this.#options.scale.map((factor) => ({ factor, traffic: openTraffic(this.plans) })),
      caller: keyCaller(name, label),
      lastAt: Number.NEGATIVE_INFINITY,
    }
    this.#keys.set(name, key)
    return key
  }

  #arrive(arrival: Arrival): void {
    this.#spaceOf(arrival.record.own?.space ?? '').order.add(arrival)
  }

  /** Each space has a clock of its own. */
  #spaceOf(name: string): SpaceReplay {
    const known = this.#spaces.get(name)
    if (known !== undefined) return known
    const judgeOptions: JudgeOptions = this.#options
    const space: SpaceReplay = {
      order: new TimeOrder((arrival, at) => this.#replay(space, arrival, at)),
      judge: new Judge(judgeOptions),
      lastAt: Number.NEGATIVE_INFINITY,
    }
    this.#spaces.set(name, space)
    return space
  }

  #replay(space: SpaceReplay, { record, key, isCharged }: Arrival, at: EpochMs): void {
    if (at < space.lastAt) space.judge.forgetFuture(at)
    space.lastAt = at
    if (key === undefined) {
      space.judge.judge(record, at, unauthenticatedCaller(record))
      return
    }
    if (isCharged) {
      this.#replayed++
      if (at < this.#from) this.#from = at
      if (at > this.#to) this.#to = at
      this.#charge(key, at)
    }
    space.judge.judge(record, at, key.caller)
  }

  /** Asks every plan for the key's quota. */
  #charge(key: KnownKey, at: EpochMs): void {
    const { traffic, grown, lastAt } = key
    if (at < lastAt) {
      forgetFutureTraffic(traffic, at)
      for (const { traffic: larger } of grown) forgetFutureTraffic(larger, at)
    }
    key.lastAt = at
    const ordinal = traffic.requests
    const before = this.#before
    const after = this.#refusedNow
    for (let plan = 0; plan < before.length; plan++) before[plan] = refusalsOn(traffic, plan)
    countRequest(traffic, BAN_RULES, NO_LIMITS, at, at)
    for (let plan = 0; plan < before.length; plan++) after[plan] = refusalsOn(traffic, plan) - (before[plan] ?? 0)
    this.timeline.add(key.name, at, traffic.minute.used, traffic.day.used, after)
    for (const { factor, traffic: larger } of grown) {
      for (let copies = copiesOf(ordinal, factor); copies > 0; copies--) {
        countRequest(larger, BAN_RULES, NO_LIMITS, at, at)
      }
    }
  }

  /** Kept, so that a request makes no lists. */
  readonly #before: number[] = PLAN_NAMES.map(() => 0)
  readonly #refusedNow: number[] = PLAN_NAMES.map(() => 0)
}

/** A browser asks by itself whether it may; that costs no quota. An access log has no headers that would say so. */
function isPreflight({ method, headers, answer }: TrafficRecord): boolean {
  if (method !== 'OPTIONS') return false
  return answer === undefined || headers?.['access-control-request-method'] !== undefined
}

/** Whether the sandbox answered before it asked the quota. */
function isMadeUp(reason: string | null, fault: string | null): boolean {
  return (
    reason === 'storm' ||
    reason === 'forced' ||
    reason === 'unavailable' ||
    (reason === 'fault' && fault !== LATE_FAULT)
  )
}

function countIn(counts: Map<string, number>, name: string): void {
  const known = counts.get(name)
  if (known !== undefined || counts.size < MOST_PLACES) counts.set(name, (known ?? 0) + 1)
}
