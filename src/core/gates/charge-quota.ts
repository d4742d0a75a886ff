import type { Caller } from '../../domain/keys.js'
import { type HandlerResult, isBrowserProbe } from '../../domain/messages.js'
import { counted } from '../../domain/numbers.js'
import {
  charge,
  isUnlimited,
  type Limits,
  NO_LIMITS,
  type QuotaUsage,
  type QuotaVerdict,
  reportedWindow,
  viewQuota,
  viewUnlimited,
  viewWindow,
  WINDOW_LENGTH,
  type WindowView,
} from '../../domain/quota.js'
import type { EpochMs } from '../../domain/time.js'
import { accountOf, type Gate, type RequestContext } from '../request-context.js'
import { refuseUntil } from '../responses.js'
import type { Space } from '../space.js'

/** Is there quota left, in the minute and the day? If so, this request is charged to both. @source docs/specification.md, "Rate limits" */
export const chargeQuota: Gate = (context) => {
  const { caller, space, now } = context
  const { limits } = caller
  if (isBrowserProbe(context.request)) return undefined
  context.isCounted = true
  const account = accountOf(context)
  if (isAlwaysSpent(caller)) {
    const perMinute = minuteOf(limits, now)
    const usage = spend(account.usage, perMinute, now)
    context.pending.account = { ...account, usage }
    return refuse(context, viewWindow('minute', usage.minute, perMinute, now))
  }
  if (!space.state.settings.rateLimit || isUnlimited(limits)) return undefined
  const verdict: QuotaVerdict = charge(account.usage, limits, now)
  if (verdict.kind === 'refused') return refuse(context, verdict.shown)
  context.pending.account = { ...account, usage: verdict.usage }
  context.shown = verdict.shown
  return undefined
}

/** The window in the headers of a request that was not charged. */
export function shownUncharged(space: Space, caller: Caller, now: EpochMs): WindowView {
  const { limits } = caller
  const { accounts, settings } = space.state
  if (isUnlimited(limits)) return viewUnlimited(now)
  if (!settings.rateLimit && !isAlwaysSpent(caller)) return viewQuota({}, limits, now)
  const { usage } = accounts.view(caller.account)
  if (!isAlwaysSpent(caller)) return viewQuota(usage, limits, now)
  const perMinute = minuteOf(limits, now)
  const { minute, day } = spend(usage, perMinute, now)
  return reportedWindow(viewWindow('minute', minute, perMinute, now), viewWindow('day', day, limits.perDay, now))
}

function refuse(context: RequestContext, shown: WindowView): HandlerResult {
  context.shown = shown
  const sentence = isAlwaysSpent(context.caller)
    ? 'The quota of this key is always used up. Use another key.'
    : `The limit of ${counted(shown.limit, 'request')} per ${shown.window} is used up.`
  return refuseUntil(context, shown.resetAt, sentence, `quota-${shown.window}`)
}

/** The key `sandbox-limited`: the minute is always used up. */
function isAlwaysSpent(caller: Caller): boolean {
  return caller.kind === 'key' && caller.apiKey.always === 'limited'
}

/** Of a key that is always limited, also where others have no limit in a minute. */
function minuteOf({ perMinute }: Limits, now: EpochMs): number {
  return perMinute === NO_LIMITS.perMinute ? viewUnlimited(now).limit : perMinute
}

function spend(usage: QuotaUsage, perMinute: number, now: EpochMs): QuotaUsage {
  const { resetAt } = viewWindow('minute', usage.minute, perMinute, now)
  return { ...usage, minute: { openedAt: resetAt - WINDOW_LENGTH.minute, used: perMinute } }
}
