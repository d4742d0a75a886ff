/** Fake timers of a test: `vi`, `jest`, a clock of @sinonjs/fake-timers, Playwright's `page.clock`, or node:test's `mock.timers`. */
export type FakeTimers =
  | { advanceTimersByTimeAsync(by: number): Promise<unknown> }
  | { tickAsync(by: number): Promise<unknown> }
  | { runFor(by: number): Promise<unknown> }
  | { tick(by: number): void }
