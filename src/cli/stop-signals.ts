import type { CliIo, StopSignal } from './io.js'

/** Within so many milliseconds a second signal is the first once more: npm sends each SIGINT twice. */
export const SAME_SIGNAL_MS = 100

/**
 * Makes the first signal a wish to stop, and a later one an order.
 *
 * @returns how to leave signals alone again
 */
export function onStopSignals(
  io: CliIo,
  { wish, order }: { wish(): void; order(signal: StopSignal): void },
): () => void {
  let firstAt: number | undefined
  return io.onSignal((signal) => {
    const now = io.monotonic()
    if (firstAt === undefined) {
      firstAt = now
      wish()
    } else if (now - firstAt > SAME_SIGNAL_MS) order(signal)
  })
}
