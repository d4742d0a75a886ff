import { setMaxListeners } from 'node:events'

export const processId: number = process.pid

export function allowListeners(signal: AbortSignal): void {
  setMaxListeners(0, signal)
}

export type Environment = Readonly<Record<string, string | undefined>>
