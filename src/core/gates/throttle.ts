import { isBrowsersOwn } from '../../domain/browsers-own.js'
import type { Caller } from '../../domain/callers.js'
import type { HandlerResult } from '../../domain/messages.js'
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
import type { Gate, RequestContext } from '../request-context.js'
import type { Space } from '../space.js'

/** Is there quota left in both windows? If so, this request is charged to them. @source docs/specification.md, "Rate limits by plan" */
export const throttle: Gate = (context) => {
  const { caller, space, now } = context
  const { account, limits } = caller
  if (isBrowsersOwn(context.request)) return undefined
  context.asksForQuota = true
  if (isAlwaysSpent(caller)) {
    space.chargeQuota(account, spend(account.usage, limits.perMinute, now))
    return refuse(context, viewWindow('minute', account.usage.minute, limits.perMinute, now))
  }
  if (!space.settings.rateLimit) return undefined
  const verdict: QuotaVerdict = charge(account.usage, limits, now)
  if (verdict.kind === 'refused') return refuse(context, verdict.shown)
  space.chargeQuota(account, verdict.usage)
  context.shown = verdict.shown
  return undefined
}

/** What the headers show for a request that was not charged. */
export function shownUncharged(space: Space, caller: Caller, now: EpochMs): WindowView {
  const { account, limits } = caller
  if (!space.settings.rateLimit && !isAlwaysSpent(caller)) return viewQuota({}, limits, now)
  if (!isAlwaysSpent(caller)) return viewQuota(account.usage, limits, now)
  const { minute, day } = spend(account.usage, limits.perMinute, now)
  return shownWindow(viewWindow('minute', minute, limits.perMinute, now), viewWindow('day', day, limits.perDay, now))
}

function refuse(context: RequestContext, shown: WindowView): HandlerResult {
  const { space, now } = context
  context.shown = shown
  rememberRefusal(context, shown.resetAt)
  const all = shown.limit === 1 ? 'The 1 request' : `The ${shown.limit} requests`
  const sentence = `${all} per ${shown.window} of this plan ${shown.limit === 1 ? 'is' : 'are'} used up.`
  return tooManyRequests(space, sentence, shown.resetAt, now, `quota-${shown.window}`)
}

/** The key `sandbox-limited`: its minute is spent from the first request on, and so is every later one. */
function isAlwaysSpent(caller: Caller): boolean {
  return caller.kind === 'key' && caller.apiKey.always === 'limited'
}

function spend(usage: QuotaUsage, perMinute: number, now: EpochMs): QuotaUsage {
  const { resetAt } = viewWindow('minute', usage.minute, perMinute, now)
  return { ...usage, minute: { openedAt: resetAt - WINDOW_LENGTH.minute, used: perMinute } }
}
