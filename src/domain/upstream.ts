import type { Int64 } from '../contract/int64.js'
import type { ProblemCode } from './problems.js'

/** What becomes of writes in front of a real service. */
export const UPSTREAM_WRITES = ['local', 'forward', 'refuse'] as const
export type UpstreamWrites = (typeof UPSTREAM_WRITES)[number]

/** The first id of a pet that is kept in front of a real service: far above those that this gives, and exact in a double. */
export const FIRST_LOCAL_ID: Int64 = 2 ** 52

/** A request that is to be sent on before it is answered. */
export interface Forward {
  readonly kind: 'forward'
  /** Ordinal of its command, by which its answer is given back. */
  readonly position: number
  readonly method: string
  /** Path and query below the base path. */
  readonly target: string
  /** Flat list, without what is of the connection alone, and without any key. */
  readonly headers: readonly string[]
  /** The caller's own Authorization; undefined where the upstream's key stands for it. */
  readonly authorization: string | undefined
  readonly body: Uint8Array | undefined
  /** What it has come through already. @source RFC 9110, section 7.6.3 */
  readonly via: string
}

/** An answer of the real service. */
export interface UpstreamAnswer {
  readonly kind: 'answer'
  readonly status: number
  /** Flat list, in its order. */
  readonly headers: readonly string[]
  readonly body: string
  /** The body's bytes, one character each; the text has not all of them if it is no UTF-8. */
  readonly binary: string
}

/** There was no answer, or none that can be used. */
export interface UpstreamFailure {
  readonly kind: 'failure'
  readonly problem: Extract<ProblemCode, `upstream_${string}`>
  /** What went wrong, in a sentence. */
  readonly message: string
}

/** Nobody waits for the answer any more. */
export interface UpstreamLeft {
  readonly kind: 'left'
  /** It was a write that had been sent: it may have been carried out. */
  readonly isOpen: boolean
}

export type UpstreamOutcome = UpstreamAnswer | UpstreamFailure | UpstreamLeft
