import type { MockedResponse } from '../contract/engine.js'
import type { EndedExchange, ExchangeRef, Reply, ServiceRequest } from '../domain/messages.js'
import type { ProblemCode } from '../domain/problems.js'
import type { EpochMs } from '../domain/time.js'
import type { UpstreamOutcome, UpstreamRequest } from '../domain/upstream.js'

export interface Instant {
  /** Real time. */
  readonly now: EpochMs
  /** Ordinal of the command in its sandbox. */
  readonly position: number
}

export interface RequestCommand {
  readonly kind: 'request'
  readonly request: ServiceRequest
  /** Prism's response if it mocks the operation; undefined if it failed. */
  readonly mock?: MockedResponse | undefined
  /** Name in its baggage that is not an open space. */
  readonly unknownSpace?: string | undefined
  /** Refused by the HTTP parser. */
  readonly refused?: ProblemCode
}

/** A request that the real service must answer. */
export interface Forward {
  readonly request: UpstreamRequest
  /** Makes the reply from the outcome. Never throws. */
  complete(outcome: UpstreamOutcome, instant: Instant): Reply
}

/** How exchanges ended: waits begin, and early requests count towards a ban. */
export interface EndedCommand {
  readonly kind: 'ended'
  readonly exchanges: readonly EndedExchange[]
  /** Responses reported as sent that may not have been read, as their clients have left. */
  readonly unread?: readonly ExchangeRef[] | undefined
}

/** A verb that changes a sandbox. */
export interface VerbCommand {
  readonly kind: 'verb'
  readonly space: string
  readonly verb: string
  readonly input: unknown
  /** Files that its input names. */
  readonly files?: unknown
}

export type Command = RequestCommand | EndedCommand | VerbCommand
