import type { Caller } from '../domain/callers.js'
import type { WireFault } from '../domain/faults.js'
import type { HandlerResult, Readings, ServiceRequest, ServiceRoute } from '../domain/messages.js'
import type { WindowView } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import type { Breach } from '../drift/exchange.js'
import type { RequestCommand } from './command.js'
import type { Space } from './space.js'

/** A request on its way through the gates, and what is known about it so far. */
export interface RequestContext {
  readonly space: Space
  readonly request: ServiceRequest
  /** From the space's clock. */
  readonly now: EpochMs
  /** Real time. */
  readonly wall: EpochMs
  /** The ordinal of its connection; 0 in process. */
  readonly connection: number
  /** The latest end of an answer that whoever opened its connection had heard of for certain. */
  readonly heardUpTo: number
  /** Ordinal of its command. */
  readonly position: number
  /** What Prism said to it, where only Prism can answer it. */
  readonly mock: RequestCommand['mock']
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
  /** How an answer of the real service drifts from the contract; undefined where none was held against it. */
  drift: readonly Breach[] | undefined
  /** It got as far as the quota, or a ban stopped it just before. */
  asksForQuota: boolean
  /** An operation was carried out. */
  isOperated: boolean
}

/** Asks one question about a request: answers it, or lets it pass (undefined). */
export type Gate = (context: RequestContext) => HandlerResult | undefined

/** Carries out an operation. The readings have no violations. */
export type Handler = (context: RequestContext, readings: Readings) => HandlerResult
