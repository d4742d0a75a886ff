import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.js'
import { FIREFOX, HAS_FIREFOX } from '../support/browsers.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { listen } from './browser.js'

// Playwright drives a Firefox of its own only; Puppeteer drives Debian's, by WebDriver BiDi.
describe.skipIf(!HAS_FIREFOX)('the pages, in Firefox', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await puppeteer.launch({ browser: 'firefox', executablePath: FIREFOX, headless: true })
  })
  afterAll(() => browser.close())

  async function open(path: string): Promise<{ sandbox: Sandbox; page: Page; complaints: string[] }> {
    const sandbox = await startSandbox({ seed: 1, now: '2026-03-01T12:00:00Z', freeze: true })
    onTestFinished(() => sandbox.close())
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    page.setDefaultTimeout(STEP_PATIENCE_MS)
    await page.setViewport({ width: 1280, height: 900 })
    const complaints: string[] = []
    // Their events have the same shape.
    listen(page as unknown as Parameters<typeof listen>[0], new URL(sandbox.baseUrl).origin, complaints)
    await page.goto(sandbox.controlUrl + path)
    return { sandbox, page, complaints }
  }

  it('show a request when it is made, start a storm, add a fault, and reset the switches', async () => {
    const { sandbox, page, complaints } = await open('/')
    const ask = async () =>
      (await fetch(`${sandbox.baseUrl}/pets?limit=3`, { headers: { authorization: 'Bearer sandbox' } })).status
    const row = (text: string) => page.locator(`.exchange button ::-p-text(${text})`)
    await page.locator('.connection.live').wait()

    expect(await ask()).toBe(200)
    await row('200').wait()
    await page.locator('.exchange .path').click()
    await page.locator('.detail ::-p-text(The response follows the contract.)').wait()

    await page.locator('.sentence .menu summary').click()
    await page.locator(button('Everything 429 for 30 s')).click()
    await page.locator('.active ::-p-text(storm 100 % · 0:30)').wait()
    expect(await ask()).toBe(429)
    await row('429').wait()
    await page.locator(button('Switch off storm 100 %')).click()
    await page.locator('.active ::-p-text(clock frozen)').wait()
    await expect.poll(() => sandbox.storm.show()).toBeNull()

    await page.locator('.sentence [type=submit]').click()
    await page.locator('.active ::-p-text(*:503*1 · 1 left)').wait()
    expect(await ask()).toBe(503)
    await row('503').wait()
    await page.locator(button('Clear the rules that are used up')).click()
    await expect.poll(() => sandbox.faults.list()).toEqual([])
    expect(await ask()).toBe(200)

    expect((await sandbox.requests()).map(({ status }) => status)).toEqual([200, 429, 503, 200])
    expect(complaints).toEqual([])
    // A violation of the policy would be seen.
    await page.evaluate("document.body.setAttribute('style', 'color: red')")
    await expect.poll(() => complaints).toEqual([expect.stringMatching(/style-src/)])
  })

  it('send an operation from the docs', async () => {
    const { sandbox, page, complaints } = await open('/docs#tag/pets/listPets')
    await page.locator('[id$="/listPets"] .show-api-client-button').click()
    await page.locator('[role=dialog] [data-addressbar-action="send"]').click()
    await page.locator('[role=dialog] ::-p-text(Sir Purrcival)').wait()
    expect((await sandbox.requests()).map(({ operation, status }) => [operation, status])).toEqual([['listPets', 200]])
    expect(complaints).toEqual([])
  })
})

function button(name: string): string {
  return `::-p-aria([name="${name}"][role="button"])`
}
