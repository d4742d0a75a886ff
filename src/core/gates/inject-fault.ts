import { hasNoBody } from '../../contract/sendable.js'
import { type FaultRule, formatFaultRule, isBodyFault } from '../../domain/faults.js'
import type { HandlerResult } from '../../domain/messages.js'
import { isStormActive, STORM_RETRY_AFTER_MS } from '../../domain/storm.js'
import { parseDuration } from '../../domain/time.js'
import { changeBody } from '../changed-body.js'
import type { Gate, RequestContext } from '../request-context.js'
import { problem, refuseUntil, retryAfterHeader } from '../responses.js'
import { isPublic } from './check-key.js'

/** Half of it is sent. */
const CUT_BODY = '[{"id":1}]'

/** Is there a storm, or a fault for this operation? */
export const injectFault: Gate = (context) => {
  if (context.caller.kind !== 'key' && !isPublic(context.route)) return undefined
  const { storm, faults } = context.space
  if (storm !== undefined && isStormActive(storm, context.now) && context.space.drawStorm(storm.rate)) {
    const until = context.now + (storm.retryAfter ?? STORM_RETRY_AFTER_MS)
    return refuseUntil(context, until, 'The service is overloaded.', 'storm')
  }
  if (faults.length === 0 || context.route.kind !== 'operation') return undefined
  const hit = context.space.findFault(context.route.operation.id)
  if (hit === undefined) return undefined
  if (hit.rule.phase !== 'after' && !changesResponse(hit.rule)) return applyFault(context, context.space.useFault(hit))
  context.pendingFault = hit
  return undefined
}

/** Whether it needs the response of the operation. */
function changesResponse({ fault }: FaultRule): boolean {
  return fault !== 'status' && (fault === 'slow-body' || isBodyFault(fault))
}

function applyFault(context: RequestContext, rule: FaultRule): HandlerResult {
  if (rule.fault === 'status') return { ...fail(context, rule), rule: formatFaultRule(rule) }
  return {
    status: usualStatus(context),
    body: rule.fault === 'truncated-body' ? CUT_BODY : '',
    fault: rule.fault,
    reason: 'fault',
    rule: formatFaultRule(rule),
  }
}

/** The response of an operation, changed, slowed down or lost by a fault. It is also made up. */
export function faultyResponse(context: RequestContext, rule: FaultRule, given: HandlerResult): HandlerResult {
  const { fault } = rule
  const text = formatFaultRule(rule)
  if (fault === 'status') return { ...fail(context, rule), rule: text, lostStatus: given.status }
  const marked = { reason: 'fault', fault, rule: text, lostStatus: given.status } as const
  return isBodyFault(fault) ? changeBody(context, fault, given, marked) : { ...marked, ...given }
}

/** The usual status: a malformed chunk follows one. */
function usualStatus({ route }: RequestContext): number {
  const documented = route.kind === 'operation' ? [...route.operation.responses.keys()] : []
  return documented.find((status) => status >= 200 && status < 300 && !hasNoBody(status)) ?? 200
}

function fail(context: RequestContext, rule: FaultRule): HandlerResult {
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
