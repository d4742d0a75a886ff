import type { CliIo, StopSignal } from './io.js'

/** Within so many milliseconds a second signal is the first once more: npm sends each SIGINT twice. */
export const SAME_SIGNAL_MS = 100

/** What signals come to: the first is a wish, a later one an order. */
export interface SignalHandlers<Signal> {
  wish(signal: Signal): void
  order(signal: Signal): void
}

/** Tells a first signal from a later one, and takes a doubled one for one. */
export function wishThenOrder<Signal>(
  { monotonic }: Pick<CliIo, 'monotonic'>,
  { wish, order }: SignalHandlers<Signal>,
): (signal: Signal) => void {
  let firstAt: number | undefined
  return (signal) => {
    const now = monotonic()
    if (firstAt === undefined) {
      firstAt = now
      wish(signal)
    } else if (now - firstAt > SAME_SIGNAL_MS) order(signal)
  }
}

/** Makes the first signal a wish to stop, and a later one an order. @returns how to be no longer called */
export function onStopSignals(io: CliIo, handlers: SignalHandlers<StopSignal>): () => void {
  return io.onSignal(wishThenOrder(io, handlers))
}
