import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { hasBrowser, listen, openBrowser } from './browser.js'

describe.skipIf(!hasBrowser)('the pages, in a browser', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  it('redirects a browser at the bare address to the dashboard', async () => {
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
})
