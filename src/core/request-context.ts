import type { Caller } from '../domain/callers.js'
import type { WireFault } from '../domain/faults.js'
import type { Answer, Readings, ServiceRequest, ServiceRoute } from '../domain/messages.js'
import type { WindowView } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import type { World } from './space.js'

/** A request on its way through the gates, with what they have found out about it. */
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
  /** The window that the headers of the answer show, once somebody has decided. */
  shown: WindowView | undefined
  /** A fault that the answer is to suffer on the wire. */
  fault: WireFault | undefined
  readings: Readings | undefined
  /** It came as far as the quota, or was kept from it by a ban. */
  asksForQuota: boolean
}

/** Asks one question of a visit: answers it, or lets it pass (undefined). */
export type Gate = (visit: Visit) => Answer | Promise<Answer> | undefined

/** Does what was asked, by what the request says; its readings have no violations. */
export type Handler = (visit: Visit, readings: Readings) => Answer | Promise<Answer>
