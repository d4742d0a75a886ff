import type { CliIo, StopSignal } from '../io.js'
import { type SignalHandlers, wishThenOrder } from '../stop-signals.js'

/** Signals that ask to end, or that make a process end. */
export type PartingSignal = StopSignal | (typeof OTHERS)[number]

/** Those that only `exec` must know of, lest it ends before its command does. */
const OTHERS = ['SIGHUP', 'SIGQUIT'] as const

/**
 * Makes the first signal a wish to be passed on, and a later one an order.
 *
 * SIGINT and SIGTERM are never let go again: the second of npm's must not end this
 * process between the command's end and its own.
 *
 * @returns how to leave the other signals alone again
 */
export function onPartingSignals(
  io: Pick<CliIo, 'onSignal' | 'monotonic'>,
  handlers: SignalHandlers<PartingSignal>,
): () => void {
  const hear = wishThenOrder(io, handlers)
  io.onSignal(hear)
  const unhear = OTHERS.map((signal) => onProcessSignal(signal, hear))
  return () => {
    for (const leave of unhear) leave()
  }
}

function onProcessSignal<Signal extends PartingSignal>(signal: Signal, hear: (signal: Signal) => void): () => void {
  const listener = () => hear(signal)
  process.on(signal, listener)
  return () => process.off(signal, listener)
}
