import { expect, type TestAPI, vi, test as vitestTest } from 'vitest'
import type { Space } from '../api/controls.js'
import { removeSpace, testSpaceName, WorkerServers } from '../api/worker-server.js'
import type { ClockView } from '../control/views.js'
import type { DurationText } from '../domain/time.js'
import { type SandboxMatchers, toHaveBehaved, toHaveReceived, toHaveServed, toHaveViolated } from '../matchers/index.js'
import type { SandboxOptions } from '../options/options.js'

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: as Vitest declares it
  interface Matchers<T = any> extends SandboxMatchers {}
}

expect.extend({ toHaveBehaved, toHaveReceived, toHaveServed, toHaveViolated })

/** A sandbox for one test: its own pets, quotas, bans, clock, storms, faults and log. */
export interface TestSandbox extends Space {
  readonly controlUrl: string
  /** Moves the sandbox's clock, and with it Vitest's fake timers if they are in use: `advance('1m')`. */
  advance(by: DurationText): Promise<ClockView>
}

/** The fixtures of `test`. */
export interface SandboxFixtures {
  /** The servers of this worker, one for all tests with the same options. */
  readonly sandboxServers: WorkerServers
  /** A fresh space, removed after the test. */
  readonly sandbox: TestSandbox
}

/**
 * Makes a `test` whose server has these options: `createTest({ plan: 'pro', seed: 1 })`.
 *
 * With a sandbox that is already running, options apply to the space of each test, as far as a space has them.
 */
// They are not a fixture: Vitest 3 passes an overridden fixture to no other, and identifies the fixtures of a worker by name.
export function createTest(options: SandboxOptions = {}): TestAPI<SandboxFixtures> {
  return vitestTest.extend<SandboxFixtures>({
    sandboxServers: [
      // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from it which fixtures are needed
      async ({}, use) => {
        const servers = new WorkerServers(process.env)
        await use(servers)
        await servers.close()
      },
      { scope: 'worker' },
    ],
    sandbox: async ({ sandboxServers, task }, use) => {
      const { controlUrl, freshSpace } = await sandboxServers.open(options)
      const space = await freshSpace(testSpaceName(task, process.cwd()))
      const advance: TestSandbox['advance'] = (by) =>
        space.clock.advance(by, vi.isFakeTimers() ? { timers: vi } : undefined)
      await use({ ...space, controlUrl, advance })
      await removeSpace(space)
    },
  })
}

/**
 * Vitest's `test` with a sandbox for each test: `test('…', async ({ sandbox }) => …)`.
 *
 * All tests of a worker share one server, started on first use. `sandbox.baseUrl` names the space of the test, so that
 * concurrent tests do not affect each other. If PETSTORE_SANDBOX_URL is set (`petstore-sandbox exec -- npx vitest run`),
 * that sandbox is used instead, by one run of a suite at a time.
 */
export const test: TestAPI<SandboxFixtures> = createTest()
