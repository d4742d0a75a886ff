import { setMaxListeners } from 'node:events'

/** What tells one sandbox from another on the same machine. */
export const processId: number = process.pid

/** Lets any number of listeners wait for a signal without a warning. */
export function allowListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal)
}
