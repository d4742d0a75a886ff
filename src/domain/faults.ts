import type { KnownOperation, Open, OperationName } from '../contract/open.js'
import {
  type DurationMs,
  type DurationText,
  formatDuration,
  LONGEST_WAIT_MS,
  parseDuration,
  SECOND_MS,
} from './time.js'

/** Faults on the wire, as opposed to a status. @source docs/switches.md, "Faults" */
export const WIRE_FAULTS = ['connection-reset', 'empty-response', 'malformed-chunk', 'slow-body', 'hang'] as const
export type WireFault = (typeof WIRE_FAULTS)[number]

/** Duration of a slow body, in real time. @source docs/switches.md, "slow-body" */
export const SLOW_BODY_MS: DurationMs = 10 * SECOND_MS

/** A rule as it is written: `listPets:503@20%*3`, `*:connection-reset`, `createPet:503,retry-after=2s`. */
export type FaultText = Open<`${KnownOperation | '*'}:${WireFault | number}`>

/** One rule of the ordered list of faults. */
export interface FaultRule {
  /** An operation id, or `*` for every operation. */
  readonly operation: OperationName | '*'
  /** `status`, or what the wire does. */
  readonly fault: 'status' | WireFault
  /** The status that is answered; with fault `status` only. 400 to 599. */
  readonly status?: number
  /** Probability for each request, above 0 and up to 1; 1 if omitted. */
  readonly probability?: number
  /** How often it happens; unlimited if omitted. */
  readonly times?: number
  /** Wait that Retry-After names, a duration such as `2s`; with fault `status` only. If omitted, only a 429 names one. */
  readonly retryAfter?: DurationText
}

/** A rule in force, with how often it will still happen (undefined: unlimited). */
export interface ArmedFault {
  readonly rule: FaultRule
  left: number | undefined
}

export function armFault(rule: FaultRule): ArmedFault {
  return { rule, left: rule.times }
}

/** A rule in force as JSON holds it: null is unlimited. */
export interface KeptFault {
  readonly rule: FaultRule
  readonly left: number | null
}

export function keptFaults(faults: readonly ArmedFault[]): readonly KeptFault[] {
  return faults.map(({ rule, left }) => ({ rule, left: left ?? null }))
}

/** Rules in force again, each as often as it was left. */
export function revivedFaults(kept: readonly KeptFault[]): readonly ArmedFault[] {
  return kept.map(({ rule, left }) => ({ rule, left: left ?? undefined }))
}

/**
 * Picks the first fault that hits an operation. A rule whose draw misses, or
 * that is used up, passes on to the next.
 *
 * @param draw gives a number in [0, 1); drawn only for rules with a probability
 */
export function takeFault(faults: readonly ArmedFault[], operation: string, draw: () => number): FaultRule | undefined {
  for (const fault of faults) {
    const { rule } = fault
    if (rule.operation !== '*' && rule.operation !== operation) continue
    if (fault.left === 0) continue
    if (rule.probability !== undefined && draw() >= rule.probability) continue
    if (fault.left !== undefined) fault.left--
    return rule
  }
  return undefined
}

const FAULT_RULE =
  /^([^:@\s]+):([a-z-]+|\d{3})(?:,retry-after=(\w+))?(?:@(\d+(?:\.\d+)?)%)?(?:\*(\d{1,9}))?(?:,retry-after=(\w+))?$/

/**
 * Reads a fault as users write it: `<operation|*>:<status|wire fault>[@20%][*3][,retry-after=2s]`.
 * The wait may stand right behind the status, too.
 *
 * @returns the rule, or a sentence on what is wrong with it
 */
export function parseFaultRule(text: string): FaultRule | string {
  const match = FAULT_RULE.exec(text)
  if (match === null) {
    return `write it as <operation|*>:<status|${WIRE_FAULTS.join('|')}>[@20%][*3][,retry-after=2s], for example listPets:503@20%*3`
  }
  const [, operation = '', what = '', early, percent, times, late] = match
  if (early !== undefined && late !== undefined) return 'retry-after may be given only once'
  const retryAfter = early ?? late
  const wire = WIRE_FAULTS.find((name) => name === what)
  const rule: FaultRule = {
    operation,
    ...(wire === undefined ? { fault: 'status', status: Number(what) } : { fault: wire }),
    ...(percent === undefined ? {} : { probability: Number(percent) / 100 }),
    ...(times === undefined ? {} : { times: Number(times) }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  }
  return faultProblem(rule) ?? rule
}

/** Finds what is wrong with a rule, if anything. Whether its operation exists is up to the contract. */
export function faultProblem(rule: FaultRule): string | undefined {
  if (rule.fault === 'status') {
    const { status } = rule
    if (status === undefined || !Number.isInteger(status) || status < 400 || status > 599) {
      return `the fault must be a status from 400 to 599 or one of ${WIRE_FAULTS.join(', ')}`
    }
  } else if (rule.status !== undefined) {
    return `a status goes with the fault "status" only (the fault is "${rule.fault}")`
  } else if (rule.retryAfter !== undefined) {
    return `retryAfter goes with the fault "status" only (the fault is "${rule.fault}")`
  }
  if (rule.retryAfter !== undefined) {
    const wait = parseDuration(rule.retryAfter)
    if (wait === undefined) return `retryAfter must be a duration such as 500ms, 30s or 5m (it is "${rule.retryAfter}")`
    if (wait > LONGEST_WAIT_MS) return `retryAfter must be at most ${formatDuration(LONGEST_WAIT_MS)}`
  }
  if (rule.probability !== undefined && !(rule.probability > 0 && rule.probability <= 1)) {
    return 'the probability must be above 0 and at most 100%'
  }
  if (rule.times !== undefined && !(Number.isInteger(rule.times) && rule.times >= 1)) {
    return 'the number of times must be 1 or more'
  }
  return undefined
}

/** Writes a rule as parseFaultRule reads it. */
export function formatFaultRule(rule: FaultRule): string {
  const what = rule.fault === 'status' ? rule.status : rule.fault
  const probability = rule.probability === undefined ? '' : `@${Number((rule.probability * 100).toFixed(6))}%`
  const times = rule.times === undefined ? '' : `*${rule.times}`
  return `${rule.operation}:${what}${probability}${times}${rule.retryAfter === undefined ? '' : `,retry-after=${rule.retryAfter}`}`
}
