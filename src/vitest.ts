import { type TestAPI, test as vitestTest } from 'vitest'
import type { Space } from './api/controls.js'
import type { SandboxOptions } from './options/options.js'
import { spaceNameOf } from './vitest/space-name.js'
import { openWorkerServer, removeSpace, type WorkerServer } from './vitest/worker-server.js'

/** A sandbox for one test alone: its own pets, quotas, bans, clock, storms, faults and log. */
export interface TestSandbox extends Space {
  /** Address of the service, for the client under test. */
  readonly baseUrl: string
  readonly controlUrl: string
}

/** What `test` hands to its tests. */
export interface SandboxFixtures {
  /**
   * Options of the server, worker scoped: to set them, extend `test` with
   * `sandboxOptions: [{ plan: 'pro', seed: 1 }, { scope: 'worker' }]`.
   * On a sandbox that runs already they go to each test's space, as far as a space can have them.
   */
  readonly sandboxOptions: SandboxOptions
  /** The server of this worker, with the controls of what all its tests share. */
  readonly sandboxServer: WorkerServer
  /** A fresh space, removed after the test. */
  readonly sandbox: TestSandbox
}

/**
 * Vitest's `test` with a sandbox for each test: `test('…', async ({ sandbox }) => …)`.
 *
 * All tests of a worker share one server, started for the first that asks for it;
 * the key decides whose it is, so that concurrent tests never meet. Where
 * PETSTORE_SANDBOX_URL is set (`petstore-sandbox exec -- npx vitest run`), the
 * sandbox that runs there is used instead. A suite may run against it once at a time.
 */
export const test: TestAPI<SandboxFixtures> = vitestTest.extend<SandboxFixtures>({
  sandboxOptions: [{}, { scope: 'worker' }],
  sandboxServer: [
    async ({ sandboxOptions }, use) => {
      const server = await openWorkerServer(sandboxOptions, process.env)
      await use(server)
      await server.close()
    },
    { scope: 'worker' },
  ],
  sandbox: async ({ sandboxServer, task }, use) => {
    const { baseUrl, controlUrl } = sandboxServer
    const space = await sandboxServer.freshSpace(spaceNameOf(task, process.cwd()))
    await use({ ...space, baseUrl, controlUrl })
    await removeSpace(space)
  },
})
