import type { CliIo, StopSignal } from '../io.js'
import { gracefulThenForce, type SignalHandlers } from '../stop-signals.js'

/** Signals that end a process, or ask it to end. */
export type PartingSignal = StopSignal | (typeof OTHERS)[number]

/** Signals that only `exec` handles, so that it does not end before its command. */
const OTHERS = ['SIGHUP', 'SIGQUIT'] as const

/**
 * The first signal is passed on to the command; a later one kills it.
 *
 * SIGINT and SIGTERM stay handled: npm sends each twice, and the second must not end this
 * process between the command's end and its own.
 *
 * @returns how to leave the other signals alone again
 */
export function onPartingSignals(
  io: Pick<CliIo, 'onSignal' | 'monotonic'>,
  handlers: SignalHandlers<PartingSignal>,
): () => void {
  const hear = gracefulThenForce(io, handlers)
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
