import type { KnownOperation, Open, OperationName } from '../contract/entities.js'
import { EXAMPLE } from '../contract/generated/examples.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import { findUnsendable, hasNoBody } from '../contract/sendable.js'
import { DAY_MS, type DurationMs, formatDuration, LONGEST_WAIT_MS, parseDuration, SECOND_MS } from './time.js'

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

/** They break off within the body. */
export function isTruncating(fault: FaultName | undefined): boolean {
  return fault === 'truncated-body' || fault === 'malformed-chunk'
}

export const FAULTS = [...WIRE_FAULTS, ...BODY_FAULTS] as const
export type FaultName = (typeof FAULTS)[number]

/** @source docs/switches.md, "Lost responses" */
export const FAULT_PHASES = ['before', 'after'] as const
type FaultPhase = (typeof FAULT_PHASES)[number]

/** Real time. @source docs/switches.md, "slow-body" */
export const SLOW_BODY_MS: DurationMs = 10 * SECOND_MS

/** A rule as it is written: `listPets:503@20%*3`, `createPet:connection-reset*1,after`, `getPet:404:{"code":"gone"}`. */
export type FaultText = Open<`${KnownOperation | '*'}:${FaultName | number}`>

export interface FaultRule {
  /** An operation id, or `*` for every operation. */
  readonly operation: OperationName | '*'
  /** `status`, or a fault of the connection or the body. */
  readonly fault: 'status' | FaultName
  /**
   * Status of the response, 400 to 599, with a body or headers from 200; only for the fault `status`. Without it, headers and
   * latency leave the response as it is otherwise.
   */
  readonly status?: number
  /** Probability per request, above 0 and up to 1. Default: 1. */
  readonly probability?: number
  /** Maximum number of uses. Default: unlimited. */
  readonly times?: number
  /** Duration for Retry-After, such as `2s`; only for the fault `status`. Default: only a 429 has one. */
  readonly retryAfter?: string
  /** JSON body of the response, or its text if `headers` has another content type; only for the fault `status`. */
  readonly body?: unknown
  /** Headers of the response; only for the fault `status`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Time before the response, such as `2s`, at most `24h`; added to the latency of the space. */
  readonly latency?: string
  /** Only requests with these values. */
  readonly when?: FaultCondition
  /** `after` carries out the operation and then loses its response; `before` if omitted. */
  readonly phase?: FaultPhase
}

type Scalar = string | number | bigint | boolean | null

/** Values of named fields, all of which must be equal. */
export interface FaultCondition {
  /** Parameters of the path. */
  readonly path?: Readonly<Record<string, Scalar>>
  readonly query?: Readonly<Record<string, Scalar>>
  readonly header?: Readonly<Record<string, Scalar>>
  /** Fields of a JSON object. */
  readonly body?: Readonly<Record<string, Scalar>>
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
  /** Tells rules apart whose text is the same. */
  readonly id: string
  readonly rule: FaultRule
  readonly left: number | null
}

/**
 * Arms rules. One that is armed already, written as it was or with its remaining uses, keeps its id: waits and hits stay.
 * @param left remaining uses; default: all
 * @param requests requests to the space so far, for ids that no earlier rule with hits had
 */
export function armFaults(
  wanted: readonly { readonly rule: FaultRule; readonly left?: number | null }[],
  armed: readonly ArmedFault[],
  requests: number,
): readonly ArmedFault[] {
  const known = [...armed]
  const ids = new Set(armed.map(({ id }) => id))
  const take = (text: string | undefined, written: (fault: ArmedFault) => FaultRule) => {
    const at = known.findIndex((fault) => stringifyJson(written(fault)) === text)
    return at === -1 ? undefined : known.splice(at, 1)[0]
  }
  return wanted.map(({ rule, left = rule.times ?? null }) => {
    const text = stringifyJson(rule)
    const same = take(text, remainingRule) ?? take(text, (fault) => fault.rule)
    if (same !== undefined) return { ...same, left }
    let number = 1
    while (ids.has(`${requests}.${number}`)) number++
    const id = `${requests}.${number}`
    ids.add(id)
    return { id, rule, left }
  })
}

/** A rule with its remaining uses. */
export function remainingRule({ rule, left }: Pick<ArmedFault, 'rule' | 'left'>): FaultRule {
  return left === null ? rule : { ...rule, times: left }
}

/** Finds the first fault for an operation. @param draw returns a number in [0, 1); only called for rules with a probability that match */
export function findFault(
  faults: readonly ArmedFault[],
  operation: string,
  matches: (when: FaultCondition) => boolean,
  draw: () => number,
): ArmedFault | undefined {
  return faults.find(
    ({ rule, left }) =>
      (rule.operation === '*' || rule.operation === operation) &&
      left !== 0 &&
      (rule.when === undefined || matches(rule.when)) &&
      (rule.probability === undefined || draw() < rule.probability),
  )
}

const FAULT_RULE = /^([^:@\s]+):([a-z-]+|\d{3})((?:,[\w=-]+)*)(?:@(\d+(?:\.\d+)?)%)?(?:\*(\d{1,9}))?((?:,[\w=-]+)*)$/
const FAULT_PART = /^(?:retry-after=(\w+)|(before|after))$/

