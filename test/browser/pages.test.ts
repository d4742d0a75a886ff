import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Locator } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { axeViolations, useBrowser } from './browser.js'

describe.skipIf(!HAS_CHROMIUM)('the pages, in a browser', () => {
  const browser = useBrowser()

  it('work below any path, and show it in addresses and code', async () => {
    await using sandbox = await startSandbox({ seed: 1 })
    const below = await serveBelow('/play', new URL(sandbox.baseUrl).port)
    const page = await (await browser.newContext(below)).newPage()
    await page.goto(`${below}/__sandbox/`)
    await page.getByRole('button', { name: `Copy the base URL ${below}/v1` }).waitFor()
    await page.getByRole('button', { name: '.env' }).click()
    await page.getByText(`PETSTORE_BASE_URL=${below}/v1`).waitFor()
    await page.getByRole('button', { name: 'Send GET /v1/pets' }).click()
    await page.locator('.exchange button .path').click()
    const detail = page.locator('.detail')
    await detail.getByRole('button', { name: 'Code', exact: true }).click()
    await detail.getByText(`${below}/v1/pets`).first().waitFor()
    await page.getByRole('link', { name: 'API docs' }).click()
    await page.getByText(`${below}/v1`, { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Dashboard' }).click()
    await page.getByRole('button', { name: `Copy the base URL ${below}/v1` }).waitFor()
  })

  it('have no axe violations while they load, with an error, locked, and without their sandbox', async () => {
    // Each of its sandboxes has a port of its own.
    const context = await browser.newContext('http://127.0.0.1', { bypassCSP: true, allowed: /./, isOwn: true })
    const page = await context.newPage()
    const look = async (what: string, shown: Locator) => {
      await shown.first().waitFor()
      expect(await axeViolations(page), `${what}: ${page.url()}`).toEqual([])
    }
    const locked = await startSandbox({ seed: 1, controlToken: 'open-sesame' })
    onTestFinished(() => locked.close())
    const sandbox = await startSandbox({ seed: 1 })
    const address = `${sandbox.controlUrl}/`
    // It never responds.
    await page.route('**/openapi.json', () => undefined)
    await page.goto(address)
    await look('loading', page.getByText('connecting', { exact: true }))
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.route('**/openapi.json', (route) => route.fulfill({ status: 503, json: { message: 'Not now.' } }))
    await page.goto('about:blank')
    await page.goto(`${address}#space=unknown`)
    await look('error', page.getByText('Unknown space "unknown".'))
    await page.goto(`${address}docs`)
    await look('error', page.getByText('Not now.'))
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.goto('about:blank')
    await page.goto(address)
    await page.getByText('live', { exact: true }).first().waitFor()
    await sandbox.close()
    await look('disconnected', page.getByRole('alert'))
    await page.goto(`${locked.controlUrl}/`)
    await look('locked', page.getByRole('dialog'))
    await page.goto(`${locked.controlUrl}/docs`)
    await look('locked', page.getByLabel('control token'))
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
