import { type TestAPI, test as vitestTest } from 'vitest'
import type { Space } from '../api/controls.js'
import type { SandboxOptions } from '../options/options.js'
import { spaceNameOf } from './space-name.js'
import { removeSpace } from './worker-server.js'
import { WorkerServers } from './worker-servers.js'

/** A sandbox for one test alone: its own pets, quotas, bans, clock, storms, faults and log. */
export interface TestSandbox extends Space {
  /** Address of the service, for the client under test. */
  readonly baseUrl: string
  readonly controlUrl: string
}

/** What `test` hands to its tests. */
export interface SandboxFixtures {
  /** The servers of this worker, one for all tests with the same options. */
  readonly sandboxServers: WorkerServers
  /** A fresh space, removed after the test. */
  readonly sandbox: TestSandbox
}

/**
 * Makes a `test` whose server has these options: `createTest({ plan: 'pro', seed: 1 })`.
 *
 * On a sandbox that runs already they go to each test's space, as far as a space can
 * have them. They are no fixture, because Vitest 3 hands what overrides one to no
 * other, and knows the fixtures of a worker by their names alone.
 */
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
      const { baseUrl, controlUrl, freshSpace } = await sandboxServers.open(options)
      const space = await freshSpace(spaceNameOf(task, process.cwd()))
      await use({ ...space, baseUrl, controlUrl })
      await removeSpace(space)
    },
  })
}

/**
 * Vitest's `test` with a sandbox for each test: `test('…', async ({ sandbox }) => …)`.
 *
 * All tests of a worker share one server, started for the first that asks for it;
 * the key decides whose it is, so that concurrent tests never meet. Where
 * PETSTORE_SANDBOX_URL is set (`petstore-sandbox exec -- npx vitest run`), the
 * sandbox that runs there is used instead. A suite may run against it once at a time.
 */
export const test: TestAPI<SandboxFixtures> = createTest()
