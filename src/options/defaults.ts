import type { SpaceSource } from '../domain/keys.js'
import type { ListOrder } from '../domain/settings.js'
import { SECOND_MS } from '../domain/time.js'
import type { UpstreamWrites } from '../domain/upstream.js'
import type { LogFormat } from './options.js'

export { DEFAULT_BASE_PATH } from '../contract/contract-data.js'

export interface StartDefaults {
  readonly port: number
  /** Undefined keeps state in memory. */
  readonly store: string | undefined
  readonly log: LogFormat
}

export const STORE_FILE = '.petstore-sandbox/store.json'

/** In a program and under `exec`: can run beside others, and leaves no files. */
export const EMBEDDED_DEFAULTS: StartDefaults = { port: 0, store: undefined, log: 'silent' }

/** @source docs/switches.md, "Options of serve" */
export function serveDefaults(log: LogFormat): StartDefaults {
  return { port: 4010, store: STORE_FILE, log }
}

/** Defaults of the options that are not settings of a space. */
export const DEFAULTS = {
  host: '127.0.0.1',
  order: 'newest',
  maxStore: 256 * 1024 * 1024,
  maxSpaces: 1000,
  logLimit: 1000,
  spaceFrom: 'key',
  cors: '*',
  group: 'default',
  upstreamWrites: 'local',
  upstreamTimeout: 10 * SECOND_MS,
} as const satisfies {
  readonly order: ListOrder
  readonly spaceFrom: SpaceSource
  readonly upstreamWrites: UpstreamWrites
  readonly [name: string]: unknown
}
