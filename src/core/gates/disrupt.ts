import { type FaultRule, formatFaultRule, takeFault } from '../../domain/faults.js'
import type { Answer } from '../../domain/messages.js'
import { blows, STORM_RETRY_AFTER_MS } from '../../domain/storm.js'
import { problem, rememberRefusal, tooManyRequests } from '../answers.js'
import type { Gate, Visit } from '../request-context.js'

/** Is there a storm, or a fault for this operation? */
export const disrupt: Gate = (visit) => {
  if (visit.caller.kind !== 'key') return undefined
  const { storm, dice, faults } = visit.world
  if (storm !== undefined && blows(storm, visit.now) && dice.storm.next() < storm.rate) {
    return refuse(visit, storm.retryAfter ?? STORM_RETRY_AFTER_MS, 'storm', 'The service is overloaded.')
  }
  if (faults.length === 0 || visit.route.kind !== 'operation') return undefined
  const rule = takeFault(faults, visit.route.operation.id, () => dice.faults.next())
  return rule === undefined ? undefined : suffer(visit, rule)
}

function suffer(visit: Visit, rule: FaultRule): Answer | undefined {
  const message = `The sandbox was asked to fail here (fault ${formatFaultRule(rule)}).`
  switch (rule.fault) {
    case 'status':
      if (rule.status === 429) return refuse(visit, STORM_RETRY_AFTER_MS, 'fault', message)
      return problem('simulated_fault', { message, reason: 'fault', ...(rule.status && { status: rule.status }) })
    case 'slow-body':
      // The real response is slowed down, so the request goes on.
      visit.fault = 'slow-body'
      return undefined
    default:
      return { status: 200, body: '', fault: rule.fault, reason: 'fault' }
  }
}

function refuse(visit: Visit, wait: number, reason: 'storm' | 'fault', sentence: string): Answer {
  const { world, now } = visit
  rememberRefusal(visit, now + wait)
  return tooManyRequests(world, sentence, now + wait, now, reason)
}
