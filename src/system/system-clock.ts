import type { SystemClock } from '../domain/time.js'

/** The machine's clocks: the only place that reads them. */
export const systemClock: SystemClock = {
  wall: () => Date.now(),
  // Not performance.now(), which loads perf_hooks: a start would take a millisecond longer.
  monotonic() {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1_000_000
  },
}
