import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { driftingService } from '../client/drifting-service.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { listen, openBrowser } from './browser.js'

const REAL_KEY = 'a-real-key-of-staging'

function keyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-upstream-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'key')
  writeFileSync(file, REAL_KEY)
  return file
}

describe.skipIf(!HAS_CHROMIUM)('the dashboard in front of a real service', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  it('shows the origin of responses, the drift, and the state of the real service', async () => {
    let isThere = true
    const service = await driftingService(
      ({ url }, goes) => {
        if (!isThere) return 'drop'
        if (url.includes('status=sold')) goes.headers['x-ratelimit-reset'] = '60'
        return goes
      },
      { apiKey: [`real=${REAL_KEY}:business`] },
    )
    const sandbox = await startSandbox({
      seed: 1,
      now: '2026-03-01T12:00:00Z',
      freeze: true,
      upstream: service.baseUrl,
      upstreamApiKeyFile: keyFile(),
    })
    onTestFinished(() => sandbox.close())
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    onTestFinished(() => page.close())
    const complaints = listen(page, new URL(sandbox.baseUrl).origin)
    await page.goto(`${sandbox.controlUrl}/`)
    const bar = page.getByRole('region', { name: 'In effect' })
    const row = (text: string) => page.locator('.exchange button', { hasText: text }).first()
    const detail = page.locator('.detail')
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(sandbox.baseUrl + path, {
        ...init,
        headers: { authorization: 'Bearer sandbox', 'content-type': 'application/json' },
      })

    await bar.getByText('upstream not used yet').waitFor()
    expect(await bar.getByRole('button', { name: 'Reset all' }).isDisabled()).toBe(true)

    await ask('/pets?limit=1')
    await bar.getByText('upstream up since 12:00:00').waitFor()
    await row('limit=1')
      .locator('.reason', { hasText: /^ ?upstream$/ })
      .waitFor()
    await ask('/pets', { method: 'POST', body: '{"name":"Own","categoryId":1}' })
    await row('POST')
      .locator('.reason', { hasText: /^ ?local$/ })
      .waitFor()
    await ask('/pets?status=sold')
    await row('status=sold').locator('.reason', { hasText: 'drift upstream' }).waitFor()

    await row('status=sold').locator('.path').click()
    await detail.getByText('The response is from the real service behind the sandbox.').waitFor()
    const detailed = detail.getByRole('region', { name: 'Drift' }).getByRole('listitem')
    await detailed.getByText('X-RateLimit-Reset is 60, not a Unix timestamp').waitFor()
    await detail.getByRole('button', { name: 'All drift' }).click()
    const drift = page.locator('#drift')
    await drift.getByText('1 of 2 responses').waitFor()
    await drift.getByRole('button', { name: 'exchange 3' }).click()
    await detail.getByRole('heading', { name: 'status=sold' }).waitFor()
    await page.getByRole('searchbox', { name: 'Filter' }).fill('drift:yes')
    await page.getByText('1 of 3 exchanges').waitFor()
    await page.getByRole('searchbox', { name: 'Filter' }).fill('')

    isThere = false
    await sandbox.clock.advance('1m')
    await ask('/pets?limit=2')
    await bar.getByText('upstream failing: upstream_unreachable since 12:01:00').waitFor()
    await row('limit=2').locator('.path').click()
    await detail.getByText('The real service did not send a valid response.').waitFor()
    await bar.getByText('upstream failing').click()
    await drift.getByText('1 of 3 requests got no response that could be used.').waitFor()
    await bar.getByRole('button', { name: 'Reset all' }).click()
    await expect.poll(() => bar.getByRole('button', { name: 'Reset all' }).isDisabled()).toBe(true)
    expect(complaints).toEqual({ console: [], foreignRequests: [] })
  })

  it('shows that the sandbox refused to send a write', async () => {
    const service = await driftingService()
    const upstream = { upstream: service.baseUrl, upstreamApiKeyFile: keyFile(), upstreamWrites: 'refuse' } as const
    const sandbox = await startSandbox({ seed: 1, ...upstream })
    onTestFinished(() => sandbox.close())
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    onTestFinished(() => page.close())
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
    await fetch(`${sandbox.baseUrl}/pets`, { method: 'POST', headers, body: '{"name":"Own","categoryId":1}' })
    await page.goto(`${sandbox.controlUrl}/#exchange=1`)
    await page.locator('.detail').getByText('The sandbox sends no writes to the real service.').waitFor()
  })
})
