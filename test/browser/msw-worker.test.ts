import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { useBrowser } from './browser.js'

/** The built package, bundled as by a project. */
const PROGRAM = `
import { setupWorker } from 'msw/browser'
import { createSandbox } from './dist/browser.js'
import { handlers } from './dist/msw.js'
const worker = setupWorker()
await worker.start({ quiet: true, onUnhandledRequest: 'bypass' })
Object.assign(globalThis, {
  async openSandbox(options) {
    globalThis.sandbox = await createSandbox({ seed: 1, ...options })
    worker.resetHandlers(...handlers(sandbox, { baseUrl: '/api/v1' }))
  },
  ask: (path, init = {}) =>
    fetch('/api/v1' + path, { ...init, headers: { authorization: 'Bearer sandbox', ...init.headers } }),
})
`

type Browsers = typeof import('../../src/browser/index.js')

declare global {
  var sandbox: Awaited<ReturnType<Browsers['createSandbox']>>
  /** Switches the page's handlers to another sandbox. */
  var openSandbox: (options: Parameters<Browsers['createSandbox']>[0]) => Promise<void>
  var ask: (path: string, init?: RequestInit) => Promise<Response>
}

describe.skipIf(!HAS_CHROMIUM)('a page with a sandbox behind the service worker of MSW', () => {
  const browser = useBrowser()
  let program: string
  const worker = readFileSync(join(packageDirectory, 'node_modules/msw/lib/mockServiceWorker.js'))
  const site = createServer(({ url }, response) => {
    const type = url === '/' ? 'text/html' : 'text/javascript'
    response.writeHead(url?.startsWith('/api') ? 599 : 200, { 'content-type': type })
    response.end(
      url === '/'
        ? '<!doctype html><script type=module src=/program.js></script>'
        : url === '/program.js'
          ? program
          : worker,
    )
  })
  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: PROGRAM, resolveDir: packageDirectory },
      absWorkingDir: packageDirectory,
      bundle: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    })
    program = String(outputFiles[0]?.text)
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => void site.close())

  async function openPage(options: Parameters<Browsers['createSandbox']>[0]): Promise<Page> {
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
    const page = await (await browser.newContext(url, { allowed: /./ })).newPage()
    await page.goto(url)
    await page.waitForFunction(() => 'openSandbox' in globalThis)
    await page.evaluate((given) => openSandbox(given), options)
    return page
  }

  it('gets quota, ban, storm and wire faults', async () => {
    const page = await openPage({ limits: '3/min', banAfter: 2 })
    const seen = await page.evaluate(async () => {
      const { sandbox } = globalThis
      const told = async (path: string, init?: RequestInit) => {
        try {
          const answer = await ask(path, init)
          const text = await answer.text()
          return [answer.status, answer.headers.get('x-sandbox-reason') ?? text.slice(0, 24)]
        } catch (error) {
          return [(error as Error).name]
        }
      }
      const body = '{"name":"Rex","categoryId":1}'
      const added = await told('/pets', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      const missing = await told('/pets/4711')
      await told('/pets/1')
      const refused = [await told('/pets')]
      // The sandbox assumes that the client read a relayed response only after a while.
      while (refused.at(-1)?.[1] !== 'ban') refused.push(await told('/pets'))
      await sandbox.reset()
      await sandbox.storm.start({ rate: 1 })
      const stormed = await told('/pets')
      await sandbox.storm.stop()
      const broken = []
      for (const fault of ['connection-reset', 'empty-response', 'malformed-chunk'] as const) {
        await sandbox.reset()
        await sandbox.faults.set([`*:${fault}`])
        broken.push(await told('/pets'))
      }
      await sandbox.reset()
      await sandbox.faults.set(['*:hang'])
      const patience = new AbortController()
      const hanging = told('/pets', { signal: patience.signal })
      while ((await sandbox.requests()).length === 0) await new Promise((resolve) => setTimeout(resolve))
      const isOpen = await Promise.race([hanging, Promise.resolve('open')])
      patience.abort()
      const left = await hanging
      const reasons = [...new Set(refused.map(([, reason]) => reason))]
      return { added, missing, reasons, stormed, broken, isOpen, left }
    })
    expect(seen).toEqual({
      added: [201, '{"id":60,"name":"Rex","c'],
      missing: [404, '{"code":"not_found","mes'],
      reasons: ['quota-minute', 'ban'],
      stormed: [429, 'storm'],
      broken: [['TypeError'], ['TypeError'], ['TypeError']],
      isOpen: 'open',
      left: ['AbortError'],
    })
  })

  it('is not blamed for simultaneous requests, because the order of relayed responses is unknown', async () => {
    const page = await openPage({ storm: '1,retry-after=60s' })
    const seen = await page.evaluate(async () => {
      const answers = await Promise.all([ask('/pets'), ask('/pets'), ask('/pets')])
      const { requests, violations, warnings } = await sandbox.conduct()
      const certain = [...violations, ...warnings].filter(({ rule }) => rule !== 'early-retry-likely')
      return { statuses: answers.map(({ status }) => status), requests, certain }
    })
    expect(seen).toEqual({ statuses: [429, 429, 429], requests: 3, certain: [] })
  })
})
