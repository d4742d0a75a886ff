import type { EngineAnswer, EngineRefusal } from '../contract/engine.js'
import type { EndedExchange, ExchangeRef, ServiceRequest } from '../domain/messages.js'
import type { ProblemCode } from '../domain/problems.js'
import type { EpochMs } from '../domain/time.js'
import type { UpstreamOutcome } from '../domain/upstream.js'

/** When a command is applied: an argument, like everything else that decides what it does. */
export interface Instant {
  /** What the wall clock says. */
  readonly now: EpochMs
  /** Ordinal of the command in its sandbox: it says what came before what, which milliseconds never do. */
  readonly position: number
}

/** A request from a client, and what had to be asked for before it could be applied. */
export interface RequestCommand {
  readonly kind: 'request'
  readonly request: ServiceRequest
  /** What Prism says to it, where only Prism can answer it; undefined also where it failed. */
  readonly mock?: EngineAnswer | EngineRefusal | undefined
  /** Why it never became a request: the HTTP parser refused it, and only its connection is known. */
  readonly refused?: ProblemCode
}

/** What a real service said to a request that was sent on to it. */
export interface ForwardedCommand {
  readonly kind: 'forwarded'
  /** Of the command of the request. */
  readonly of: number
  readonly outcome: UpstreamOutcome
}

/** What became of answers. Log and conduct listen to it, no answer depends on it. */
export interface EndedCommand {
  readonly kind: 'ended'
  readonly exchanges: readonly EndedExchange[]
  /** Answers said to be sent before, of which it is not certain now that they were read: their clients have gone. */
  readonly unread?: readonly ExchangeRef[] | undefined
}
