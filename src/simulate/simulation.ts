import { countRequest, forgetFutureTraffic, openTraffic, type Traffic } from '../conduct/what-if.js'
import type { Contract } from '../contract/contract.js'
import { planLimits } from '../core/keyring.js'
import { BODY_FAULTS } from '../domain/faults.js'
import { ALWAYS_REFUSED, PLAN_NAMES } from '../domain/keys.js'
import { type Limits, NO_LIMITS } from '../domain/quota.js'
import { isSecretName } from '../domain/redaction.js'
import type { EpochMs } from '../domain/time.js'
import { BAN_RULES, Judge, keyCaller, unauthenticatedCaller } from './judge.js'
import { TimeOrder } from './time-order.js'
import { Timeline } from './timeline.js'
import type { TrafficRecord, TrafficSink } from './traffic-record.js'

interface NamedKey {
  readonly name: string
  readonly label: string
  readonly isHidden: boolean
}

const ONE_KEY = 'one'
const MAX_KEYS = 10_000

const FURTHER: NamedKey = { name: '\n', label: '(further)', isHidden: true }
const NONE: NamedKey = { name: 'none', label: '(none)', isHidden: false }
/** The sandbox's own keys are public. @source docs/behaviour.md, "Keys" */
const FIXTURE_KEY = /^sandbox(?:-[a-z]+)?(?:~[A-Za-z0-9._-]{1,64})?$/

/** Names the keys of some traffic. A key that may be a secret gets a number, in order of appearance. */
class KeyNames {
  readonly #field: string | undefined
  readonly #hidden = new Map<string, NamedKey>()

  /** @param field header or query parameter that tells keys apart, or `one`; undefined for what the form has */
  constructor(field: string | undefined) {
    this.#field = field
  }

  of({ own, user, headers, query }: TrafficRecord): NamedKey {
    const field = this.#field
    if (field === ONE_KEY) return shown('all')
    if (field !== undefined) {
      const value = headers?.[field.toLowerCase()] ?? (query.includes(field) && new URLSearchParams(query).get(field))
      if (!value) return NONE
      return isSecretName(field) ? this.#numbered(value) : shown(value)
    }
    if (own !== undefined) return shown(own.space === '' ? own.key : `${own.key}~${own.space}`)
    if (user !== undefined) return shown(user)
    return headers?.authorization === undefined ? NONE : this.#numbered(headers.authorization)
  }

  #numbered(value: string): NamedKey {
    const secret = value.replace(/^bearer +/i, '').trim()
    if (FIXTURE_KEY.test(secret)) return shown(secret)
    const known = this.#hidden.get(secret)
    if (known !== undefined) return known
    if (this.#hidden.size >= MAX_KEYS) return FURTHER
    const label = `key ${this.#hidden.size + 1}`
    const named = { name: `\n${label}`, label, isHidden: true }
    this.#hidden.set(secret, named)
    return named
  }
}

function shown(label: string): NamedKey {
  return { name: label, label, isHidden: false }
}

export const LEFT_OUT = {
  elsewhere: 'for other hosts or paths',
  keyless: 'without a valid key (401)',
  madeUp: 'answered by a storm, a fault or Prefer',
  preflight: 'preflights of a browser',
  unsent: 'never sent: answered by a browser itself',
  underWay: 'still under way',
  alwaysRefused: 'with a key that is always refused',
  furtherKeys: `of further keys than the first ${MAX_KEYS}`,
} as const
export type LeftOutCause = keyof typeof LEFT_OUT

const MAX_BAD_NAMED = 20
const MAX_PLACES = 200

export interface SimulationOptions {
  readonly contract: Contract
  readonly basePath: string
  /** Only requests to it, where the input has hosts; lower case. */
  readonly host: string | undefined
  readonly keyField: string | undefined
  readonly scale: readonly number[]
  readonly senders: number | undefined
}

