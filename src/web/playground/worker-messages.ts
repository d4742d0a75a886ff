import type { EpochMs } from '../../domain/time.js'

/** Requests of a page or a newer worker to the service worker that runs the sandbox. */
export type WorkerRequest =
  | 'keeping'
  /** Take control of pages loaded without the worker, for example by a forced reload. */
  | 'claim'
  /** Replace the old version without waiting for its pages to close. */
  | 'take-over'
  /** From a newer version: end streams and other work that it would wait for. */
  | 'step-aside'

export interface Keeping {
  /** In this browser's database, or only in the worker, which browsers end when idle. */
  readonly place: 'browser' | 'memory'
  readonly notice: string | undefined
}

/** Address, relative to the site, at which the worker sends a request at an instant of a space's clock. */
export const TIMED_REQUEST = 'timed'

export interface TimedResponse {
  /** 0 without a response. */
  readonly status: number
  readonly retryAfter: number | null
  readonly isBanned: boolean
  readonly at: EpochMs
}