const WITH_BODY = /^([^:,\s]+:\d{3}(?:,(?:retry-after=\w+|before|after)|@[\d.]+%|\*\d+)*):\s*([@[{"].*)$/s

/** Whether it is a rule with a body, which may contain commas. */
export function hasFaultBody(text: string): boolean {
  return WITH_BODY.test(text)
}

/** Whether it is a rule as a JSON object, as a flag has it. */
export function isFaultObject(text: string): boolean {
  return /^\{\s*"/.test(text)
}

/** `@empty.json` in `listPets:200:@empty.json`. */
export function fileInFaultRule(text: string): string | undefined {
  const [, , body = ''] = WITH_BODY.exec(text) ?? []
  return body.startsWith('@') ? body.slice(1) : undefined
}

/**
 * Reads `<operation|*>:<status|wire fault>[@20%][*3][,retry-after=2s][,after][:<JSON body>]`; wait and phase may follow
 * the status.
 * @returns the rule, or an error message
 */
export function parseFaultRule(given: string): FaultRule | string {
  const [, text = given, json] = WITH_BODY.exec(given) ?? []
  let body: unknown
  try {
    body = json === undefined ? undefined : parseShallowJson(json)
  } catch {
    return fileInFaultRule(given) === undefined
      ? `the body must be JSON, as in ${EXAMPLE.get}:404:{"code":"gone"}`
      : 'a file can be named in a flag or a variable only; give its content as body'
  }
  const match = FAULT_RULE.exec(text)
  const [, operation = '', what = '', early = '', percent, times, late = ''] = match ?? []
  const parts = (early + late).split(',').slice(1)
  const read = parts.map((part) => FAULT_PART.exec(part))
  if (match === null || read.includes(null)) {
    return `write it as <operation|*>:<status|${FAULTS.join('|')}>[@20%][*3][,retry-after=2s][,after][:<JSON body>], for example ${EXAMPLE.list}:503@20%*3`
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
    ...(body === undefined ? {} : { body }),
  }
  return faultProblem(rule) ?? rule
}

/** Whether it leaves the response of the operation as it is, but for headers and time. */
export function keepsResponse({ fault, status, body, retryAfter, headers, latency }: FaultRule): boolean {
  const others = [status, body, retryAfter].filter((value) => value !== undefined)
  return fault === 'status' && others.length === 0 && (headers ?? latency) !== undefined
}

/** Headers that the server sets itself. */
const FRAMING = /^(?:connection|content-length|date|keep-alive|trailer|transfer-encoding|upgrade)$/i

export function isFraming(header: string): boolean {
  return FRAMING.test(header)
}

/** Does not check whether the operation exists. */
export function faultProblem(rule: FaultRule): string | undefined {
  if (rule.fault === 'status') {
    const { status, body, headers = {} } = rule
    const isOwn = body !== undefined || rule.headers !== undefined
    const isStatus = status !== undefined && Number.isInteger(status) && status >= (isOwn ? 200 : 400) && status <= 599
    if (!isStatus && !keepsResponse(rule)) {
      if (status !== undefined && status >= 200 && status < 400)
        return `a status below 400 needs a body or headers, as in ${EXAMPLE.get}:200:{"id":1}`
      const range = isOwn ? '200 to 599' : '400 to 599'
      return `the fault must be a status from ${range} or one of ${FAULTS.join(', ')}`
    }
    if (typeof body === 'function') return 'the body must be JSON, not a function; a handler can be one'
    if (status !== undefined && body !== undefined && hasNoBody(status)) return `a response ${status} has no body`
    const unsendable = findUnsendable({ status: status ?? 200, headers })
    if (unsendable !== undefined) return unsendable
    const framing = Object.keys(headers).find(isFraming)
    if (framing !== undefined) return `the header "${framing}" cannot be set`
  } else if (rule.body !== undefined || rule.headers !== undefined) {
    return `body and headers are only allowed with the fault "status" (the fault is "${rule.fault}")`
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
  const delay = rule.latency === undefined ? 0 : parseDuration(rule.latency)
  if (delay === undefined || delay > DAY_MS)
    return `latency must be a duration such as 500ms or 2s, at most 24h (it is "${rule.latency}")`
  if (rule.probability !== undefined && !(rule.probability > 0 && rule.probability <= 1)) {
    return 'the probability must be above 0 and at most 100%'
  }
  if (rule.times !== undefined && !(Number.isInteger(rule.times) && rule.times >= 1)) {
    return 'the number of times must be 1 or more'
  }
  return undefined
}

const MAX_BODY_CHARACTERS = 60

/** For people: a long body is shortened. */
export function formatFaultRule(rule: FaultRule): string {
  const what = rule.fault === 'status' ? (rule.status ?? 'unchanged') : rule.fault
  const probability = rule.probability === undefined ? '' : `@${Number((rule.probability * 100).toFixed(6))}%`
  const times = rule.times === undefined ? '' : `*${rule.times}`
  const wait = rule.retryAfter === undefined ? '' : `,retry-after=${rule.retryAfter}`
  const delay = rule.latency === undefined ? '' : `,latency=${rule.latency}`
  const phase = rule.phase === undefined ? '' : `,${rule.phase}`
  const json = rule.body === undefined ? '' : `:${stringifyJson(rule.body)}`
  const body = json.length > MAX_BODY_CHARACTERS ? `${json.slice(0, MAX_BODY_CHARACTERS - 1)}…` : json
  return `${rule.operation}:${what}${probability}${times}${wait}${delay}${phase}${body}${conditionText(rule.when)}`
}

/** ` when query status=sold`. */
function conditionText(when: FaultCondition = {}): string {
  const parts = Object.entries(when).flatMap(([part, fields]) =>
    Object.entries<Scalar>(fields).map(([name, value]) => `${part} ${name}=${value}`),
  )
  return parts.length === 0 ? '' : ` when ${parts.join(' and ')}`
}

/** As options and verbs take it: as text if it has one. */
export function faultInput(rule: FaultRule): FaultInput {
  const { fault, ...others } = rule
  const isText = [others.body, others.headers, others.latency, others.when].every((value) => value === undefined)
  if (isText) return formatFaultRule(rule) as FaultText
  return fault === 'status' ? others : rule
}
