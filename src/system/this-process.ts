import { setMaxListeners } from 'node:events'

export const processId: number = process.pid

export function allowListeners(signal: AbortSignal): void {
  try {
    setMaxListeners(0, signal)
  } catch {
    // A signal of happy-dom, which has no limit.
  }
}

/** Whether this process looks up a host or opens a connection: what is sent over it has not left yet. */
export function isConnecting(): boolean {
  return process.getActiveResourcesInfo().some((kind) => kind === 'TCPConnectWrap' || kind === 'GetAddrInfoReqWrap')
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
