import type { ListOrder } from '../domain/settings.js'
import { SECOND_MS } from '../domain/time.js'
import type { UpstreamWrites } from '../domain/upstream.js'
import type { LogFormat } from './options.js'

/** Defaults that depend on who starts the sandbox. */
export interface StartDefaults {
  readonly port: number
  /** File of the store; undefined is in memory only. */
  readonly store: string | undefined
  readonly log: LogFormat
  /** Senders of a key in the default space, unless they are stated. A named space is one client's, wherever it is. */
  readonly senders: number
}

/** Where `serve` keeps its state, in the working directory. */
export const STORE_FILE = '.petstore-sandbox/store.json'

/** In a program and under `exec`: runs beside others and leaves no trace. */
export const EMBEDDED_DEFAULTS: StartDefaults = { port: 0, store: undefined, log: 'silent', senders: 1 }

/** @source docs/switches.md, "Options of serve" */
export function serveDefaults(log: LogFormat): StartDefaults {
  return { port: 4010, store: STORE_FILE, log, senders: 8 }
}

/** The defaults of everything except the settings of a space (those are in domain/settings.ts). */
export const DEFAULTS = {
  host: '127.0.0.1',
  basePath: '/v1',
  order: 'newest',
  maxStore: 256 * 1024 * 1024,
  maxSpaces: 1000,
  logLimit: 1000,
  cors: '*',
  group: 'default',
  upstreamWrites: 'local',
  upstreamTimeout: 10 * SECOND_MS,
} as const satisfies {
  readonly order: ListOrder
  readonly upstreamWrites: UpstreamWrites
  readonly [name: string]: unknown
}
