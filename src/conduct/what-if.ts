import {
  activeBan,
  type BanRecord,
  banFor,
  banRecordWithoutFuture,
  bringsBan,
  type Interval,
  NO_BAN_RECORD,
  noteRefusal,
} from '../domain/ban.js'
import {
  charge,
  type Limits,
  type QuotaUsage,
  type Usage,
  usageWithoutFuture,
  WINDOW_LENGTH,
  type WindowName,
} from '../domain/quota.js'
import type { Settings } from '../domain/settings.js'
import type { EpochMs } from '../domain/time.js'

export type BanRules = Pick<Settings, 'banAfter' | 'banDuration' | 'retryAfter'>

/** Why a plan would have refused a request. */
export type RefusalCause = WindowName | 'ban'

/** How often one plan would have refused. */
export type Refused = Record<RefusalCause, number>

/** What a plan would have made of a key's traffic, from its first refusal on. */
interface PlanSimulation {
  usage: QuotaUsage
  bans: BanRecord
  readonly refused: Refused
  /** All that comes in this half-open stretch is refused for the same cause. */
  from: EpochMs
  until: EpochMs
  cause: RefusalCause
  /** How many came in it so far, not in `refused` yet. */
  more: number
}

/** One of the two windows as it would be if nothing were refused. */
interface OpenWindow {
  /** Of no meaning while nothing was used. */
  openedAt: EpochMs
  used: number
  peak: number
}

/**
 * The traffic of one key, and what each plan would have made of it.
 *
 * As long as a plan refuses nothing, its quota is the one that nothing is
 * refused by, which all plans share; a plan's own account begins with its first
 * refusal. So traffic within all limits costs a few comparisons.
 */
export interface Traffic {
  readonly plans: readonly Limits[]
  requests: number
  readonly minute: OpenWindow
  readonly day: OpenWindow
  /** By plan, and after them the limits that the key really had; null while it has refused nothing. */
  readonly shades: (PlanSimulation | null)[]
  /** The smallest limits among the plans that have refused nothing. Infinity if all have refused some. */
  nextPerMinute: number
  nextPerDay: number
}

export function openTraffic(plans: readonly Limits[]): Traffic {
  const traffic: Traffic = {
    plans,
    requests: 0,
    minute: { openedAt: 0, used: 0, peak: 0 },
    day: { openedAt: 0, used: 0, peak: 0 },
    shades: [...plans.map(() => null), null],
    nextPerMinute: 0,
    nextPerDay: 0,
  }
  findNextLimits(traffic)
  return traffic
}

/** What of a traffic account is not worked out again. It is plain JSON. */
export type SavedTraffic = Pick<Traffic, 'requests' | 'minute' | 'day' | 'shades'>

/** A copy that stays as it is. */
export function saveTraffic({ requests, minute, day, shades }: SavedTraffic): SavedTraffic {
  return {
    requests,
    minute: { ...minute },
    day: { ...day },
    // What else a shade has is replaced, never changed.
    shades: shades.map((shade) => shade && { ...shade, refused: { ...shade.refused } }),
  }
}

export function restoreTraffic(plans: readonly Limits[], saved: SavedTraffic): Traffic {
  const traffic: Traffic = { ...openTraffic(plans), ...saveTraffic(saved) }
  findNextLimits(traffic)
  return traffic
}

/**
 * Counts one request that asks for a share of the quota.
 *
 * @param rules      how bans fall at present; a plan that refuses would ban, too
 * @param configured the limits that its key really has
 * @param now        from the space's clock
 * @param wall       real time
 */
export function countRequest(traffic: Traffic, rules: BanRules, configured: Limits, now: EpochMs, wall: EpochMs): void {
  const { minute, day, shades, plans } = traffic
  traffic.requests++
  fill(minute, WINDOW_LENGTH.minute, now)
  fill(day, WINDOW_LENGTH.day, now)
  if (minute.used > traffic.nextPerMinute || day.used > traffic.nextPerDay) openShades(traffic)
  if (shades[plans.length] === null && exceeds(traffic, configured)) shades[plans.length] = openShade(traffic)
  for (let plan = 0; plan < shades.length; plan++) {
    const shade = shades[plan]
    // The key's own limits may be others by the next request.
    if (shade !== null && shade !== undefined) cast(shade, plans[plan], configured, rules, now, wall)
  }
}

/**
 * The clock has gone back to an instant: as in a space's accounts, windows, waits and
 * bans that began later are over, also when the clock comes to that time again.
 */
