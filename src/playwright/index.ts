import { type BrowserContext, test as base, type Request, type Route } from '@playwright/test'
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
  const { origin, pathname: path, protocol } = new URL(service)
  const base = origin + path.replace(/\/+$/, '')
  const isSameProtocol = protocol === new URL(space).protocol
  await context.route(
    ({ href, pathname }) =>
      href.startsWith(base) &&
      /^(?:[/?]|$)/.test(href.slice(base.length)) &&
      !/^\/(?:~|%7e|__sandbox(?:\/|$))/i.test(pathname),
    (route, request) => {
      const url = space + request.url().slice(base.length)
      // A request keeps its protocol, unless the response is passed on.
      return isSameProtocol ? route.continue({ url }) : passOn(context, route, url)
    },
  )
}

/** Sends a page's request from this process, and ends it as the page does. A broken connection is one for the page too. */
async function passOn(context: BrowserContext, route: Route, url: string): Promise<void> {
  const request = route.request()
  const ended = new AbortController()
  const endIfFailed = (failed: Request) => failed === request && ended.abort()
  const end = () => ended.abort()
  context.on('requestfailed', endIfFailed).on('close', end)
  try {
    const response = await fetch(url, {
      method: request.method(),
      // The page receives the response later than this process.
      headers: { ...request.headers(), via: '1.1 playwright' },
      body: request.postDataBuffer(),
      redirect: 'manual',
      signal: ended.signal,
    })
    const body = Buffer.from(await response.arrayBuffer())
    await route.fulfill({ status: response.status, headers: Object.fromEntries(response.headers), body })
  } catch {
    if (!ended.signal.aborted) await route.abort('connectionreset')
  } finally {
    context.off('requestfailed', endIfFailed).off('close', end)
  }
}
