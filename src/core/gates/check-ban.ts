import { activeBan, banFor, withEarly } from '../../domain/ban.js'
import type { KeyCaller } from '../../domain/keys.js'
import type { HandlerResult } from '../../domain/messages.js'
import { counted } from '../../domain/numbers.js'
import { PROBLEMS } from '../../domain/problems.js'
import type { EpochMs } from '../../domain/time.js'
import { accountOf, type Gate, type RequestContext } from '../request-context.js'
import { refuseUntil } from '../responses.js'

/**
 * Is the key banned, or does this request lead to a ban? Conduct says whether a request is early.
 * @source docs/specification.md, "Rate limits", 4; docs/behaviour.md, "Bans"
 */
export const checkBan: Gate = (context) => {
  const { caller, space, now } = context
  if (caller.kind !== 'key') return undefined
  const { banDuration } = space.state.settings
  if (caller.apiKey.always === 'banned')
    return refuseBanned(context, now + banDuration, 'This API key is always banned. Use another key.')
  const active = activeBan(accountOf(context).bans, now)
  if (active !== undefined) return refuseBanned(context, active.until)
  const early = caller.apiKey.always === undefined ? countTowardsBan(context, caller) : undefined
  if (early === undefined) return undefined
  context.pending.account = { ...accountOf(context), bans: banFor(banDuration, now, space.requests, true) }
  const until = new Date(now + banDuration).toISOString()
  const [count, senders] = early
  const of = senders > 1 ? ` of ${senders} senders` : ''
  const text = `Key ${caller.label} is banned until ${until}: ${counted(count, 'early request')}${of}.`
  space.log.publish({ at: new Date(now).toISOString(), verb: 'ban', text, until, key: caller.label, early: count })
  return refuseBanned(context, now + banDuration)
}

/** @returns the number of early requests, if it brings a ban, and how many senders they may have come from */
function countTowardsBan(
  context: RequestContext,
  { sender }: KeyCaller,
): readonly [count: number, senders: number] | undefined {
  const { space, now, wall } = context
  const { banAfter } = space.state.settings
  const senders = banAfter === 'never' ? undefined : space.conduct.sendersIfEarly(context)
  if (banAfter === 'never' || senders === undefined) return undefined
  const account = accountOf(context)
  const early = withEarly(account.early, sender, now, wall)
  context.pending.account = { ...account, early }
  const count = early.reduce((sum, earlyRequest) => sum + Number(earlyRequest.sender === sender), 0)
  return count >= banAfter * senders ? [count, senders] : undefined
}

function refuseBanned(
  context: RequestContext,
  until: EpochMs,
  message: string = PROBLEMS.api_key_banned.message,
): HandlerResult {
  context.isCounted = true
  const { banStatus } = context.space.state.settings
  const account = accountOf(context)
  if (account.early.length > 0) context.pending.account = { ...account, early: [] }
  return refuseUntil(context, until, message, 'ban', 'api_key_banned', banStatus)
}