export interface SimulatedKey {
  readonly name: string
  readonly label: string
  readonly place: number
  readonly isHidden: boolean
  readonly traffic: Traffic
  readonly scaled: readonly Traffic[]
  readonly caller: ReturnType<typeof keyCaller>
  lastAt: EpochMs
}

interface Arrival {
  readonly at: EpochMs
  readonly record: TrafficRecord
  readonly key: SimulatedKey | undefined
  /** Whether it charges quota; otherwise it only counts for conduct. */
  readonly isCharged: boolean
}

interface SpaceReplay {
  readonly order: TimeOrder<Arrival>
  readonly judge: Judge
  lastAt: EpochMs
}

/** Replays traffic on a clock moved by its own times. Keeps counts, and about a minute of requests to sort them. */
export class Simulation implements TrafficSink {
  readonly plans: readonly Limits[]
  readonly options: SimulationOptions
  readonly timeline = new Timeline()
  read = 0
  requests = 0
  from = Number.POSITIVE_INFINITY
  to = Number.NEGATIVE_INFINITY
  badCount = 0
  readonly firstBad: { readonly place: number; readonly problem: string }[] = []
  readonly leftOut = new Map<LeftOutCause, number>()
  readonly elsewhere = new Map<string, number>()
  readonly hosts = new Map<string, number>()
  readonly #names: KeyNames
  readonly #keys = new Map<string, SimulatedKey>()
  readonly #spaces = new Map<string, SpaceReplay>()
  /** Unknown keys were refused, so requests with one that were limited had no quota of a key. */
  #refusesUnknown = false

  constructor(options: SimulationOptions) {
    this.options = options
    this.plans = PLAN_NAMES.map((plan) => planLimits(options.contract, plan))
    this.#names = new KeyNames(options.keyField)
  }

  record(given: TrafficRecord): void {
    this.read++
    const record = this.#withKey(given)
    const cause = this.#causeToLeaveOut(record)
    const { at, response, own } = record
    if (cause !== undefined) {
      count(this.leftOut, cause)
      // A client without a key is judged if the input has its responses.
      if (cause === 'keyless' && (response !== undefined || own !== undefined))
        this.#arrive({ at, record, key: undefined, isCharged: false })
      if (cause !== 'madeUp' && cause !== 'alwaysRefused') return
    }
    const key = this.#keyOf(record)
    if (key !== undefined) this.#arrive({ at, record, key, isCharged: cause === undefined })
    else if (cause === undefined) count(this.leftOut, 'furtherKeys')
  }

