import type { AnswerEnd } from '../domain/ending.js'
import type { WireFault } from '../domain/faults.js'
import type { Reason } from '../domain/reasons.js'
import type { EpochMs } from '../domain/time.js'

/**
 * One request and its response, as the log has it: cheap, because every request makes one.
 *
 * It never contains a real secret: a token that the sandbox does not know is only `unknown`.
 */
export interface ExchangeRecord {
  /** Counts from 1 within its space. */
  readonly id: number
  /** Of the command that brought it. */
  readonly position: number
  readonly at: EpochMs
  /** What the wall clock said when it came. */
  readonly arrivedAt: EpochMs
  /** Name of the space, empty for the default one. */
  readonly space: string
  /** Label of the caller: a known key, `unknown`, or `none` where no key was sent. */
  readonly key: string
  readonly method: string
  readonly path: string
  /** What followed the "?", empty if nothing did. */
  readonly query: string
  /** Operation id, undefined where the path is none of the contract's. */
  readonly operation: string | undefined
  /** What is answered; undefined where the client is left without a status: by a fault, or because it has gone. */
  readonly status: number | undefined
  readonly reason: Reason | undefined
  /** What was done to the answer on the wire. */
  readonly fault?: WireFault | undefined
  /** What became of the answer; undefined while it is under way. */
  readonly how: AnswerEnd | undefined
  /** From its arrival to its end, real time; 0 while it is under way. */
  readonly durationMs: number
  /** How much of that its answer was held back before it began to leave. */
  readonly waitingMs: number
  /** How much of that its answer took to leave, once it had begun to. */
  readonly bodyMs: number
  /** What X-RateLimit-Remaining said. */
  readonly remaining: number
  /** How an answer of the real service drifts from the contract; undefined where it does not. */
  readonly drift?: readonly string[] | undefined
  /** Flat lists: name, value, name, value … */
  readonly requestHeaders: readonly string[]
  readonly requestBody: string
  readonly responseHeaders: readonly string[]
  readonly responseBody: string
}
