import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type SandboxOptions, startSandbox } from '../../src/index.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { openBrowser } from './browser.js'

/** `send.<client>(url)` resolves with the last status. got and undici do not run in a page. */
const CLIENTS = `
import { QueryClient } from '@tanstack/query-core'
import axios from 'axios'
import axiosRetry from 'axios-retry'
import ky from 'ky'

const headers = { authorization: 'Bearer sandbox' }
const instance = axios.create({ headers })
axiosRetry(instance, { retries: 2, retryCondition: () => true, retryDelay: (_, error) => waitOf(error.response.headers) })
const waitOf = (headers) => Number(headers['retry-after']) * 1000
const sleep = (wait) => new Promise((resolve) => setTimeout(resolve, wait))
async function load(url) {
  const response = await fetch(url, { headers })
  if (response.status !== 429) return response.status
  await sleep(response.headers.get('retry-after') * 1000)
  return load(url)
}
globalThis.send = {
  fetch: load,
  ky: async (url) => (await ky(url, { headers, retry: 2 })).status,
  axios: async (url) => (await instance.get(url)).status,
  query: (url) => new QueryClient().fetchQuery({
    queryKey: [url],
    async queryFn() {
      const response = await fetch(url, { headers })
      if (!response.ok) throw new Error('refused', { cause: Object.fromEntries(response.headers) })
      return response.status
    },
    retry: 2,
    retryDelay: (_, { cause }) => waitOf(cause),
  }),
}`

describe("Playwright's clock of a page, advanced with the sandbox's", () => {
  let page: Page
  let script = ''
  const took: string[] = []
  beforeAll(async () => {
    const stdin = { contents: CLIENTS, resolveDir: packageDirectory }
    const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'iife', platform: 'browser' })
    script = outputFiles[0]?.text ?? ''
    const browser = await openBrowser()
    page = await browser.newPage()
    await page.clock.install({ time: 0 })
    // Otherwise it runs in real time between the steps.
    await page.clock.pauseAt(3_600_000)
  })
  afterAll(async () => {
    process.stderr.write(`A day of waiting in a page takes ${took.join(', ')}\n`)
    await page.context().browser()?.close()
  })

  async function open(options: SandboxOptions) {
    const sandbox = await startSandbox({ limits: '1/day', ...options })
    onTestFinished(() => sandbox.close())
    await page.goto(`${sandbox.controlUrl}/health`)
    await page.evaluate(script)
    return sandbox
  }

  it.each(['fetch', 'ky', 'axios', 'query'])(
    'ends a wait until the next day for %s, which is never early',
    async (client) => {
      const sandbox = await open({})
      const send = (name: string) => page.evaluate<number>(`send.${name}('${sandbox.baseUrl}/pets')`)
      expect(await send(client)).toBe(200)
      const second = send(client)
      await expect.poll(async () => (await sandbox.requests({ status: 429 })).length).toBe(1)
      const start = performance.now()
      await sandbox.clock.advance('24h', { timers: page.clock })
      expect(await second).toBe(200)
      took.push(`${client} ${(performance.now() - start).toFixed(0)} ms`)
      expect((await sandbox.requests({ operation: 'listPets' })).map(({ status }) => status)).toEqual([200, 429, 200])
      expect((await sandbox.conduct()).violations).toEqual([])
    },
  )

  it('stops at each instant at which a timer is due, and not at frames', async () => {
    const sandbox = await open({ limits: '60/min', freeze: true, now: '2030-01-01T00:00:00Z' })
    await page.evaluate(`{
      const frame = () => requestAnimationFrame(frame)
      frame()
      setTimeout(() => { send.fetch('${sandbox.baseUrl}/pets'); setTimeout(() => send.fetch('${sandbox.baseUrl}/pets'), 1500) }, 500)
    }`)
    await sandbox.clock.advance('1m', { timers: page.clock })
    expect((await sandbox.requests({ operation: 'listPets' })).map(({ at }) => at.slice(11, 23))).toEqual([
      '00:00:00.500',
      '00:00:02.000',
    ])
  })
})
