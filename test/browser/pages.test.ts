import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { listen, openBrowser } from './browser.js'

describe.skipIf(!HAS_CHROMIUM)('the pages, in a browser', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  it('redirect from the bare address to the dashboard', async () => {
    await using sandbox = await startSandbox()
    const { origin } = new URL(sandbox.baseUrl)
    const page = await browser.newPage()
    const complaints = listen(page, origin)
    await page.goto(`${origin}/`)
    expect(page.url()).toBe(`${origin}/__sandbox/`)
    expect(await page.title()).toBe('petstore-sandbox')
    expect(complaints).toEqual({ console: [], foreignRequests: [] })
    expect(await sandbox.requests()).toEqual([])
    await page.close()
  })

  it('work below any path, and show it in addresses and code', async () => {
    await using sandbox = await startSandbox({ seed: 1 })
    const below = await serveBelow('/play', new URL(sandbox.baseUrl).port)
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    onTestFinished(() => page.close())
    const complaints = listen(page, below)
    await page.goto(`${below}/__sandbox/`)
    await page.getByText(`${below}/v1`, { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Send a sample request' }).click()
    await page.locator('.exchange button .path').click()
    const detail = page.locator('.detail')
    await detail.getByRole('button', { name: 'Copy as' }).click()
    await detail.getByText(`${below}/v1/pets?limit=3`).waitFor()
    await detail.getByRole('button', { name: 'HTTP', exact: true }).click()
    await detail.getByText('GET /play/v1/pets?limit=3 HTTP/1.1').waitFor()
    await page.getByRole('link', { name: 'API docs' }).click()
    await page.getByRole('link', { name: 'GET /pets' }).first().click()
    await page.locator('pre.code').getByText(`${below}/v1/pets`).waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('link', { name: 'Exchange 2 in the dashboard' }).click()
    await detail.getByRole('heading', { name: 'GET /v1/pets' }).waitFor()
    expect(complaints).toEqual({ console: [], foreignRequests: [] })
  })
})

/** Serves a port below a path, as a proxy would. @returns its address */
async function serveBelow(path: string, port: string): Promise<string> {
  const proxy = createServer((incoming, answer) => {
    const { method, headers, url = '' } = incoming
    if (!url.startsWith(`${path}/`)) return answer.writeHead(404).end()
    const onward = request({ port, method, headers, path: url.slice(path.length) }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    answer.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${path}`
}
