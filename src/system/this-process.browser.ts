export const processId: number = 0

/** Browsers have no limit. */
export function allowListeners(_signal: AbortSignal): void {}

/** A page cannot know. */
export function countConnecting(): number {
  return 0
}

export function newChannel(): Channel {
  return new MessageChannel()
}

export interface Channel {
  readonly port1: { close(): void }
  readonly port2: { postMessage(message: unknown): void }
}

export type Environment = Readonly<Record<string, string | undefined>>

/** At most ten digits, because people type them. */
export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 32)
}
