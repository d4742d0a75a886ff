import { activeBan } from '../domain/ban.js'
import { viewWindow, type WindowName } from '../domain/quota.js'
import type { JudgedRequest } from './judged-request.js'
import type { RequestedWait } from './waits.js'

/**
 * Whether the reason of a refusal is still there when a request arrives, before its quota is charged. A wait without it
 * is over. Storms and bans that started after the refusal are others.
 */
export function isReasonThere(
  { request, reason, ruleId }: Pick<RequestedWait, 'request' | 'reason' | 'ruleId'>,
  { caller, space, now }: JudgedRequest,
): boolean {
  if (caller.kind !== 'key') return false
  const { limits, apiKey } = caller
  const account = space.state.accounts.view(caller.account)
  const isFull = (name: WindowName, limit: number) =>
    (space.state.settings.rateLimit || apiKey.always === 'limited') &&
    viewWindow(name, account.usage[name], limit, now).remaining === 0
  switch (reason) {
    case 'quota-minute':
      return isFull('minute', limits.perMinute)
    case 'quota-day':
      return isFull('day', limits.perDay)
    case 'ban':
      return apiKey.always === 'banned' || hasStartedBefore(request, activeBan(account.bans, now))
    case 'storm':
      return hasStartedBefore(request, space.state.storm)
    case 'fault':
      return space.state.faults.some(({ id }) => id === ruleId)
    default:
      // Of a single request, or of the service behind the sandbox.
      return true
  }
}

function hasStartedBefore(request: number, started: { readonly afterRequests: number } | undefined): boolean {
  return started !== undefined && started.afterRequests < request
}
