import type { Caller } from '../domain/callers.js'
import type { Readings, ServiceRequest, ServiceRoute } from '../domain/messages.js'
import type { Settings } from '../domain/settings.js'
import type { EpochMs } from '../domain/time.js'
import type { BanRules } from './what-if.js'

/** When a request came, and what its sender had heard by then. */
export interface Arrival {
  /** From the space's clock. */
  readonly now: EpochMs
  /** Real time. */
  readonly wall: EpochMs
  /** The ordinal of its connection; 0 in process. */
  readonly connection: number
  /** Every answer whose end has an ordinal up to this had been heard, for certain, by whoever opened its connection. */
  readonly heardUpTo: number
}

/** A request as conduct looks at it: what was asked, by whom, and where it led. */
export interface JudgedRequest extends Arrival {
  readonly request: ServiceRequest
  readonly path: string
  readonly route: ServiceRoute
  readonly caller: Caller
  /** What the request says; undefined where nothing has read it. */
  readonly readings: Readings | undefined
  /** Undefined where the sandbox has no code of its own for the operation. */
  readonly handler: unknown
  readonly space: {
    readonly settings: BanRules & Pick<Settings, 'rateLimit'>
    /** How many senders may share a key for the same request at the same time. */
    readonly senders: number
    readonly shared: { readonly basePath: string }
  }
}