export function forgetFutureTraffic({ minute, day, shades }: Traffic, now: EpochMs): void {
  for (const window of [minute, day]) if (window.openedAt > now) window.used = 0
  for (const shade of shades) {
    if (shade === null) continue
    shade.usage = usageWithoutFuture(shade.usage, now)
    shade.bans = banRecordWithoutFuture(shade.bans, now)
    if (shade.from > now) shade.until = shade.from
  }
}

/** What each plan would have refused, in the plans' order; last what the key's own limits would have. */
export function refusedBy({ shades }: Traffic): readonly Refused[] {
  return shades.map((shade) => {
    const refused = { minute: 0, day: 0, ban: 0, ...shade?.refused }
    if (shade !== null) refused[shade.cause] += shade.more
    return refused
  })
}

/** How many one plan would have refused so far, for whatever cause. @param plan its place among them */
export function refusalsOn({ shades }: Traffic, plan: number): number {
  const shade = shades[plan] ?? null
  if (shade === null) return 0
  const { refused, more } = shade
  return refused.minute + refused.day + refused.ban + more
}

/** Charges a window without a limit. Half-open; one from the future is over, as everywhere. */
function fill(window: OpenWindow, length: number, now: EpochMs): void {
  if (window.used > 0 && window.openedAt <= now && now < window.openedAt + length) window.used++
  else {
    window.openedAt = now
    window.used = 1
  }
  if (window.used > window.peak) window.peak = window.used
}

/** Opens the accounts of those plans whose limits this request, already counted, exceeds. */
function openShades(traffic: Traffic): void {
  const { plans, shades } = traffic
  for (const [plan, limits] of plans.entries()) {
    if (shades[plan] === null && exceeds(traffic, limits)) shades[plan] = openShade(traffic)
  }
  findNextLimits(traffic)
}

function exceeds({ minute, day }: Traffic, { perMinute, perDay }: Limits): boolean {
  return minute.used > perMinute || day.used > perDay
}

function openShade({ minute, day }: Traffic): PlanSimulation {
  return {
    usage: { ...usageBefore('minute', minute), ...usageBefore('day', day) },
    bans: NO_BAN_RECORD,
    refused: { minute: 0, day: 0, ban: 0 },
    from: 0,
    until: 0,
    cause: 'minute',
    more: 0,
  }
}

/** A window as it was before the request that was just counted. */
function usageBefore(name: WindowName, { openedAt, used }: OpenWindow): { readonly [Name in WindowName]?: Usage } {
  return used === 1 ? {} : { [name]: { openedAt, used: used - 1 } }
}

function findNextLimits(traffic: Traffic): void {
  const open = traffic.plans.filter((_, plan) => traffic.shades[plan] === null)
  traffic.nextPerMinute = Math.min(...open.map(({ perMinute }) => perMinute))
  traffic.nextPerDay = Math.min(...open.map(({ perDay }) => perDay))
}

/** Asks the real rules, in the order of the gates: is the key banned, does this bring a ban, is there quota? */
function cast(
  shade: PlanSimulation,
  plan: Limits | undefined,
  configured: Limits,
  rules: BanRules,
  now: EpochMs,
  wall: EpochMs,
): void {
  const isAlike = shade.cause === 'ban' || (plan !== undefined && rules.banAfter === 'never')
  // Where a refusal can bring no ban, it changes nothing, so all to come in its window fare alike.
  if (isAlike && shade.from <= now && now < shade.until) {
    shade.more++
    return
  }
  if (activeBan(shade.bans, now) === undefined && rules.banAfter !== 'never') {
    if (bringsBan(shade.bans, rules.banAfter, now, wall)) shade.bans = banFor(rules.banDuration, now)
  }
  const ban = activeBan(shade.bans, now)
  if (ban !== undefined) {
    refuse(shade, 'ban', ban)
    return
  }
  const verdict = charge(shade.usage, plan ?? configured, now)
  if (verdict.kind === 'charged') {
    shade.usage = verdict.usage
    // Its windows are others now, if the clock has gone back a little.
    shade.until = shade.from
    return
  }
  const { window, resetAt } = verdict.shown
  if (rules.banAfter !== 'never' && rules.retryAfter !== 'none')
    shade.bans = noteRefusal(shade.bans, resetAt, now, wall)
  refuse(shade, window, { from: now, until: resetAt })
}

function refuse(shade: PlanSimulation, cause: RefusalCause, stretch: Interval): void {
  shade.refused[shade.cause] += shade.more
  shade.cause = cause
  shade.more = 1
  shade.from = stretch.from
  shade.until = stretch.until
}
