import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { openBrowser } from './browser.js'

const SERVICE = 'https://api.example.com/v1'

describe.skipIf(!HAS_CHROMIUM)('a page whose requests Playwright relays to a sandbox', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  /** A page behind a sandbox that refuses all requests. */
  async function openPage() {
    const sandbox = await createSandbox({ storm: '1,retry-after=60s', cors: '*' })
    const page = await browser.newPage()
    onTestFinished(async () => {
      await page.close()
      await sandbox.close()
    })
    await page.route(`${SERVICE}/**`, async (route, request) => {
      const { status, headers, body } = await whole(
        await sandbox.fetch(request.url().replace(SERVICE, sandbox.baseUrl), {
          headers: request.headers(),
          relayed: true,
        }),
      )
      await route.fulfill({ status, headers, body })
    })
    await page.route('https://shop.example/', (route) => route.fulfill({ contentType: 'text/html', body: '' }))
    await page.goto('https://shop.example/')
    return { page, sandbox }
  }

  async function whole(answer: Response) {
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
  }

  /** Sends requests in parallel. @returns the response statuses */
  function askAtOnce(page: Page, count: number): Promise<number[]> {
    return page.evaluate(
      async ([pets, requests]) => {
        const init = { headers: { authorization: 'Bearer sandbox' } }
        const answers = await Promise.all(Array.from({ length: requests }, () => fetch(pets, init)))
        return answers.map(({ status }) => status)
      },
      [`${SERVICE}/pets`, count] as const,
    )
  }

  it('is not blamed for simultaneous requests, because the order of relayed responses is unknown', async () => {
    const { page, sandbox } = await openPage()
    expect(await askAtOnce(page, 3)).toEqual([429, 429, 429])
    const { requests, violations, warnings } = await sandbox.conduct()
    expect({ requests, violations }).toEqual({ requests: 3, violations: [] })
    expect(warnings.filter(({ rule }) => rule !== 'early-retry-likely')).toEqual([])
  })

  it('is reported if it keeps sending instead of waiting', async () => {
    const { page, sandbox } = await openPage()
    await expect
      .poll(
        async () => {
          await askAtOnce(page, 1)
          return (await sandbox.conduct()).violations
        },
        { timeout: 60_000, interval: 1 },
      )
      .toMatchObject([{ rule: 'early-retry', key: 'sandbox' }])
  })
})
