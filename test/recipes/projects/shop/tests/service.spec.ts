import { expect, type Page } from '@playwright/test'
import { test } from 'petstore-sandbox/playwright'

/** The response to a page, or the name of the error. */
function ask(page: Page, init: RequestInit = {}) {
  return page.evaluate(async (init) => {
    const headers = { Authorization: 'Bearer sandbox', 'Content-Type': 'application/json' }
    try {
      globalThis.patience = new AbortController()
      const { signal } = globalThis.patience
      const response = await fetch('https://api.example.com/v1/pets', { ...init, headers, signal })
      const remaining = response.headers.get('X-RateLimit-Remaining')
      const reason = response.headers.get('X-Sandbox-Reason')
      const wait = Number(response.headers.get('Retry-After'))
      return { status: response.status, reason, remaining, wait, body: await response.json() }
    } catch (error) {
      return error.name
    }
  }, init)
}

/** Ends the last request of a page. */
function losePatience(page: Page) {
  return page.evaluate(() => globalThis.patience.abort())
}

test('retries as soon as Retry-After allows', async ({ page, sandbox }) => {
  await sandbox.storm.start({ rate: 1 })
  await page.goto('/')
  await expect(page.getByRole('status')).toHaveText('429: again in 1 s')
  await sandbox.storm.stop()
  await expect(page.getByRole('listitem')).toHaveCount(20)
  expect((await sandbox.conduct()).violations).toEqual([])
})

test.describe('a page without an application', () => {
  test.beforeEach(async ({ page }) => {
    await page.route('/', (route) => route.fulfill({ contentType: 'text/html', body: '<title>Pet shop</title>' }))
    await page.goto('/')
  })

  test('keeps what is written', async ({ page, sandbox }) => {
    const rex = { name: 'Rex', categoryId: 1 }
    expect(await ask(page, { method: 'POST', body: JSON.stringify(rex) })).toMatchObject({ status: 201, body: rex })
    expect((await sandbox.records.list('pets'))[0]).toMatchObject(rex)
  })

  test('is served again when the minute is over, and told on if it does not wait', async ({ page, sandbox }) => {
    await sandbox.clock.freeze()
    await sandbox.settings.change({ limits: '1/min' })
    expect(await ask(page)).toMatchObject({ status: 200, remaining: '0' })
    expect(await ask(page)).toMatchObject({ status: 429, wait: 60 })
    await sandbox.clock.advance('1m')
    expect(await ask(page)).toMatchObject({ status: 200 })
    expect(await ask(page)).toMatchObject({ status: 429, wait: 60 })
    expect((await sandbox.conduct()).violations).toEqual([])
    await sandbox.settings.change({ senders: 1 })
    const findings = async () => {
      await ask(page)
      return (await sandbox.conduct()).violations
    }
    await expect.poll(findings, { timeout: 60_000, intervals: [300] }).toMatchObject([{ rule: 'early-retry' }])
  })

  test('is served again when its ban is over', async ({ page, sandbox }) => {
    await sandbox.ban('sandbox', { for: '5m' })
    expect(await ask(page)).toMatchObject({ status: 429, reason: 'ban', body: { code: 'api_key_banned' } })
    await sandbox.clock.advance('5m')
    expect(await ask(page)).toMatchObject({ status: 200 })
    expect((await sandbox.conduct()).violations).toEqual([])
  })

  for (const fault of ['connection-reset', 'empty-response', 'malformed-chunk'] as const)
    test(`fails as a network does: ${fault}`, async ({ page, sandbox }) => {
      const failed = page.waitForEvent('requestfailed')
      await sandbox.faults.set([`listPets:${fault}*1`])
      expect(await ask(page)).toBe('TypeError')
      expect((await failed).failure()?.errorText).toBe('net::ERR_CONNECTION_RESET')
      expect(await sandbox.requests()).toMatchObject([{ fault, ended: 'cut' }])
      expect(await ask(page)).toMatchObject({ status: 200 })
    })

  test('hangs until the page has lost its patience', async ({ page, sandbox }) => {
    await sandbox.faults.set(['listPets:hang*1'])
    const asked = ask(page)
    await expect.poll(() => sandbox.requests()).toMatchObject([{ fault: 'hang', ended: null }])
    await losePatience(page)
    expect(await asked).toBe('AbortError')
    await expect.poll(() => sandbox.requests()).toMatchObject([{ fault: 'hang', ended: 'left' }])
  })

  test('may end while a request hangs', async ({ page, sandbox }) => {
    await sandbox.faults.set(['listPets:hang'])
    void ask(page).catch(() => {})
    await expect.poll(() => sandbox.requests()).toMatchObject([{ fault: 'hang', ended: null }])
  })

  test('takes its time', async ({ page, sandbox }) => {
    await sandbox.settings.change({ latency: '200ms' })
    expect(await ask(page)).toMatchObject({ status: 200 })
    const [exchange] = await sandbox.requests()
    expect(exchange?.timing.waitingMs).toBeGreaterThan(100)
  })
})
