import type { ArmedFault } from '../domain/faults.js'
import type { Account, Caller } from '../domain/keys.js'
import type { DecodedRequest, HandlerResult, ServiceRequest, ServiceRoute } from '../domain/messages.js'
import type { WindowView } from '../domain/quota.js'
import { streamAt } from '../domain/random.js'
import type { RecordId } from '../domain/records.js'
import type { EpochMs } from '../domain/time.js'
import type { RequestCommand } from './command.js'
import type { Space } from './space.js'
import type { SpaceState } from './space-state.js'

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
  readings: DecodedRequest | undefined
  created: RecordId | undefined
  /** It reached the quota, or a ban: the what-if of conduct counts it. */
  isCounted: boolean
  /** It repeats an Idempotency-Key, and gets the response that was kept for it. */
  isReplay: boolean
  /** Conditions that the operation does not check. */
  ignoredConditions: readonly string[] | undefined
  /** What the gates have decided. It is committed once, after the last of them. */
  readonly pending: GateChanges
}

interface GateChanges {
  account?: Account
  faults?: SpaceState['faults']
  randomStreams?: SpaceState['randomStreams']
}

/** The account of the caller, with what an earlier gate has decided. */
export function accountOf({ space, caller, pending }: RequestContext): Account {
  return pending.account ?? space.state.accounts.view(caller.account)
}

/** A number in [0, 1). Each purpose has its own stream, so that a changed switch does not shift the draws of others. */
export function draw({ space, pending }: RequestContext, purpose: keyof SpaceState['randomStreams']): number {
  const streams = pending.randomStreams ?? space.state.randomStreams
  const stream = streamAt(streams[purpose])
  const drawn = stream.next()
  pending.randomStreams = { ...streams, [purpose]: stream.state }
  return drawn
}

/** Responds to a request, or lets it pass (undefined). */
export type Gate = (context: RequestContext) => HandlerResult | undefined

/** Behaviour that the user gives an operation. Undefined for the operation's own. */
export type OwnHandler = (context: RequestContext) => HandlerResult | undefined

/** The readings have no violations. */
export type Handler = (context: RequestContext, readings: DecodedRequest) => HandlerResult
