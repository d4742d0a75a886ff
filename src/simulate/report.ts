import { type Refused, refusedBy, type Traffic } from '../conduct/what-if.js'
import { PLAN_NAMES, type PlanName } from '../domain/keys.js'
import type { Limits } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import type { JudgedConduct } from './judge.js'
import type { TrafficReading } from './read-traffic.js'
import { LEFT_OUT, type LeftOutCause, type SimulatedKey, type Simulation } from './simulation.js'

interface PlanRefusals {
  readonly plan: PlanName
  readonly refusals: number
  readonly refused: Refused
}

interface PlanResult extends PlanRefusals {
  /** The traffic can grow by this factor before the plan refuses anything; below 1 it does already. Rounded down. */
  readonly upTo: number
}

interface TrafficResult {
  readonly requests: number
  /** The most requests of one key in a window, had nothing been refused. */
  readonly peakMinute: number
  readonly peakDay: number
  readonly plans: readonly PlanResult[]
  readonly cheapest: PlanName | null
  readonly headRoom: number | null
}

export interface KeyResult extends TrafficResult {
  readonly key: string
  readonly first: number
  readonly isHidden: boolean
}

interface NamedCount {
  readonly name: string
  readonly requests: number
}

export interface SimulationReport extends TrafficResult {
  readonly input: Omit<TrafficReading, 'missing'> & {
    readonly read: number
    readonly bad: {
      readonly count: number
      readonly first: readonly { readonly place: number; readonly problem: string }[]
    }
    readonly outOfOrder: number
    /** Why the input is incomplete, as a sentence part; null if it is complete. */
    readonly missing: string | null
    readonly leftOut: Readonly<Partial<Record<LeftOutCause, number>>>
    readonly hosts: readonly NamedCount[]
    readonly elsewhere: readonly NamedCount[]
  }
  readonly from: string | null
  readonly to: string | null
  readonly limits: readonly ({ readonly plan: PlanName } & Limits)[]
  readonly keys: readonly KeyResult[]
  readonly scale: readonly { readonly factor: number; readonly plans: readonly PlanRefusals[] }[]
  readonly conduct: JudgedConduct
}

export function simulationReport(simulation: Simulation, { form, unit, missing }: TrafficReading): SimulationReport {
  const { plans, options, read, requests, from, to, outOfOrder, badCount, firstBad, leftOut } = simulation
  const simulated = byRequests(simulation)
  const keys = simulated.map((key) => keyResult(key, plans))
  const causes = Object.keys(LEFT_OUT) as LeftOutCause[]
  const isoText = (at: EpochMs) => (requests === 0 ? null : new Date(at).toISOString())
  return {
    input: {
      form,
      unit,
      read,
      bad: { count: badCount, first: firstBad },
      outOfOrder,
      missing: missing ?? null,
      leftOut: Object.fromEntries(
        causes.filter((cause) => leftOut.has(cause)).map((cause) => [cause, leftOut.get(cause)]),
      ),
      hosts: byFrequency(simulation.hosts),
      elsewhere: byFrequency(simulation.elsewhere),
    },
    from: isoText(from),
    to: isoText(to),
    limits: plans.map((limits, index) => ({ plan: PLAN_NAMES[index] ?? 'free', ...limits })),
    requests,
    peakMinute: Math.max(0, ...keys.map(({ peakMinute }) => peakMinute)),
    peakDay: Math.max(0, ...keys.map(({ peakDay }) => peakDay)),
    ...planResults(
      simulated.map(({ traffic }) => traffic),
      plans,
    ),
    keys,
    scale: options.scale.map((factor, index) => ({
      factor,
      plans: refusalsOf(simulated.flatMap(({ scaled }) => scaled[index] ?? [])),
    })),
    conduct: simulation.conduct(),
  }
}

export interface KeyCurve {
  readonly fate: KeyResult
  readonly cells: readonly (readonly [EpochMs, number])[]
}

export function busiestCurves(simulation: Simulation, count: number): readonly KeyCurve[] {
  return byRequests(simulation)
    .slice(0, count)
    .map((key) => ({ fate: keyResult(key, simulation.plans), cells: simulation.timeline.of(key.name) }))
}

function byRequests(simulation: Simulation): readonly SimulatedKey[] {
  return simulation.keys().toSorted((one, other) => other.traffic.requests - one.traffic.requests)
}

function keyResult({ label, place, isHidden, traffic }: SimulatedKey, plans: readonly Limits[]): KeyResult {
  const { requests, minute, day } = traffic
  const peaks = { peakMinute: minute.peak, peakDay: day.peak }
  return { key: label, first: place, isHidden, requests, ...peaks, ...planResults([traffic], plans) }
}

/** Refusals of all keys together; a plan is enough if it is enough for each key. */
function planResults(
  traffic: readonly Traffic[],
  limits: readonly Limits[],
): Pick<TrafficResult, 'plans' | 'cheapest' | 'headRoom'> {
  const plans = refusalsOf(traffic).map(
    (refusals, index): PlanResult => ({ ...refusals, upTo: largestFactor(traffic, limits[index]) }),
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
function largestFactor(traffic: readonly Traffic[], limits: Limits | undefined): number {
  if (limits === undefined || traffic.length === 0) return 0
  const factor = Math.min(
    ...traffic.map(({ minute, day }) => Math.min(limits.perMinute / minute.peak, limits.perDay / day.peak)),
  )
  // To two decimals, or more where it is small; rounded down.
  const unit = 10 ** (factor >= 0.1 ? 2 : 4)
  return Math.floor(factor * unit) / unit
}

function byFrequency(counts: ReadonlyMap<string, number>): readonly NamedCount[] {
  return [...counts].map(([name, requests]) => ({ name, requests })).sort((one, other) => other.requests - one.requests)
}
