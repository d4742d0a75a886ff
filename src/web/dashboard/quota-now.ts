import type { FaultView, KeyView, StormView, WindowState } from '../../control/views.js'
import type { FaultRule } from '../../domain/faults.js'
import { parseDuration } from '../../domain/time.js'

/** `leftMs` until it resets; 0 while it is not open. */
export type WindowNow = Pick<WindowState, 'limit' | 'remaining'> & { readonly leftMs: number }

/** A window that has ended is full again. */
export function windowAt({ limit, remaining, reset }: WindowState, now: number): WindowNow {
  const leftMs = reset === null ? 0 : Math.max(0, Date.parse(reset) - now)
  return { limit, remaining: leftMs > 0 || reset === null ? remaining : limit, leftMs }
}

/** The key that is always out of quota stays out. */
export function minuteAt({ minute, always }: Pick<KeyView, 'minute' | 'always'>, now: number): WindowNow {
  const shown = windowAt(minute, now)
  return always === 'limited' ? { ...shown, remaining: 0 } : shown
}

/** Milliseconds; 0 without a ban. */
export function banLeft({ ban, always }: Pick<KeyView, 'ban' | 'always'>, now: number): number {
  return ban === null || always === 'banned' ? 0 : Math.max(0, Date.parse(ban.until) - now)
}

export function isOut(key: Pick<KeyView, 'ban' | 'always'>, now: number): boolean {
  return banLeft(key, now) > 0 || key.always === 'banned' || key.always === 'revoked'
}

/** `changesIn` is undefined for a storm without an end. */
export function stormAt(
  { for: length, every, startedAt }: StormView,
  now: number,
): { readonly kind: 'active' | 'paused' | 'ended'; readonly changesIn: number | undefined } {
  const lasts = length === null ? undefined : parseDuration(length)
  const period = every === null ? undefined : parseDuration(every)
  const elapsed = now - Date.parse(startedAt)
  if (elapsed < 0) return { kind: 'ended', changesIn: undefined }
  if (lasts === undefined) return { kind: 'active', changesIn: undefined }
  const into = period === undefined ? elapsed : elapsed % period
  if (into < lasts) return { kind: 'active', changesIn: lasts - into }
  return period === undefined ? { kind: 'ended', changesIn: undefined } : { kind: 'paused', changesIn: period - into }
}

/** Setting a list resets its counts, so each rule keeps its remaining count. */
export function withoutRule(faults: readonly FaultView[], index: number): readonly FaultRule[] {
  return faults
    .filter(({ left }, at) => at !== index && left !== 0)
    .map(({ left, ...rule }) => (left === null ? rule : { ...rule, times: left }))
}
