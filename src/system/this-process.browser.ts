export const processId: number = 0

/** Browsers have no limit. */
export function allowListeners(_signal: AbortSignal): void {}

export type Environment = Readonly<Record<string, string | undefined>>

/** At most ten digits, because people type them. */
export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 32)
}
