import type { ArmedFault } from '../domain/faults.js'
import type { Caller } from '../domain/keys.js'
import type { HandlerResult, Readings, ServiceRequest, ServiceRoute } from '../domain/messages.js'
import type { WindowView } from '../domain/quota.js'
import type { RecordId } from '../domain/records.js'
import type { EpochMs } from '../domain/time.js'
import type { RequestCommand } from './command.js'
import type { Space } from './space.js'

/** A request on its way through the gates. */
export interface RequestContext {
  readonly space: Space
  readonly request: ServiceRequest
  readonly now: EpochMs
  readonly wall: EpochMs
  readonly position: number
  /** Prism's response, if it mocks the operation. */
  readonly mock: RequestCommand['mock']
  readonly path: string
  readonly query: string
  readonly route: ServiceRoute
  readonly caller: Caller
  /** Masks secrets in what is logged or reported of this request. */
  readonly hide: ((text: string) => string) | undefined
  /** Undefined for unknown and mocked operations. */
  readonly handler: Handler | undefined
  readonly unknownSpace: string | undefined
  /** The window in the headers, once a gate has decided. */
  shown: WindowView | undefined
  /** A fault that happens if the request reaches its operation. */
  pendingFault: ArmedFault | undefined
  /** A fault that affects the response of the operation. */
  fault: ArmedFault | undefined
  readings: Readings | undefined
  created: RecordId | undefined
  /** It reached the quota, or a ban: the what-if of conduct counts it. */
  isCounted: boolean
}

/** Responds to a request, or lets it pass (undefined). */
export type Gate = (context: RequestContext) => HandlerResult | undefined

/** The readings have no violations. */
export type Handler = (context: RequestContext, readings: Readings) => HandlerResult
