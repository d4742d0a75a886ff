import type { Caller } from '../../domain/callers.js'
import type { Answer } from '../../domain/messages.js'
import {
  charge,
  type QuotaUsage,
  type QuotaVerdict,
  shownWindow,
  viewQuota,
  viewWindow,
  WINDOW_LENGTH,
  type WindowView,
} from '../../domain/quota.js'
import type { EpochMs } from '../../domain/time.js'
import { rememberRefusal, tooManyRequests } from '../answers.js'
import type { Gate, Visit } from '../request-context.js'
import type { World } from '../space.js'

/** Is there quota left in both windows? If so, this request is charged to them. @source docs/specification.md, "Rate limits by plan" */
export const throttle: Gate = (visit) => {
  const { caller, world, now } = visit
  const { account, limits } = caller
  visit.asksForQuota = true
  if (isAlwaysSpent(caller)) {
    account.usage = spend(account.usage, limits.perMinute, now)
    return refuse(visit, viewWindow('minute', account.usage.minute, limits.perMinute, now))
  }
  if (!world.settings.rateLimit) return undefined
  const verdict: QuotaVerdict = charge(account.usage, limits, now)
  if (verdict.kind === 'refused') return refuse(visit, verdict.shown)
  account.usage = verdict.usage
  visit.shown = verdict.shown
  return undefined
}

/** What the headers show for a request that was not charged. */
export function shownUncharged(world: World, caller: Caller, now: EpochMs): WindowView {
  const { account, limits } = caller
  if (!world.settings.rateLimit && !isAlwaysSpent(caller)) return viewQuota({}, limits, now)
  if (!isAlwaysSpent(caller)) return viewQuota(account.usage, limits, now)
  const { minute, day } = spend(account.usage, limits.perMinute, now)
  return shownWindow(viewWindow('minute', minute, limits.perMinute, now), viewWindow('day', day, limits.perDay, now))
}

function refuse(visit: Visit, shown: WindowView): Answer {
  const { world, now } = visit
  visit.shown = shown
  rememberRefusal(visit, shown.resetAt)
  const all = shown.limit === 1 ? 'The 1 request' : `The ${shown.limit} requests`
  const sentence = `${all} per ${shown.window} of this plan ${shown.limit === 1 ? 'is' : 'are'} used up.`
  return tooManyRequests(world, sentence, shown.resetAt, now, `quota-${shown.window}`)
}

/** The key `sandbox-limited`: its minute is spent from the first request on, and so is every later one. */
function isAlwaysSpent(caller: Caller): boolean {
  return caller.kind === 'key' && caller.apiKey.always === 'limited'
}

function spend(usage: QuotaUsage, perMinute: number, now: EpochMs): QuotaUsage {
  const { resetAt } = viewWindow('minute', usage.minute, perMinute, now)
  return { ...usage, minute: { openedAt: resetAt - WINDOW_LENGTH.minute, used: perMinute } }
}
