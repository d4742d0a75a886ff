import type { KnownOperation, Open, OperationName } from '../contract/entities.js'
import { type DurationMs, formatDuration, LONGEST_WAIT_MS, parseDuration, SECOND_MS } from './time.js'

/** @source docs/switches.md, "Faults" */
export const WIRE_FAULTS = [
  'connection-reset',
  'empty-response',
  'truncated-body',
  'malformed-chunk',
  'slow-body',
  'hang',
] as const
export type WireFault = (typeof WIRE_FAULTS)[number]

/** They change the body of the real response. @source docs/switches.md, "Faults" */
export const BODY_FAULTS = ['unknown-fields', 'enum-growth'] as const
export type BodyFault = (typeof BODY_FAULTS)[number]

export function isBodyFault(fault: FaultName | undefined): fault is BodyFault {
  return fault === 'unknown-fields' || fault === 'enum-growth'
}

export const FAULTS = [...WIRE_FAULTS, ...BODY_FAULTS] as const
export type FaultName = (typeof FAULTS)[number]

/** @source docs/switches.md, "Lost responses" */
export const FAULT_PHASES = ['before', 'after'] as const
type FaultPhase = (typeof FAULT_PHASES)[number]

/** Real time. @source docs/switches.md, "slow-body" */
export const SLOW_BODY_MS: DurationMs = 10 * SECOND_MS

/** A rule as it is written: `listPets:503@20%*3`, `createPet:connection-reset*1,after`, `createPet:503,retry-after=2s`. */
export type FaultText = Open<`${KnownOperation | '*'}:${FaultName | number}`>

export interface FaultRule {
  /** An operation id, or `*` for every operation. */
  readonly operation: OperationName | '*'
  /** `status`, or a fault of the connection or the body. */
  readonly fault: 'status' | FaultName
  /** Status of the response, 400 to 599; only for the fault `status`. */
  readonly status?: number
  /** Probability per request, above 0 and up to 1. Default: 1. */
  readonly probability?: number
  /** Maximum number of uses. Default: unlimited. */
  readonly times?: number
  /** Duration for Retry-After, such as `2s`; only for the fault `status`. Default: only a 429 has one. */
  readonly retryAfter?: string
  /** `after` carries out the operation and then loses its response; `before` if omitted. */
  readonly phase?: FaultPhase
}

/** A rule as text, or as an object. */
export type FaultInput =
  | FaultText
  | (Partial<Omit<FaultRule, 'fault'>> & {
      /** `503` equals `{ status: 503 }`. */
      readonly fault?: FaultRule['fault'] | number
    })

/** An active rule. `left`: remaining uses; null if unlimited. */
export interface ArmedFault {
  readonly rule: FaultRule
  readonly left: number | null
}

export function armFault(rule: FaultRule): ArmedFault {
  return { rule, left: rule.times ?? null }
}

/** Finds the first fault for an operation. @param draw returns a number in [0, 1); only called for rules with a probability */
export function findFault(
  faults: readonly ArmedFault[],
  operation: string,
  draw: () => number,
): ArmedFault | undefined {
  return faults.find(
    ({ rule, left }) =>
      (rule.operation === '*' || rule.operation === operation) &&
      left !== 0 &&
      (rule.probability === undefined || draw() < rule.probability),
  )
}

const FAULT_RULE = /^([^:@\s]+):([a-z-]+|\d{3})((?:,[\w=-]+)*)(?:@(\d+(?:\.\d+)?)%)?(?:\*(\d{1,9}))?((?:,[\w=-]+)*)$/
const FAULT_PART = /^(?:retry-after=(\w+)|(before|after))$/

/**
 * Reads `<operation|*>:<status|wire fault>[@20%][*3][,retry-after=2s][,after]`; wait and phase may follow the status.
 * @returns the rule, or an error message
 */
export function parseFaultRule(text: string): FaultRule | string {
  const match = FAULT_RULE.exec(text)
  const [, operation = '', what = '', early = '', percent, times, late = ''] = match ?? []
  const parts = (early + late).split(',').slice(1)
  const read = parts.map((part) => FAULT_PART.exec(part))
  if (match === null || read.includes(null)) {
    return `write it as <operation|*>:<status|${FAULTS.join('|')}>[@20%][*3][,retry-after=2s][,after], for example listPets:503@20%*3`
  }
  const [retryAfter, ...moreWaits] = read.flatMap((part) => part?.[1] ?? [])
  const [phase, ...morePhases] = read.flatMap((part) => (part?.[2] as FaultPhase | undefined) ?? [])
  if (moreWaits.length > 0) return 'retry-after is given twice'
  if (morePhases.length > 0) return 'the phase is given twice'
  const named = FAULTS.find((name) => name === what)
  const rule: FaultRule = {
    operation,
    ...(named === undefined ? { fault: 'status', status: Number(what) } : { fault: named }),
    ...(percent === undefined ? {} : { probability: Number(percent) / 100 }),
    ...(times === undefined ? {} : { times: Number(times) }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(phase === undefined ? {} : { phase }),
  }
  return faultProblem(rule) ?? rule
}

/** Does not check whether the operation exists. */
export function faultProblem(rule: FaultRule): string | undefined {
  if (rule.fault === 'status') {
    const { status } = rule
    if (status === undefined || !Number.isInteger(status) || status < 400 || status > 599) {
      return `the fault must be a status from 400 to 599 or one of ${FAULTS.join(', ')}`
    }
  } else if (rule.status !== undefined) {
    return `status is only allowed with the fault "status" (the fault is "${rule.fault}")`
  } else if (rule.retryAfter !== undefined) {
    return `retryAfter is only allowed with the fault "status" (the fault is "${rule.fault}")`
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

export function formatFaultRule(rule: FaultRule): string {
  const what = rule.fault === 'status' ? rule.status : rule.fault
  const probability = rule.probability === undefined ? '' : `@${Number((rule.probability * 100).toFixed(6))}%`
  const times = rule.times === undefined ? '' : `*${rule.times}`
  const wait = rule.retryAfter === undefined ? '' : `,retry-after=${rule.retryAfter}`
  return `${rule.operation}:${what}${probability}${times}${wait}${rule.phase === undefined ? '' : `,${rule.phase}`}`
}
