import type { Caller } from '../domain/callers.js'
import type { Readings, ServiceRequest, ServiceRoute } from '../domain/messages.js'
import type { EpochMs } from '../domain/time.js'
import type { BanRules } from './what-if.js'

/** A request as conduct looks at it: what was asked, by whom, and where it led. */
export interface JudgedRequest {
  readonly request: ServiceRequest
  /** From the space's clock. */
  readonly now: EpochMs
  readonly path: string
  readonly route: ServiceRoute
  readonly caller: Caller
  /** What the request says; undefined where nothing has read it. */
  readonly readings: Readings | undefined
  /** Undefined where the sandbox has no code of its own for the operation. */
  readonly handler: unknown
  readonly space: {
    readonly settings: BanRules
    readonly shared: { readonly basePath: string }
  }
}
