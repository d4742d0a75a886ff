import { DAY_MS, type DurationMs, type EpochMs, MINUTE_MS } from './time.js'

export interface Usage {
  readonly openedAt: EpochMs
  readonly used: number
}

/** For a clock that was set back: drops windows opened later. */
export function usageWithoutFuture({ minute, day }: QuotaUsage, now: EpochMs): QuotaUsage {
  return {
    ...(minute !== undefined && minute.openedAt <= now ? { minute } : {}),
    ...(day !== undefined && day.openedAt <= now ? { day } : {}),
  }
}

export interface Limits {
  readonly perMinute: number
  readonly perDay: number
}

/** Requests already used, or all but those left, which follow from the limits of the key. */
export interface UsedUp {
  readonly perMinute?: number | { readonly left: number }
  readonly perDay?: number | { readonly left: number }
}

/** @param limit the limit of its window */
export function countUsed(used: number | { readonly left: number }, limit: number): number {
  return typeof used === 'number' ? used : Math.max(0, limit - used.left)
}

/** Of a key without quotas, where the contract documents such headers. */
const SHOWN_WITHOUT_LIMITS = 1_000_000

export function isUnlimited({ perMinute, perDay }: Limits): boolean {
  return perMinute === NO_LIMITS.perMinute && perDay === NO_LIMITS.perDay
}

/** Larger than any limit that can be set, and finite, to allow counting down. */
export const NO_LIMITS: Limits = { perMinute: 2 ** 53, perDay: 2 ** 53 }

export interface QuotaUsage {
  readonly minute?: Usage
  readonly day?: Usage
}

export type WindowName = 'minute' | 'day'

export interface WindowView {
  readonly window: WindowName
  readonly limit: number
  readonly remaining: number
  readonly resetAt: EpochMs
}

export type QuotaVerdict =
  | {
      readonly kind: 'charged'
      readonly usage: QuotaUsage
      readonly shown: WindowView
    }
  | { readonly kind: 'refused'; readonly shown: WindowView }

/** @source docs/specification.md, "Rate limits" */
export const WINDOW_LENGTH: Readonly<Record<WindowName, DurationMs>> = {
  minute: MINUTE_MS,
  day: DAY_MS,
}

/** For Enterprise. */
export const CUSTOM_LIMITS: Limits = { perMinute: 10_000, perDay: 1_000_000 }

/**
 * A window is half-open and starts with its first charged request. One opened in the future (the clock was set back) is
 * over.
 */
export function viewWindow(window: WindowName, usage: Usage | undefined, limit: number, now: EpochMs): WindowView {
  const open = isWindowOpen(window, usage, now)
  const openedAt = open ? usage.openedAt : now
  const used = open ? usage.used : 0
  return {
    window,
    limit,
    remaining: Math.max(0, limit - used),
    resetAt: openedAt + WINDOW_LENGTH[window],
  }
}

/** What headers show without quotas: a minute by the clock. */
export function viewUnlimited(now: EpochMs): WindowView {
  const resetAt = (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS
  return { window: 'minute', limit: SHOWN_WITHOUT_LIMITS, remaining: SHOWN_WITHOUT_LIMITS, resetAt }
}

export function isWindowOpen(window: WindowName, usage: Usage | undefined, now: EpochMs): usage is Usage {
  return usage !== undefined && usage.openedAt <= now && now < usage.openedAt + WINDOW_LENGTH[window]
}

/**
 * Chooses the window for the headers: the window with fewer remaining requests, the minute on a tie; if both are used
 * up, the later reset. @source docs/behaviour.md, "the window in the headers"
 */
export function reportedWindow(minute: WindowView, day: WindowView): WindowView {
  if (minute.remaining === 0 && day.remaining === 0) return day.resetAt > minute.resetAt ? day : minute
  return day.remaining < minute.remaining ? day : minute
}

export function viewQuota(usage: QuotaUsage, limits: Limits, now: EpochMs): WindowView {
  return reportedWindow(
    viewWindow('minute', usage.minute, limits.perMinute, now),
    viewWindow('day', usage.day, limits.perDay, now),
  )
}

/** Charges one request to both windows, or to neither: a refused request costs nothing. @source docs/specification.md, "Rate limits"; docs/behaviour.md, "quota windows"; docs/behaviour.md, "what counts against a quota" */
export function charge(usage: QuotaUsage, limits: Limits, now: EpochMs): QuotaVerdict {
  const minute = usageAfter('minute', usage.minute, now)
  const day = usageAfter('day', usage.day, now)
  if (minute.used > limits.perMinute || day.used > limits.perDay)
    return { kind: 'refused', shown: viewQuota(usage, limits, now) }
  const charged = { minute, day }
  return { kind: 'charged', usage: charged, shown: viewQuota(charged, limits, now) }
}

function usageAfter(window: WindowName, usage: Usage | undefined, now: EpochMs): Usage {
  return isWindowOpen(window, usage, now)
    ? { openedAt: usage.openedAt, used: usage.used + 1 }
    : { openedAt: now, used: 1 }
}
