import { setMaxListeners } from 'node:events'

export const processId: number = process.pid

export function allowListeners(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal)
  } catch {
    // A signal of happy-dom, which has no limit.
  }
}

/** Hosts that this process looks up, and connections that it opens: what is sent over them has not left yet. */
export function countConnecting(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'ConnectWrap' || kind === 'GetAddrInfoReqWrap')
    .length
}

/** Test environments such as jsdom leave the global one out. */
export function newChannel(): Channel {
  return new (globalThis.MessageChannel ?? process.getBuiltinModule('node:worker_threads').MessageChannel)()
}

export interface Channel {
  readonly port1: { close(): void }
  readonly port2: { postMessage(message: unknown): void }
}

export type Environment = Readonly<Record<string, string | undefined>>

/** At most ten digits, because people type them. */
const SEED_BOUND = 2 ** 32

/** The only use of the machine's randomness. */
export function randomSeed(): number {
  return Math.floor(Math.random() * SEED_BOUND)
}
