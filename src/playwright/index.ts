import { type BrowserContext, test as base } from '@playwright/test'
import type { Space } from '../api/controls.js'
import { openWorkerServer, removeSpace, testSpaceName, type WorkerServer } from '../api/worker-server.js'
import type { SandboxOptions } from '../options/options.js'

/** A sandbox for one test: its own pets, quotas, bans, clock, storms, faults and log. */
export interface TestSandbox extends Space {
  readonly controlUrl: string
}

export interface SandboxFixtures {
  /** A fresh space, removed after the test. Requests of the page to the service go there, with their own keys. */
  readonly sandbox: TestSandbox
  /** Option: the address of the service as the page calls it. Default: the sandbox's own. */
  readonly sandboxService: string
}

export interface SandboxWorkerFixtures {
  /** Option: the address of a running sandbox, such as one of `webServer`. Default: a new one for each worker. */
  readonly sandboxUrl: string
  /** Option: how to start a sandbox. */
  readonly sandboxOptions: SandboxOptions
  readonly sandboxServer: WorkerServer
}

/** Playwright's `test` with a sandbox for each test: `test('…', async ({ page, sandbox }) => …)`. */
export const test = base.extend<SandboxFixtures, SandboxWorkerFixtures>({
  sandboxUrl: ['', { option: true, scope: 'worker' }],
  sandboxOptions: [{}, { option: true, scope: 'worker' }],
  sandboxService: ['', { option: true }],
  sandboxServer: [
    async ({ sandboxUrl, sandboxOptions }, use) => {
      const env = sandboxUrl === '' ? process.env : { PETSTORE_SANDBOX_URL: sandboxUrl }
      const server = await openWorkerServer(sandboxOptions, env)
      await use(server)
      await server.close()
    },
    { scope: 'worker' },
  ],
  sandbox: async ({ sandboxServer: { controlUrl, freshSpace } }, use, { testId, title }) => {
    const space = await freshSpace(testSpaceName({ name: title, id: testId }, process.cwd()))
    await use({ ...space, controlUrl })
    await removeSpace(space)
  },
  // Also for a test that has only a page.
  context: async ({ context, sandbox, sandboxServer, sandboxService }, use) => {
    await sendThere(context, sandboxService === '' ? sandboxServer.baseUrl : sandboxService, sandbox.baseUrl)
    await use(context)
  },
})

/** Sends the requests of pages for a service to a space. */
async function sendThere(context: BrowserContext, service: string, space: string): Promise<void> {
  const base = service.replace(/\/$/, '')
  const isSameProtocol = new URL(service).protocol === new URL(space).protocol
  await context.route(
    ({ href, pathname }) => href.startsWith(`${base}/`) && !/^\/(?:~|%7e|__sandbox(?:\/|$))/i.test(pathname),
    async (route, request) => {
      const url = space + request.url().slice(base.length)
      // A request keeps its protocol, unless the response is passed on.
      if (isSameProtocol) await route.continue({ url })
      else await route.fulfill({ response: await route.fetch({ url }) })
    },
  )
}
