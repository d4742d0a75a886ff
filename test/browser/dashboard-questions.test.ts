import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { type Opened, row, useBrowser } from './browser.js'

const WORKER = { 'user-agent': 'worker/1.0' }

describe.skipIf(!HAS_CHROMIUM)('a question to the dashboard', () => {
  const browser = useBrowser()
  let opened: Opened
  let clicks = 0

  function click(element: Locator): Promise<void> {
    clicks++
    return element.click()
  }

  /** Behind Ctrl-K. */
  async function say(page: Page, sentence: string): Promise<void> {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(sentence)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  beforeEach(async () => {
    clicks = 0
    opened = await browser.open({
      sandbox: { seed: 1, limits: '2/min', latency: '1ms' },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const { page, ask } = opened
    await page.getByText('live', { exact: true }).waitFor()
    for (let n = 0; n < 4; n++) await (await ask('/pets?limit=5', 'sandbox', { headers: WORKER })).text()
    await (await ask('/pets?limit=6', 'sandbox-pro')).text()
    await row(page, 'limit=6').waitFor()
  })

  it('needs no click: which client misbehaves, its quota and its reset, and what is switched on', async () => {
    const { page } = opened
    const worker = page.locator('.lane', { hasText: 'worker' })
    await worker.getByText('Retries too early, 1 ×').waitFor()
    await worker.getByText('0 of 2', { exact: true }).waitFor()
    await worker.getByText(/^resets \d\d:\d\d:\d\d$/).waitFor()
    const active = page.getByRole('region', { name: 'Active now' })
    await active.getByText(/^latency 1ms/).waitFor()
    await active.getByText(/^limits 2\/min for sandbox/).waitFor()
    await active.getByText('--latency').waitFor()
    expect(clicks).toBe(0)
  })

  it('needs one click: why a request failed', async () => {
    const { page } = opened
    await click(row(page, '429'))
    await page.getByText('The quota of the key sandbox on the plan free, 2 requests a minute, is used up.').waitFor()
    expect(clicks).toBe(1)
  })

  it('needs one click in the open exchange: what was sent', async () => {
    const { page } = opened
    // The first of them, after a 200, once the second has a row of its own.
    await row(page, 'in its wait').waitFor()
    await page.locator('.exchange button', { hasText: '429' }).last().click()
    const detail = page.locator('.detail')
    await click(detail.getByRole('button', { name: 'Sent', exact: true }))
    await detail
      .getByText(/headers/)
      .first()
      .waitFor()
    expect(clicks).toBe(1)
  })

  it('needs one click in the open exchange: a curl command that gets a 200', async () => {
    const { page, sandbox } = opened
    await row(page, 'limit=6').click()
    await click(page.getByRole('button', { name: 'Copy as curl' }))
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('curl')
    const command = String(await page.evaluate('navigator.clipboard.readText()'))
    await promisify(execFile)('sh', ['-c', command])
    expect((await sandbox.requests()).at(-1)).toMatchObject({ status: 200, key: 'sandbox-pro', query: 'limit=6' })
    expect(clicks).toBe(1)
  })

  it('needs one sentence: the next createPet gets a 503, once', async () => {
    const { page, sandbox } = opened
    await say(page, 'createPet:503*1')
    expect(await sandbox.faults.list()).toMatchObject([{ operation: 'createPet', status: 503, times: 1, left: 1 }])
    expect(clicks).toBe(0)
  })

  it('needs one sentence and one click: the clock at the sunset of getPet, and back', async () => {
    const { page, sandbox } = opened
    await say(page, 'sunset of getPet')
    expect((await sandbox.clock.show()).now).toMatch(/^2030-12-05T00:00:/)
    await click(page.getByRole('button', { name: 'Undo', exact: true }))
    await expect.poll(async () => (await sandbox.clock.show()).now).not.toMatch(/^2030/)
    expect(clicks).toBe(1)
  })

  it('needs one click: a link to share, and the switches as a scenario', async () => {
    const { page } = opened
    await click(page.getByRole('button', { name: 'Share…' }))
    const dialog = page.getByRole('dialog', { name: 'Share' })
    await dialog.getByText('latency: 1ms').waitFor()
    await dialog.getByRole('button', { name: 'Copy the link' }).waitFor()
    expect(clicks).toBe(1)
  })
})
