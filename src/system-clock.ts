import type { SystemClock } from './space/ports.js'

/** The machine's clocks: the only place that reads them. */
export const systemClock: SystemClock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
}
