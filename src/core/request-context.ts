import type { Caller } from '../domain/callers.js'
import type { WireFault } from '../domain/faults.js'
import type { Answer, Readings, ServiceRequest, ServiceRoute } from '../domain/messages.js'
import type { WindowView } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import type { World } from './space.js'

/** A request on its way through the gates, and what is known about it so far. */
export interface Visit {
  readonly world: World
  readonly request: ServiceRequest
  readonly now: EpochMs
  readonly path: string
  readonly query: string
  readonly route: ServiceRoute
  readonly caller: Caller
  /** Undefined where the operation is not ours, so that Prism answers it, or where there is none. */
  readonly handler: Handler | undefined
  /** The window that the headers show, once a gate has decided. */
  shown: WindowView | undefined
  /** A fault to apply to the response on the wire. */
  fault: WireFault | undefined
  readings: Readings | undefined
  /** It got as far as the quota, or a ban stopped it just before. */
  asksForQuota: boolean
}

/** Asks one question about a request: answers it, or lets it pass (undefined). */
export type Gate = (visit: Visit) => Answer | Promise<Answer> | undefined

/** Carries out an operation. The readings have no violations. */
export type Handler = (visit: Visit, readings: Readings) => Answer | Promise<Answer>
