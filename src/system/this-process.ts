import { setMaxListeners } from 'node:events'

export const processId: number = process.pid

export function allowListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal)
}

export type Environment = Readonly<Record<string, string | undefined>>

/** At most ten digits, because people type them. */
const SEED_BOUND = 2 ** 32

/** The only use of the machine's randomness. */
export function randomSeed(): number {
  return Math.floor(Math.random() * SEED_BOUND)
}
