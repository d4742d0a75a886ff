import type { KeyView, WindowState } from '../../control/views.js'

/** `leftMs` until it resets; 0 while it is not open. */
export type WindowNow = Pick<WindowState, 'limit' | 'remaining'> & { readonly leftMs: number }

/** A window that has ended is full again. */
export function windowAt({ limit, remaining, reset }: WindowState, now: number): WindowNow {
  const leftMs = reset === null ? 0 : Math.max(0, Date.parse(reset) - now)
  return { limit, remaining: leftMs > 0 || reset === null ? remaining : limit, leftMs }
}

/** The key that is always out of quota stays out. */
export function minuteAt({ minute, always }: Pick<KeyView, 'minute' | 'always'>, now: number): WindowNow | undefined {
  if (minute === null) return undefined
  const shown = windowAt(minute, now)
  return always === 'limited' ? { ...shown, remaining: 0 } : shown
}

/** Milliseconds; 0 without a ban. */
export function banLeft({ ban, always }: Pick<KeyView, 'ban' | 'always'>, now: number): number {
  return ban === null || always === 'banned' ? 0 : Math.max(0, Date.parse(ban.until) - now)
}
