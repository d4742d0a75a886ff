import type { CliIo, StopSignal } from './io.js'

/** A second signal within this time counts as the first: npm sends each SIGINT twice. */
export const SAME_SIGNAL_MS = 100

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

export function onStopSignals(io: CliIo, handlers: SignalHandlers<StopSignal>): () => void {
  return io.onSignal(gracefulThenForce(io, handlers))
}
