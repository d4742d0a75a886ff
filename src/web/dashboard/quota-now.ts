import type { KeyView, StormView, WindowState } from '../../control/views.js'
import { blows, type RunningStorm } from '../../domain/storm.js'
import { parseDuration } from '../../domain/time.js'

/** A quota window as it is at an instant: one that has ended since it was told is full again. */
export function windowAt({ limit, remaining, reset }: WindowState, now: number): WindowState & { leftMs: number } {
  const leftMs = reset === null ? 0 : Date.parse(reset) - now
  return leftMs > 0 ? { limit, remaining, reset, leftMs } : { limit, remaining: limit, reset: null, leftMs: 0 }
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
