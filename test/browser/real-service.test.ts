import { describe, expect, it } from 'vitest'
import { driftingService } from '../client/drifting-service.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { temporaryFile } from '../support/temporary-files.js'
import { row, useBrowser } from './browser.js'

const REAL_KEY = 'a-real-key-of-staging'
const OWN_PET = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"name":"Own","categoryId":1}',
}

describe.skipIf(!HAS_CHROMIUM)('the dashboard in front of a real service', () => {
  const { open } = useBrowser()

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
    const { sandbox, page, ask } = await open({
      sandbox: {
        now: '2026-03-01T12:00:00Z',
        freeze: true,
        upstream: service.baseUrl,
        upstreamApiKeyFile: temporaryFile('key', REAL_KEY),
      },
    })
    const bar = page.getByRole('region', { name: 'In effect' })
    const detail = page.locator('.detail')
    await bar.getByText('upstream not used yet').waitFor()
    expect(await bar.getByRole('button', { name: 'Reset all' }).isDisabled()).toBe(true)

    await ask('/pets?limit=1')
    await bar.getByText('upstream up since 12:00:00').waitFor()
    const reason = (request: string, hasText: string | RegExp) => row(page, request).locator('.reason', { hasText })
    await reason('limit=1', /^ ?upstream$/).waitFor()
    await ask('/pets', 'sandbox', OWN_PET)
    await reason('POST', /^ ?local$/).waitFor()
    await ask('/pets?status=sold')
    await reason('status=sold', 'drift upstream').waitFor()

    await row(page, 'status=sold').locator('.path').click()
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
    await row(page, 'limit=2').locator('.path').click()
    await detail.getByText('The real service did not send a valid response.').waitFor()
    await bar.getByText('upstream failing').click()
    await drift.getByText('1 of 3 requests got no response that could be used.').waitFor()
    await bar.getByRole('button', { name: 'Reset all' }).click()
    await expect.poll(() => bar.getByRole('button', { name: 'Reset all' }).isDisabled()).toBe(true)
  })

  it('shows that the sandbox refused to send a write', async () => {
    const service = await driftingService()
    const upstream = { upstream: service.baseUrl, upstreamApiKeyFile: temporaryFile('key', REAL_KEY) }
    const { page, ask } = await open({ sandbox: { ...upstream, upstreamWrites: 'refuse' } })
    await ask('/pets', 'sandbox', OWN_PET)
    await row(page, 'POST').locator('.path').click()
    await page.locator('.detail').getByText('The sandbox sends no writes to the real service.').waitFor()
  })
})
