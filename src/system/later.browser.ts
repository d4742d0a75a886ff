import { systemClock } from './system-clock.js'

/** Acts when a time is over, and what stood in the page's queue then has had its turn. */
export function later(delay: number, act: (over: number) => void): void {
  setTimeout(() => {
    const now = systemClock.monotonic()
    setTimeout(() => act(now))
  }, delay)
}
