import { setMaxListeners } from 'node:events'

export const processId: number = process.pid

/** Allows any number of listeners of a signal without a warning. */
export function allowListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal)
}
