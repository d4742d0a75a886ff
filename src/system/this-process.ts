import { executionAsyncResource } from 'node:async_hooks'
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

const held: object[] = []

/**
 * Keeps process.nextTick fast: Node makes an object with computed names for each call, and V8 remembers their shape
 * weakly. A full garbage collection without such an object (after reading a large store) leaves V8 on the slow path.
 */
export function holdTickShape(): void {
  if (held.length > 0) return
  process.nextTick(() => held.push(executionAsyncResource()))
}

/**
 * Keeps V8's young generation at 2 MB, twice; it would grow to 16 MB in Node 20 and 64 in Node 24. Little of a request
 * survives, so scavenges cost the same. Only for a process of our own. V8 applies this flag while running.
 */
export function limitYoungGeneration(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1')
}
