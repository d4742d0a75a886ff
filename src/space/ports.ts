import type { Change } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'

/** The machine's clocks. A space's own clock is computed from the first. */
export interface SystemClock {
  /** Milliseconds since the Unix epoch. */
  wall(): EpochMs
  /** Milliseconds from an arbitrary start, never going back: for measuring how long something took. */
  monotonic(): number
}

/** Durable home of one space. */
export interface Store {
  /**
   * Resolves when the change survives the process; changes are written in the order given.
   * Rejects when it could not be written; then nothing of it is in the store.
   */
  append(change: Change): Promise<void>
}

/** What only Prism can do, so that no other part knows it. */
export interface ContractEngine {
  /** Answers an operation that has no handler here. `violations` says what is wrong with the request. */
  mock(request: MockRequest): Promise<MockAnswer | { readonly violations: readonly string[] }>
  /** Holds an answer against the contract; an empty list means that it keeps it. */
  check(request: MockRequest, answer: MockAnswer): Promise<readonly string[]>
}

export interface MockRequest {
  readonly method: string
  /** Relative to the base path, raw. */
  readonly path: string
  /** What followed the "?", raw. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface MockAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
