import { type Refused, refusedBy, type Traffic } from '../conduct/what-if.js'
import { PLAN_NAMES, type PlanName } from '../domain/keys.js'
import type { Limits } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import type { JudgedConduct } from './judge.js'
import type { TrafficReading } from './read-traffic.js'
import { LEFT_OUT, type LeftOutCause, type SimulatedKey, type Simulation } from './simulation.js'
import type { TimelineCell } from './timeline.js'
import type { TrafficForm } from './traffic-record.js'

/** What one plan would have refused. */
export interface PlanRefusals {
  readonly plan: PlanName
  /** The sum of `refused`. */
  readonly refusals: number
  readonly refused: Refused
}

/** What one plan would have done with the traffic as it was. */
export interface PlanFate extends PlanRefusals {
  /** By so many the traffic can be multiplied before the plan refuses anything; below 1 it does already. Rounded down. */
  readonly upTo: number
}

/** How busy somebody was, and what plans would have made of it. */
interface Fate {
  readonly requests: number
  /** The most requests of one key in a window, had nothing been refused. */
  readonly peakMinute: number
  readonly peakDay: number
  /** Smallest plan first. */
  readonly plans: readonly PlanFate[]
  /** The smallest plan that refuses nothing; null if all refuse some. */
  readonly cheapest: PlanName | null
  /** `upTo` of that plan. */
  readonly headRoom: number | null
}

/** The same for one key. */
export interface KeyFate extends Fate {
  readonly key: string
  /** Where its first request is, from 1. */
  readonly first: number
  /** Its name is not told: it may be a secret. */
  readonly isHidden: boolean
}

/** What it would be if the traffic were larger. */
export interface GrownFate {
  readonly factor: number
  readonly plans: readonly PlanRefusals[]
}

/** How often something was seen. */
interface Counted {
  readonly name: string
  readonly requests: number
}

/** What some traffic would have met. */
export interface SimulationReport extends Fate {
  readonly input: {
    readonly form: TrafficForm
    /** What places count. */
    readonly unit: 'line' | 'entry'
    /** Requests that could be read. */
    readonly read: number
    /** What could not; the first of it by its place. */
    readonly bad: {
      readonly count: number
      readonly first: readonly { readonly place: number; readonly problem: string }[]
    }
    /** Requests that came too late to be put into order. */
    readonly outOfOrder: number
    /** Why the input is not whole, as a sentence part; null if it is. */
    readonly missing: string | null
    readonly leftOut: Readonly<Partial<Record<LeftOutCause, number>>>
    /** Hosts that were asked, and where the others went, the most frequent first. */
    readonly hosts: readonly Counted[]
    readonly elsewhere: readonly Counted[]
  }
  /** ISO 8601, UTC; null if there was nothing. */
  readonly from: string | null
  readonly to: string | null
  readonly limits: readonly ({ readonly plan: PlanName } & Limits)[]
  /** The busiest first. */
  readonly keys: readonly KeyFate[]
  readonly scale: readonly GrownFate[]
  readonly conduct: JudgedConduct
}

/** The report of a simulation that has ended. */
export function simulationReport(simulation: Simulation, { form, unit, missing }: TrafficReading): SimulationReport {
  const { plans } = simulation
  const { read, requests, from, to, outOfOrder, bad, leftOut, hosts, elsewhere } = simulation.facts()
  const simulated = byRequests(simulation.keys())
  const keys = simulated.map((key) => keyFate(key, plans))
  const [first] = simulated
  const all = planFates(
    simulated.map(({ traffic }) => traffic),
    plans,
  )
  return {
    input: {
      form,
      unit,
      read,
      bad,
      outOfOrder,
      missing: missing ?? null,
      leftOut: Object.fromEntries(
        (Object.keys(LEFT_OUT) as LeftOutCause[]).flatMap((cause) => {
          const count = leftOut.get(cause)
          return count === undefined ? [] : [[cause, count]]
        }),
      ),
      hosts: byFrequency(hosts),
      elsewhere: byFrequency(elsewhere),
    },
    from: isoOf(from),
    to: isoOf(to),
    limits: PLAN_NAMES.map((plan, index) => ({ plan, ...limitsAt(plans, index) })),
    requests,
    peakMinute: Math.max(0, ...keys.map(({ peakMinute }) => peakMinute)),
    peakDay: Math.max(0, ...keys.map(({ peakDay }) => peakDay)),
    ...all,
    keys,
    scale: (first?.grown ?? []).map(({ factor }, index) => ({
      factor,
      plans: refusalsOf(simulated.flatMap(({ grown }) => grown[index]?.traffic ?? [])),
    })),
    conduct: simulation.conduct(),
  }
}

