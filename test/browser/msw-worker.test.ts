import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { openBrowser } from './browser.js'

/** What a project's page loads: the package as it is built, bundled once more. */
const PROGRAM = `
import { setupWorker } from 'msw/browser'
import { createSandbox } from './dist/browser.js'
import { handlers } from './dist/msw.js'
const sandbox = await createSandbox({ limits: '3/min', banAfter: 2, seed: 1 })
const worker = setupWorker(...handlers(sandbox, { baseUrl: '/api/v1' }))
await worker.start({ quiet: true, onUnhandledRequest: 'bypass' })
Object.assign(globalThis, { sandbox })
`

declare global {
  var sandbox: Awaited<ReturnType<typeof import('../../src/browser/index.js').createSandbox>>
}

it.skipIf(!HAS_CHROMIUM)(
  'the service worker of MSW answers a page from a sandbox in it: quota, ban, storm, and what breaks on the wire',
  async () => {
    const { outputFiles } = await build({
      stdin: { contents: PROGRAM, resolveDir: packageDirectory },
      absWorkingDir: packageDirectory,
      bundle: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    })
    const program = String(outputFiles[0]?.text)
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
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void site.close())
    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
    await page.waitForFunction(() => 'sandbox' in globalThis)
    const seen = await page.evaluate(async () => {
      const { sandbox } = globalThis
      const ask = (path: string, init: RequestInit = {}) =>
        fetch(`/api/v1${path}`, { ...init, headers: { authorization: 'Bearer sandbox', ...init.headers } })
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
      const refused = [await told('/pets'), await told('/pets'), await told('/pets'), await told('/pets')]
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
      return { added, missing, refused, stormed, broken, isOpen, left }
    })
    expect(seen).toEqual({
      added: [201, '{"id":60,"name":"Rex","c'],
      missing: [404, '{"code":"not_found","mes'],
      refused: [
        [429, 'quota-minute'],
        [429, 'quota-minute'],
        [429, 'ban'],
        [429, 'ban'],
      ],
      stormed: [429, 'storm'],
      broken: [['TypeError'], ['TypeError'], ['TypeError']],
      isOpen: 'open',
      left: ['AbortError'],
    })
  },
)