  #withKey(record: TrafficRecord): TrafficRecord {
    const { headers = {} } = record
    const name = this.options.contract.keyHeaders.map((header) => header.name.toLowerCase()).find((one) => headers[one])
    const authorization = headers[name ?? '']
    return authorization === undefined ? record : { ...record, headers: { ...headers, authorization } }
  }

  bad(place: number, problem: string): void {
    this.badCount++
    if (this.firstBad.length < MAX_BAD_NAMED) this.firstBad.push({ place, problem })
  }

  end(): void {
    for (const { order } of this.#spaces.values()) order.end()
  }

  get outOfOrder(): number {
    return [...this.#spaces.values()].reduce((sum, { order }) => sum + order.late, 0)
  }

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
    return own !== undefined && ALWAYS_REFUSED.includes(own.key) ? 'alwaysRefused' : undefined
  }

  #isHere({ host, path }: TrafficRecord): boolean {
    const { basePath, host: wanted } = this.options
    const isUnder = path === basePath || path.startsWith(`${basePath}/`)
    const isHere = isUnder && (wanted === undefined || host === undefined || host === wanted)
    if (!isHere) count(this.elsewhere, `${host ?? ''}/${path.split('/')[1] ?? ''}`, MAX_PLACES)
    else if (host !== undefined) count(this.hosts, host, MAX_PLACES)
    return isHere
  }

  #keyOf(record: TrafficRecord): SimulatedKey | undefined {
    const named = this.#names.of(record)
    const known = this.#keys.get(named.name)
    if (known !== undefined || this.#keys.size >= MAX_KEYS) return known
    const key: SimulatedKey = {
      ...named,
      place: record.place,
      traffic: openTraffic(this.plans),
      scaled: this.options.scale.map(() => openTraffic(this.plans)),
      caller: keyCaller(named.name, named.label),
      lastAt: Number.NEGATIVE_INFINITY,
    }
    this.#keys.set(named.name, key)
    return key
  }

  #arrive(arrival: Arrival): void {
    const name = arrival.record.own?.space ?? ''
    const space: SpaceReplay = this.#spaces.get(name) ?? {
      order: new TimeOrder((sorted, at) => this.#replay(space, sorted, at)),
      judge: new Judge(this.options),
      lastAt: Number.NEGATIVE_INFINITY,
    }
    this.#spaces.set(name, space)
    space.order.add(arrival)
  }

  #replay(space: SpaceReplay, { record, key, isCharged }: Arrival, at: EpochMs): void {
    if (at < space.lastAt) space.judge.forgetFuture(at)
    space.lastAt = at
    if (key !== undefined && isCharged) {
      this.requests++
      this.from = Math.min(this.from, at)
      this.to = Math.max(this.to, at)
      this.#charge(key, at)
    }
    const sender = record.own?.sender ?? ''
    space.judge.judge(record, at, key === undefined ? unauthenticatedCaller(record) : { ...key.caller, sender })
  }

  #charge(key: SimulatedKey, at: EpochMs): void {
    const { traffic, scaled, lastAt } = key
    const { senders = 1, scale } = this.options
    if (at < lastAt) for (const each of [traffic, ...scaled]) forgetFutureTraffic(each, lastAt, at, at)
    key.lastAt = at
    countRequest(traffic, BAN_RULES, NO_LIMITS, senders, at, at)
    this.timeline.add(key.name, at, traffic.minute.used)
    for (const [index, factor] of scale.entries()) {
      const larger = scaled[index]
      // The first n requests of a key are sent `factor * n` times, rounded down.
      const copies = Math.floor(traffic.requests * factor) - Math.floor((traffic.requests - 1) * factor)
      for (let copy = 0; larger !== undefined && copy < copies; copy++)
        countRequest(larger, BAN_RULES, NO_LIMITS, senders, at, at)
    }
  }
}

/** A preflight costs no quota. In an access log, every OPTIONS request counts as one. */
function isPreflight({ method, headers, response }: TrafficRecord): boolean {
  return method === 'OPTIONS' && (response === undefined || headers?.['access-control-request-method'] !== undefined)
}

const UNCHANGED_STATUS: readonly (string | null)[] = ['slow-body', ...BODY_FAULTS]

function isMadeUp(reason: string | null, fault: string | null): boolean {
  if (reason === 'fault') return !UNCHANGED_STATUS.includes(fault)
  return reason === 'storm' || reason === 'forced' || reason === 'unavailable'
}

function count<Name>(counts: Map<Name, number>, name: Name, maxNames = Number.POSITIVE_INFINITY): void {
  const known = counts.get(name)
  if (known !== undefined || counts.size < maxNames) counts.set(name, (known ?? 0) + 1)
}

const MAX_FACTOR = 1000
const MAX_FACTORS = 10

/** Reads `3`, `1.5` or `1..10`; a range becomes at most ten factors, in ascending order. */
export function readScale(text: string): readonly number[] | undefined {
  const ends = text.split('..')
  if (ends.length > 2 || !ends.every((end) => /^\d+(?:\.\d{1,3})?$/.test(end))) return undefined
  const [from = 0, to = from] = ends.map(Number)
  if (from <= 0 || to < from || to > MAX_FACTOR) return undefined
  if (to === from) return [from]
  const steps = Math.min(MAX_FACTORS - 1, Math.ceil(to - from))
  const factors = Array.from({ length: steps + 1 }, (_, step) => from + ((to - from) * step) / steps)
  return [...new Set(factors.map((factor) => (factor >= 10 ? Math.round(factor) : Math.round(factor * 100) / 100)))]
}
