/** The machine's clocks. A space's clock derives from the first. */
export interface SystemClock {
  /** Milliseconds since the Unix epoch. */
  wall(): number
  /** Milliseconds from an arbitrary start, never going back: for measuring durations. */
  monotonic(): number
}

/** The machine's clocks: the only place that reads them. */
export const systemClock: SystemClock = {
  wall: () => Date.now(),
  // Not performance.now(), which loads perf_hooks: a start would take a millisecond longer.
  monotonic() {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1_000_000
  },
}
