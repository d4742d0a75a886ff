import { systemClock } from './system-clock.js'

/**
 * Acts when a time is over, and what had come until then has been read: a turn of the event loop later. Keeps no
 * process alive.
 *
 * @param delay in milliseconds of real time
 * @param act   hears when the time was over, monotonic
 */
export function later(delay: number, act: (over: number) => void): void {
  const over = () => {
    const now = systemClock.monotonic()
    setImmediate(() => act(now))
  }
  setTimeout(over, delay).unref()
}
