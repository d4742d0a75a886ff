import type { CliIo, StopSignal } from './io.js'

/** A second signal within this time counts as the first: npm sends each SIGINT twice. */
export const SAME_SIGNAL_MS = 100

/** Called for the first signal (stop gracefully) and for a later one (stop at once). */
export interface SignalHandlers<Signal> {
  graceful(signal: Signal): void
  force(signal: Signal): void
}

export function gracefulThenForce<Signal>(
  { monotonic }: Pick<CliIo, 'monotonic'>,
  { graceful, force }: SignalHandlers<Signal>,
): (signal: Signal) => void {
  let firstAt: number | undefined
  return (signal) => {
    const now = monotonic()
    if (firstAt === undefined) {
      firstAt = now
      graceful(signal)
    } else if (now - firstAt > SAME_SIGNAL_MS) force(signal)
  }
}

/** Stops gracefully at the first signal and at once at a later one. @returns a function that unsubscribes */
export function onStopSignals(io: CliIo, handlers: SignalHandlers<StopSignal>): () => void {
  return io.onSignal(gracefulThenForce(io, handlers))
}
