export const systemClock = {
  wall: Date.now,
  monotonic: (): number => performance.now(),
}

/** Acts after a delay, and after the tasks that were queued by then. */
export function later(delay: number, act: (end: number) => void): void {
  globalThis.setTimeout(() => {
    const now = systemClock.monotonic()
    globalThis.setTimeout(() => act(now))
  }, delay)
}
export const { setTimeout, clearTimeout } = globalThis
