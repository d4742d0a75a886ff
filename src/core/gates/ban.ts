import { activeBan, banFor, bringsBan } from '../../domain/ban.js'
import type { HandlerResult } from '../../domain/messages.js'
import { PROBLEMS } from '../../domain/problems.js'
import type { EpochMs } from '../../domain/time.js'
import { limitBody, problem, retryAfterHeader } from '../answers.js'
import type { Gate, RequestContext } from '../request-context.js'

/** Is the key banned, or does this request bring the ban? @source docs/specification.md, "When the limit is exceeded", 4 */
export const ban: Gate = (context) => {
  const { caller, space, now, wall } = context
  if (caller.kind !== 'key') return undefined
  const { banAfter, banDuration } = space.settings
  if (caller.apiKey.always === 'banned') return banned(context, now + banDuration)
  const { account } = caller
  const inForce = activeBan(account.bans, now)
  if (inForce !== undefined) return banned(context, inForce.until)
  if (banAfter === 'never' || !bringsBan(account.bans, banAfter, now, wall)) return undefined
  space.setBans(account, banFor(banDuration, now))
  return banned(context, now + banDuration)
}

function banned(context: RequestContext, until: EpochMs): HandlerResult {
  const { space, now } = context
  context.asksForQuota = true
  const { banStatus } = space.settings
  const headers = retryAfterHeader(space, until, now)
  const wait = headers.length === 0 ? '' : ' Wait for the time in Retry-After.'
  const message = PROBLEMS.api_key_banned.message + wait
  const retryAt = until
  if (banStatus !== 429)
    return { ...problem('api_key_banned', { status: banStatus, message, headers, reason: 'ban' }), retryAt }
  return { ...limitBody(space, 'api_key_banned', message), headers, retryAt, reason: 'ban' }
}
