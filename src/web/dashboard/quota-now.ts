import type { KeyView, StormView, WindowState } from '../../control/views.js'
import { blows, type RunningStorm } from '../../domain/storm.js'
import { parseDuration } from '../../domain/time.js'

/** A quota window as it is shown: with the time until it resets, 0 while it is not open. */
export type WindowNow = Pick<WindowState, 'limit' | 'remaining'> & { readonly leftMs: number }

/** A quota window as it is at an instant: one that has ended since it was told is full again. */
export function windowAt({ limit, remaining, reset }: WindowState, now: number): WindowNow {
  if (reset === null) return { limit, remaining, leftMs: 0 }
  const leftMs = Date.parse(reset) - now
  return leftMs > 0 ? { limit, remaining, leftMs } : { limit, remaining: limit, leftMs: 0 }
}

/** A key's minute: that of a key which is always out of quota is spent, whatever the time. */
export function minuteAt({ minute, always }: Pick<KeyView, 'minute' | 'always'>, now: number): WindowNow {
  const shown = windowAt(minute, now)
  return always === 'limited' ? { ...shown, remaining: 0 } : shown
}

/** How long a key's ban still lasts, 0 if there is none. */
export function banLeft({ ban, always }: Pick<KeyView, 'ban' | 'always'>, now: number): number {
  if (ban === null || always === 'banned') return 0
  return Math.max(0, Date.parse(ban.until) - now)
}

/** What a storm does at an instant: `changesIn` is how long that goes on, undefined without end. */
export function stormAt(
  view: StormView,
  now: number,
): { readonly kind: 'blows' | 'pauses' | 'over'; readonly changesIn: number | undefined } {
  const storm = readStorm(view)
  const elapsed = now - storm.startedAt
  if (storm.for === undefined) return { kind: elapsed < 0 ? 'over' : 'blows', changesIn: undefined }
  const into = storm.every === undefined ? elapsed : elapsed % storm.every
  if (blows(storm, now)) return { kind: 'blows', changesIn: storm.for - into }
  if (storm.every === undefined || elapsed < 0) return { kind: 'over', changesIn: undefined }
  return { kind: 'pauses', changesIn: storm.every - into }
}

function readStorm({ rate, for: length, every, startedAt }: StormView): RunningStorm {
  const lasts = length === null ? undefined : parseDuration(length)
  const comes = every === null ? undefined : parseDuration(every)
  return {
    rate,
    startedAt: Date.parse(startedAt),
    ...(lasts === undefined ? {} : { for: lasts }),
    ...(comes === undefined ? {} : { every: comes }),
  }
}
