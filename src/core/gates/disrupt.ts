import { type FaultRule, formatFaultRule } from '../../domain/faults.js'
import type { HandlerResult } from '../../domain/messages.js'
import { blows, STORM_RETRY_AFTER_MS } from '../../domain/storm.js'
import { parseDuration } from '../../domain/time.js'
import { problem, rememberRefusal, retryAfterHeader, tooManyRequests } from '../answers.js'
import type { Gate, RequestContext } from '../request-context.js'

/** Is there a storm, or a fault for this operation? */
export const disrupt: Gate = (context) => {
  if (context.caller.kind !== 'key') return undefined
  const { storm, faults } = context.space
  if (storm !== undefined && blows(storm, context.now) && context.space.isInStorm(storm.rate)) {
    return refuse(context, storm.retryAfter ?? STORM_RETRY_AFTER_MS, 'storm', 'The service is overloaded.')
  }
  if (faults.length === 0 || context.route.kind !== 'operation') return undefined
  const rule = context.space.takeFault(context.route.operation.id)
  return rule === undefined ? undefined : suffer(context, rule)
}

function suffer(context: RequestContext, rule: FaultRule): HandlerResult | undefined {
  const message = `The sandbox was asked to fail here (fault ${formatFaultRule(rule)}).`
  switch (rule.fault) {
    case 'status':
      return fail(context, rule, message)
    case 'slow-body':
      // The real response is slowed down, so the request goes on.
      context.fault = 'slow-body'
      return undefined
    default:
      return { status: 200, body: '', fault: rule.fault, reason: 'fault' }
  }
}

function fail(context: RequestContext, { status, retryAfter }: FaultRule, message: string): HandlerResult {
  const { space, now } = context
  const wait = retryAfter === undefined ? undefined : parseDuration(retryAfter)
  if (status === 429) return refuse(context, wait ?? STORM_RETRY_AFTER_MS, 'fault', message)
  const details = { message, reason: 'fault', ...(status && { status }) } as const
  if (wait === undefined) return problem('simulated_fault', details)
  const retryAt = now + wait
  return { ...problem('simulated_fault', { ...details, headers: retryAfterHeader(space, retryAt, now) }), retryAt }
}

function refuse(context: RequestContext, wait: number, reason: 'storm' | 'fault', sentence: string): HandlerResult {
  const { space, now } = context
  rememberRefusal(context, now + wait)
  return tooManyRequests(space, sentence, now + wait, now, reason)
}
