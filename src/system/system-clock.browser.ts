export const systemClock = {
  wall: Date.now,
  monotonic: (): number => performance.now(),
}

/** Acts after a delay, and after the tasks that were queued by then. */
export function later(delay: number, act: (end: number) => void): void {
  setTimeout(() => {
    const now = systemClock.monotonic()
    setTimeout(() => act(now))
  }, delay)
}
export const { setTimeout, clearTimeout } = globalThis
