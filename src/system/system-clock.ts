import timers from 'node:timers'

/**
 * The machine's timers, read when the package is loaded: fake timers that a test installs later in the same process do
 * not stop the sandbox. Not the global ones, which are a window's in jsdom.
 */
export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = timers

export interface SystemClock {
  /** Milliseconds since the Unix epoch. */
  wall(): number
  /** Milliseconds from an arbitrary start, never going back: for measuring durations. */
  monotonic(): number
}

const { hrtime } = process

/** The only place that reads the machine's clocks. */
export const systemClock: SystemClock = {
  wall: Date.now,
  // Not performance.now(), which loads perf_hooks: a start would take a millisecond longer.
  monotonic() {
    const [seconds, nanoseconds] = hrtime()
    return seconds * 1000 + nanoseconds / 1_000_000
  },
}

/**
 * Acts one event loop turn after a delay, once data that had arrived is read. Does not keep the process alive. By the
 * present timers: where a test has faked them, its clients wait by them.
 */
export function later(delay: number, act: (end: number) => void): void {
  const end = () => {
    const now = systemClock.monotonic()
    const next = globalThis.setImmediate ?? setImmediate
    next(() => act(now))
  }
  const timer: Partial<NodeJS.Timeout> = globalThis.setTimeout(end, delay)
  timer.unref?.()
}
