import {
  activeBan,
  type BanRecord,
  banFor,
  banRecordWithoutFuture,
  type EarlyRequest,
  isRetryWindowOpen,
  NO_BAN_RECORD,
  type RetryWindow,
  withEarly,
} from '../domain/ban.js'
import {
  charge,
  type Limits,
  type QuotaUsage,
  usageWithoutFuture,
  WINDOW_LENGTH,
  type WindowName,
} from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import type { BanRules } from './judged-request.js'
import { addWait, dropEnded, isWaitOpen } from './waits.js'

export type Refused = Record<WindowName | 'ban', number>

/** The state of a key with a plan, since its first refusal. */
interface PlanState {
  usage: QuotaUsage
  bans: BanRecord
  waits: RetryWindow[]
  early: readonly EarlyRequest[]
  readonly refused: Refused
}

interface OpenWindow {
  openedAt: EpochMs
  used: number
  peak: number
}

/**
 * The traffic of one key, simulated with each plan. Before a plan's first refusal, its usage equals `minute` and `day`,
 * so its state is only created then: traffic within all limits costs a few comparisons.
 */
export interface Traffic {
  requests: number
  readonly minute: OpenWindow
  readonly day: OpenWindow
  /** By plan; the last for the actual limits of the key. Null until the first refusal. */
  readonly planStates: (PlanState | null)[]
}

export function openTraffic(): Traffic {
  const window = () => ({ openedAt: 0, used: 0, peak: 0 })
  return { requests: 0, minute: window(), day: window(), planStates: [] }
}

/**
 * Counts a request that reached the quota.
 * @param plans      limits of the plans
 * @param configured actual limits of the key, which may differ with each request
 * @param senders    number of senders that share the key
 * @param now        by the space's clock
 * @param wall       real time
 */
export function countRequest(
  traffic: Traffic,
  rules: BanRules,
  plans: readonly Limits[],
  configured: Limits,
  senders: number,
  now: EpochMs,
  wall: EpochMs,
): void {
  const { minute, day, planStates } = traffic
  traffic.requests++
  fill(minute, WINDOW_LENGTH.minute, now)
  fill(day, WINDOW_LENGTH.day, now)
  for (let plan = 0; plan <= plans.length; plan++) {
    const limits = plans[plan] ?? configured
    const isRefused = minute.used > limits.perMinute || day.used > limits.perDay
    const state = planStates[plan] ?? (isRefused ? stateBefore(traffic) : null)
    planStates[plan] = state
    if (state === null) continue
    // With many requests, nearly all plans are here.
    if (activeBan(state.bans, now) !== undefined) state.refused.ban++
    else simulate(state, limits, rules, senders, now, wall)
  }
}

/** Windows, waits and bans that begin in the future, or had ended before, do not come back. */
export function forgetFutureTraffic(
  { minute, day, planStates }: Traffic,
  before: EpochMs,
  now: EpochMs,
  wall: EpochMs,
): void {
  for (const window of [minute, day]) if (window.openedAt > now) window.used = 0
  for (const state of planStates) {
    if (state === null) continue
    state.usage = usageWithoutFuture(state.usage, now)
    state.bans = banRecordWithoutFuture(state.bans, now)
    state.early = state.early.filter(
      (wait) => isRetryWindowOpen(wait, before, wall) && isRetryWindowOpen(wait, now, wall),
    )
    for (const instant of [before, now]) dropEnded(state.waits, { now: instant, wall })
  }
}

export function refusedBy({ planStates }: Traffic): readonly Refused[] {
  return planStates.map((state) => ({ minute: 0, day: 0, ban: 0, ...state?.refused }))
}

/** Charges a window without a limit. A window opened in the future is over. */
function fill(window: OpenWindow, length: number, now: EpochMs): void {
  if (window.used > 0 && window.openedAt <= now && now < window.openedAt + length) window.used++
  else {
    window.openedAt = now
    window.used = 1
  }
  if (window.used > window.peak) window.peak = window.used
}

function stateBefore({ minute, day }: Traffic): PlanState {
  const usage = ({ openedAt, used }: OpenWindow) => ({ openedAt, used: used - 1 })
  return {
    usage: { ...(minute.used > 1 && { minute: usage(minute) }), ...(day.used > 1 && { day: usage(day) }) },
    bans: NO_BAN_RECORD,
    waits: [],
    early: [],
    refused: { minute: 0, day: 0, ban: 0 },
  }
}

/** Applies the rules for a key that is not banned, in the order of the gates: early requests, quota. */
function simulate(
  state: PlanState,
  limits: Limits,
  { banAfter, banDuration, retryAfter }: BanRules,
  senders: number,
  now: EpochMs,
  wall: EpochMs,
): void {
  const { refused } = state
  dropEnded(state.waits, { now, wall })
  const isEarly = state.waits.length >= senders
  if (isEarly && banAfter !== 'never') state.early = withEarly(state.early, '', now, wall)
  if (isEarly && banAfter !== 'never' && state.early.length >= banAfter * senders) {
    Object.assign(state, { bans: banFor(banDuration, now, 0), waits: [], early: [] })
    refused.ban++
    return
  }
  const verdict = charge(state.usage, limits, now)
  if (verdict.kind === 'charged') {
    state.usage = verdict.usage
    return
  }
  const { window, resetAt } = verdict.shown
  refused[window]++
  if (retryAfter === 'none') return
  const wait = { from: now, until: resetAt, wallUntil: wall + resetAt - now }
  if (isWaitOpen(wait, now, wall)) addWait(state.waits, wait)
}
