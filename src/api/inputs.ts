import type { Open, OperationName } from '../contract/entities.js'
import type { Reason } from '../domain/problems.js'
import type { DurationText } from '../domain/time.js'

/** Which exchanges to return. */
export interface RequestFilter {
  /** Its operation ID. */
  readonly operation?: OperationName
  /** Status of the response. */
  readonly status?: number
  /** Label of the key, without its space. */
  readonly key?: string
  /** Why the sandbox made up the response. */
  readonly reason?: Open<Reason>
  /** Words that must all match, as on the dashboard: `4xx -key:sandbox-pro`. */
  readonly filter?: string
}

/** How long to wait. */
export interface WaitOptions {
  /** In real time. Default: `5s`. */
  readonly timeout?: DurationText
}

/** Fake timers of a test: `vi`, `jest`, a clock of @sinonjs/fake-timers, Playwright's `page.clock`, or node:test's `mock.timers`. */
/** The clock of a page of Playwright. */
export interface PageClock {
  runFor(by: number): Promise<unknown>
}

export type FakeTimers =
  | { advanceTimersByTimeAsync(by: number): Promise<unknown> }
  | { tickAsync(by: number): Promise<unknown> }
  | { runFor(by: number): Promise<unknown> }
  | { tick(by: number): void }
