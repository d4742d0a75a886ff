/** The machine's clocks, as a browser has them. */
export const systemClock = {
  wall: (): number => Date.now(),
  monotonic: (): number => performance.now(),
}
