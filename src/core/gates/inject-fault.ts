import type { Route } from '../../contract/contract.js'
import { parseShallowJson, stringifyJson } from '../../contract/json.js'
import { essenceOf, isFormType } from '../../contract/media-types.js'
import { formPairs } from '../../contract/query.js'
import { hasNoBody } from '../../contract/sendable.js'
import {
  type ArmedFault,
  type FaultCondition,
  type FaultRule,
  findFault,
  formatFaultRule,
  isBodyFault,
  keepsResponse,
} from '../../domain/faults.js'
import { type HandlerResult, isPublic } from '../../domain/messages.js'
import { isStormActive, STORM_RETRY_AFTER_MS } from '../../domain/storm.js'
import { parseDuration } from '../../domain/time.js'
import { utf8Text } from '../../system/runtime.js'
import { changeBody } from '../changed-body.js'
import { draw, type Gate, type RequestContext } from '../request-context.js'
import { problem, refuseUntil, retryAfterHeader } from '../responses.js'

/** Half of it is sent. */
const CUT_BODY = '[{"id":1}]'

/** Is there a storm, or a fault for this operation? */
export const injectFault: Gate = (context) => {
  if (context.caller.kind !== 'key' && !isPublic(context.route)) return undefined
  const { storm, faults } = context.space.state
  if (storm !== undefined && isStormActive(storm, context.now) && draw(context, 'storm') < storm.rate) {
    const until = context.now + (storm.retryAfter ?? STORM_RETRY_AFTER_MS)
    return refuseUntil(context, until, 'The service is overloaded.', 'storm')
  }
  if (faults.length === 0 || context.route.kind !== 'operation') return undefined
  const { route } = context
  const isMatch = (when: FaultCondition) => matches(context, route, when)
  const hit = findFault(faults, route.operation.id, isMatch, () => draw(context, 'faults'))
  if (hit === undefined) return undefined
  if (hit.rule.phase !== 'after' && !changesResponse(hit.rule)) return applyFault(context, useFault(context, hit))
  context.pendingFault = hit
  return undefined
}

function matches(
  { query, request }: RequestContext,
  { operation, captured }: Extract<Route, { readonly kind: 'operation' }>,
  when: FaultCondition,
): boolean {
  const queries = new URLSearchParams(query)
  const { headers } = request
  const isInPath = (fields: FaultCondition['path']) => {
    const { values } = operation.readPath(captured)
    return isEqual(fields, (name, value) => Object.hasOwn(values, name) && String(values[name]) === String(value))
  }
  const isEqual = (fields: FaultCondition['query'], has: (name: string, value: unknown) => boolean) =>
    Object.entries(fields ?? {}).every(([name, value]) => has(name, value))
  return (
    (when.path === undefined || isInPath(when.path)) &&
    isEqual(when.query, (name, value) => queries.getAll(name).includes(String(value))) &&
    isEqual(when.header, (name, value) => headers[name.toLowerCase()] === String(value)) &&
    (when.body === undefined || isEqual(when.body, fieldFinder(request)))
  )
}

/** Fields of forms are texts. */
function fieldFinder({ body, headers }: RequestContext['request']): (name: string, value: unknown) => boolean {
  const text = body instanceof Uint8Array ? utf8Text(body) : ''
  const type = String(headers['content-type'])
  if (isFormType(essenceOf(type))) {
    const pairs = formPairs(text, type)
    return (name, value) => pairs.some(([own, sent]) => own === name && sent === String(value))
  }
  let fields: Readonly<Record<string, unknown>> = {}
  try {
    fields = Object(parseShallowJson(text))
  } catch {}
  return (name, value) => Object.hasOwn(fields, name) && fields[name] === value
}

/** Takes one use of the fault. */
export function useFault({ space, pending }: RequestContext, fault: ArmedFault): ArmedFault {
  const { id, left } = fault
  if (left !== null)
    pending.faults = space.state.faults.map((armedFault) =>
      armedFault.id === id ? { ...armedFault, left: left - 1 } : armedFault,
    )
  return fault
}

/** Whether it needs the response of the operation. */
function changesResponse(rule: FaultRule): boolean {
  return (
    keepsResponse(rule) || rule.fault === 'slow-body' || isBodyFault(rule.fault === 'status' ? undefined : rule.fault)
  )
}