/** What the plots of a key are drawn from. */
export interface KeyCurve {
  readonly fate: KeyFate
  readonly cells: readonly (readonly [EpochMs, Readonly<TimelineCell>])[]
}

/** Curves of the busiest keys. */
export function busiestCurves(simulation: Simulation, most: number): readonly KeyCurve[] {
  return byRequests(simulation.keys())
    .slice(0, most)
    .map((key) => ({ fate: keyFate(key, simulation.plans), cells: simulation.timeline.of(key.name) }))
}

function byRequests(keys: readonly SimulatedKey[]): readonly SimulatedKey[] {
  return [...keys].sort((one, other) => other.traffic.requests - one.traffic.requests)
}

function keyFate({ label, place, isHidden, traffic }: SimulatedKey, plans: readonly Limits[]): KeyFate {
  const { requests, minute, day } = traffic
  return {
    key: label,
    first: place,
    isHidden,
    requests,
    peakMinute: minute.peak,
    peakDay: day.peak,
    ...planFates([traffic], plans),
  }
}

/** Refusals are those of all keys; a plan is enough if it is for each of them. */
function planFates(
  traffic: readonly Traffic[],
  limits: readonly Limits[],
): Pick<Fate, 'plans' | 'cheapest' | 'headRoom'> {
  const plans = refusalsOf(traffic).map(
    (refusals, index): PlanFate => ({ ...refusals, upTo: largestFactor(traffic, limitsAt(limits, index)) }),
  )
  const cheapest = traffic.length === 0 ? undefined : plans.find(({ refusals }) => refusals === 0)
  return { plans, cheapest: cheapest?.plan ?? null, headRoom: cheapest?.upTo ?? null }
}

function refusalsOf(traffic: readonly Traffic[]): readonly PlanRefusals[] {
  const all = traffic.map(refusedBy)
  return PLAN_NAMES.map((plan, index) => {
    const sum = (cause: keyof Refused) => all.reduce((total, byPlan) => total + (byPlan[index]?.[cause] ?? 0), 0)
    const refused = { minute: sum('minute'), day: sum('day'), ban: sum('ban') }
    return { plan, refusals: refused.minute + refused.day + refused.ban, refused }
  })
}

/** Windows open with the same requests however often each is sent, so their peaks grow as the traffic does. */
function largestFactor(traffic: readonly Traffic[], { perMinute, perDay }: Limits): number {
  const factor = traffic.reduce(
    (least, { minute, day }) => Math.min(least, perMinute / minute.peak, perDay / day.peak),
    Number.POSITIVE_INFINITY,
  )
  return Number.isFinite(factor) ? roundedDown(factor) : 0
}

function limitsAt(plans: readonly Limits[], index: number): Limits {
  return plans[index] ?? { perMinute: 0, perDay: 0 }
}

function byFrequency(counts: ReadonlyMap<string, number>): readonly Counted[] {
  return [...counts].map(([name, requests]) => ({ name, requests })).sort((one, other) => other.requests - one.requests)
}

function isoOf(at: EpochMs | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

/** To two decimals, or more where it is small. */
function roundedDown(factor: number): number {
  const decimals = factor >= 0.1 ? 2 : 4
  return Math.floor(factor * 10 ** decimals) / 10 ** decimals
}
