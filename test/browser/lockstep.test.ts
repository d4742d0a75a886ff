import { expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { openBrowser } from './browser.js'

it("advances Playwright's clock of a page with the sandbox's, and the page is never early", async () => {
  const sandbox = await startSandbox({ limits: '1/day' })
  onTestFinished(() => sandbox.close())
  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.clock.install()
  await page.goto(`${sandbox.controlUrl}/health`)
  await page.evaluate(async (url) => {
    const load = async () => {
      const response = await fetch(url, { headers: { authorization: 'Bearer sandbox' } })
      const wait = response.headers.get('retry-after')
      if (wait !== null) setTimeout(() => void load(), Number(wait) * 1000)
      Object.assign(globalThis, { lastStatus: response.status })
    }
    await load()
    await load()
  }, `${sandbox.baseUrl}/pets`)
  expect(await page.evaluate('lastStatus')).toBe(429)
  await sandbox.clock.advance('24h', { timers: page.clock })
  // The request of the last step may still be on its way.
  await page.waitForFunction('lastStatus === 200')
  expect((await sandbox.conduct()).violations).toEqual([])
}, 60_000)