function applyFault(context: RequestContext, fault: ArmedFault): HandlerResult {
  const { rule } = fault
  if (rule.fault === 'status') return { ...fail(context, rule), ...identify(fault) }
  return {
    status: usualStatus(context),
    body: rule.fault === 'truncated-body' ? CUT_BODY : '',
    fault: rule.fault,
    reason: 'fault',
    ...identify(fault),
  }
}

function identify({ id, rule }: ArmedFault): Pick<HandlerResult, 'rule' | 'ruleId' | 'delayMs'> {
  const { latency } = rule
  const text = { rule: formatFaultRule(rule), ruleId: id }
  return latency === undefined ? text : { ...text, delayMs: parseDuration(latency) ?? 0 }
}

/** The response of an operation, changed, slowed down or lost by a fault. It is also made up. */
export function faultyResponse(context: RequestContext, armed: ArmedFault, given: HandlerResult): HandlerResult {
  const { rule } = armed
  const { fault } = rule
  if (keepsResponse(rule)) return { reason: 'fault', ...withHeaders(given, rule), ...identify(armed) }
  const about = { ...identify(armed), lostStatus: given.status }
  if (fault === 'status') return { ...fail(context, rule), ...about }
  const marked = { reason: 'fault', fault, ...about } as const
  return isBodyFault(fault) ? changeBody(context, fault, given, marked) : { ...marked, ...given }
}

/** The usual status: a malformed chunk follows one. */
function usualStatus({ route }: RequestContext): number {
  const documented = route.kind === 'operation' ? [...route.operation.responses.keys()] : []
  return documented.find((status) => status >= 200 && status < 300 && !hasNoBody(status)) ?? 200
}

function fail(context: RequestContext, rule: FaultRule): HandlerResult {
  const { status = 500, body, headers = {} } = rule
  if (body === undefined && rule.headers === undefined) return simulatedFault(context, rule)
  const base: HandlerResult =
    status < 400 ? { status, body: '', reason: 'fault' as const } : simulatedFault(context, rule)
  const { contentType, others } = withoutType(headers)
  const result = { ...base, headers: [...(base.headers ?? []), ...others] }
  if (body === undefined) return result
  // It does not get the documented form of an error.
  const { problem: _, ...rest } = result
  return { ...rest, body: bodyText(body, contentType), contentType: contentType ?? 'application/json' }
}

/** The headers of a rule replace those of the response. */
function withHeaders(given: HandlerResult, { headers = {} }: FaultRule): HandlerResult {
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const kept = given.headers?.filter((_, index, all) => !own.has(String(all[index - (index % 2)]).toLowerCase()))
  const { contentType, others } = withoutType(headers)
  return { ...given, headers: [...(kept ?? []), ...others], ...(contentType !== undefined && { contentType }) }
}

function withoutType(headers: Readonly<Record<string, string>>) {
  const isType = ([name]: readonly [string, string]) => name.toLowerCase() === 'content-type'
  const all = Object.entries(headers)
  return { contentType: all.find(isType)?.[1], others: all.filter((header) => !isType(header)).flat() }
}

/** A text is sent as it is, unless it is JSON. */
function bodyText(body: unknown, contentType = 'application/json'): string {
  return typeof body === 'string' && !/\bjson\b/i.test(contentType) ? body : (stringifyJson(body) ?? '')
}

function simulatedFault(context: RequestContext, rule: FaultRule): HandlerResult {
  const { status, retryAfter } = rule
  const message = `The sandbox injected this failure (fault ${formatFaultRule(rule)}).`
  const { space, now } = context
  const wait = retryAfter === undefined ? undefined : parseDuration(retryAfter)
  if (status === 429) return refuseUntil(context, now + (wait ?? STORM_RETRY_AFTER_MS), message, 'fault')
  const details = { message, reason: 'fault', ...(status && { status }) } as const
  if (wait === undefined) return problem('simulated_fault', details)
  const retryAt = now + wait
  return { ...problem('simulated_fault', { ...details, headers: retryAfterHeader(space, retryAt, now) }), retryAt }
}
