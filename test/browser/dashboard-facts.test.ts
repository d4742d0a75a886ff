import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { temporaryFile } from '../support/temporary-files.js'
import { row, useBrowser } from './browser.js'

const FROZEN = { seed: 1, now: '2026-03-01T12:00:00Z', freeze: true }

describe.skipIf(!HAS_CHROMIUM)('on the dashboard', () => {
  const browser = useBrowser()

  async function open(sandbox: NonNullable<Parameters<typeof browser.open>[0]>['sandbox'] = FROZEN) {
    const opened = await browser.open({ sandbox })
    await opened.page.getByText('live', { exact: true }).waitFor()
    const send = async (agent: string, path = '/pets', times = 1, headers: Record<string, string> = {}) => {
      for (let n = 0; n < times; n++)
        await (await opened.ask(path, 'sandbox', { headers: { 'user-agent': agent, ...headers } })).text()
    }
    return { ...opened, send }
  }

  const lane = (page: Page, name: string) => page.locator('.lane', { hasText: name })
  const chain = (page: Page) => page.getByRole('list', { name: 'What led to it' })

  it('lane, advice and chain agree when a client can go on, also while a later ban or storm runs', async () => {
    const { sandbox, page, send } = await open({ ...FROZEN, limits: '1/min' })
    await send('worker/1', '/pets', 2)
    await row(page, '429').locator('.path').click()
    const detail = page.locator('.detail')
    await chain(page).getByText('12:01:00 UTC: the first moment to ask again · in 1:00').waitFor()
    await sandbox.clock.advance('2m')
    await detail.getByText('This is over. Retry.').waitFor()
    await detail.locator('.why').getByText('was used up.').waitFor()
    await sandbox.ban('sandbox', { for: '5m' })
    await detail.getByText('This is over. Now: banned until 12:07:00 UTC.').waitFor()
    await chain(page).getByText('was the first moment to ask again; now: banned').waitFor()
    await chain(page).getByText('12:07:00 UTC: the first moment to ask again · in 5:00').waitFor()
    await lane(page, 'worker').getByText('until 12:07:00').waitFor()
    expect(await page.locator('.steps .primary').allTextContents()).toEqual(['Lift the ban'])
    await sandbox.unban('sandbox')
    await detail.getByText('This is over. Retry.').waitFor()
    await sandbox.storm.start({ for: '30s' })
    await detail.getByText('This is over. Now: storm 100 % until 12:02:30 UTC.').waitFor()
    await chain(page).getByText('12:02:30 UTC: the first moment to ask again · in 0:30').waitFor()
    await lane(page, 'worker').getByText('until 12:02:30').waitFor()
    await lane(page, 'worker').getByText('storm 100 % · 0:30 left').waitFor()
    await sandbox.storm.start({ rate: 0.3, for: '9m' })
    await detail.getByText('This is over. Now: storm 30 % until 12:11:00 UTC.').waitFor()
    await lane(page, 'worker').getByText('1 of 1').waitFor()
    await chain(page).getByText('12:01:00 UTC: the first moment to ask again').waitFor()
  })

  it('a ban that was lifted is no fact of the present', async () => {
    const { page, send } = await open({ ...FROZEN, limits: '1/min', banAfter: 2 })
    await send('worker/1', '/pets', 6)
    await row(page, 'banned until 12:05:00').locator('.path').click()
    await page.locator('.steps').getByRole('button', { name: 'Lift the ban' }).click()
    await page.locator('.detail').getByText('The ban has been lifted.').waitFor()
    await row(page, 'banned, lifted since').waitFor()
    expect(await page.locator('.detail, .lanes, button').getByText('until 12:05:00').count()).toBe(0)
    await page.locator('.notice').getByRole('button', { name: 'Undo' }).click()
    await row(page, 'banned until 12:05:00').waitFor()
  })

  it('early requests are those of conduct, also beyond the first twenty', async () => {
    const { page, send } = await open({ ...FROZEN, limits: '1/min', banAfter: 'never' })
    await send('worker/1', '/pets', 40)
    await page.locator('.exchange', { hasText: 'in its wait of 60 s' }).getByText('×38').waitFor()
    await row(page, 'in its wait').locator('.path').click()
    await chain(page).getByText('38 requests inside that wait').waitFor()
  })

  it('lane and exchange count the same where clients share a key; Escape ends the filter of a verdict', async () => {
    const { page, send } = await open({ ...FROZEN, plan: 'enterprise' })
    await send('one/1', '/pets?limit=0', 3)
    await send('other/1', '/pets?limit=0', 2)
    await page.getByRole('textbox', { name: 'Filter' }).or(page.locator('#filter')).first().fill('limit')
    await page.keyboard.press('Enter')
    await lane(page, 'other')
      .getByRole('button', { name: /^Sends invalid requests, 2 ×/ })
      .click()
    await page.locator('.detail').getByText('2 times', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Remove id:4,5' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Remove id:4,5' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove limit' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Remove limit' }).waitFor({ state: 'detached' })
  })

  it('× of a ban lifts it, with an undo', async () => {
    const { sandbox, page } = await open()
    await sandbox.ban('sandbox', { for: '5m' })
    await page.getByRole('button', { name: 'Switch off sandbox banned' }).click()
    await page.locator('.notice').getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Switch off sandbox banned' }).waitFor()
    expect((await sandbox.state()).keys.find(({ key }) => key === 'sandbox')?.ban).not.toBeNull()
  })

  it('a key is banned for the time beside its button, or else for the time of the setting', async () => {
    const { sandbox, page } = await open({ ...FROZEN, banDuration: '7m' })
    await page.getByRole('tab', { name: 'Keys' }).click()
    const until = async (wanted: string) => {
      const { keys } = await sandbox.state()
      return keys.find(({ key }) => key === wanted)?.ban?.until
    }
    await page.getByRole('textbox', { name: 'Time of the ban of sandbox-pro' }).fill('1m')
    await page.keyboard.press('Enter')
    await page.locator('[data-key="sandbox-pro"]').getByText('Banned, 1:00 left').waitFor()
    expect(await until('sandbox-pro')).toBe('2026-03-01T12:01:00.000Z')
    await page.getByRole('button', { name: 'Ban sandbox', exact: true }).click()
    await page.locator('[data-key="sandbox"]').getByText('Banned, 7:00 left').waitFor()
    expect(await until('sandbox')).toBe('2026-03-01T12:07:00.000Z')
  })

  it('a client that claims to be a person is judged and banned', async () => {
    const { sandbox, page, send } = await open({ ...FROZEN, limits: '1/min', banAfter: 2 })
    await send('worker/1', '/pets', 6, { 'x-sandbox-client': 'you' })
    await lane(page, 'worker').getByText('until 12:05:00').waitFor()
    expect((await sandbox.conduct()).violations.length).toBeGreaterThan(0)
  })

  it('scenarios of a removal need a contract that removes an operation', async () => {
    const spec = temporaryFile(
      'plain.yaml',
      'openapi: 3.1.0\ninfo: { title: A, version: "1" }\npaths: { /a: { get: { operationId: a, responses: { 200: { description: OK } } } } }\n',
    )
    const { page } = await open({ spec })
    await page.getByRole('button', { name: 'Apply storm' }).waitFor()
    await page.getByRole('link', { name: 'API docs: A' }).waitFor()
    expect(await page.getByLabel('Latency', { exact: true }).getAttribute('placeholder')).toMatch(/ a=3s$/)
    expect(await page.getByRole('button', { name: /^Apply (?:sunset|brownout)$/ }).count()).toBe(0)
  })

  it('the keyboard alone finds the worst client and its chain, arms a fault, undoes it, and moves the clock', async () => {
    const { sandbox, page, send } = await open({ ...FROZEN, limits: '1/min' })
    await send('polite/1', '/pets', 1)
    await send('worker/1', '/pets', 6)
    await lane(page, 'worker')
      .getByRole('button', { name: /^Retries too early/ })
      .waitFor()
    const tabTo = async (selector: string) => {
      for (let n = 0; n < 40; n++) {
        await page.keyboard.press('Tab')
        if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) return
      }
      throw new Error(`Tab does not reach ${selector}.`)
    }
    await tabTo('.lane:first-child .verdict')
    await page.keyboard.press('Enter')
    await chain(page).getByText('inside that wait').waitFor()
    await tabTo('.sentence [type=submit]')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Switch off *:503*1' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('undo')
    await page.getByRole('option', { name: /^Undo: Fault added/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Switch off *:503*1' }).waitFor({ state: 'detached' })
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('t')
    await page.getByRole('button', { name: '+1 s: move the clock by 1 second' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await sandbox.clock.show()).now).toBe('2026-03-01T12:00:01.000Z')
  })

  it('a clock that is days from real time shows its date, and advice is for what refuses a key last', async () => {
    const { page, send } = await open({ ...FROZEN, freeze: false, limits: '1/min', banAfter: 2 })
    await send('worker/1', '/pets', 6)
    await page.getByText('clock on Sun, 1 Mar 2026').waitFor()
    await page.locator('.exchange', { hasText: 'quota used up' }).last().locator('.path').click()
    await page.locator('.detail').getByText('Wait, lift the ban, or move the clock.').waitFor()
  })

  it('Undo says what else it takes back, stays while it has the focus, and gives the focus back', async () => {
    const { page, send } = await open()
    // The page's timers of ten seconds end when the test says so.
    await page.evaluate(`{
      const { setTimeout } = window
      window.ends = []
      window.setTimeout = (act, ms, ...rest) => (ms === 10000 ? window.ends.push(act) : setTimeout(act, ms, ...rest))
    }`)
    const arm = page.getByRole('button', { name: 'Arm' })
    await arm.focus()
    await page.keyboard.press('Enter')
    await send('worker/1', '/pets', 3)
    const undo = page.getByRole('button', { name: 'Undo (also what 3 requests since changed)', exact: true })
    await undo.waitFor()
    await page.keyboard.press('Control+k')
    await page
      .getByRole('option', { name: 'Undo: Fault added: *:503*1. (also what 3 requests since changed)' })
      .waitFor()
    await page.keyboard.press('Escape')
    await undo.focus()
    await page.evaluate('window.ends.at(-1)()')
    expect(await undo.count()).toBe(1)
    await page.keyboard.press('Enter')
    await undo.waitFor({ state: 'detached' })
    await page.locator('.sentence [type=submit]:focus').waitFor()
    await page.getByText('Undone: Fault added: *:503*1. Also undone: what 3 requests since then changed.').waitFor()
  })

  it('a storm that pauses says when it begins again; the palette starts one, and gives the focus back', async () => {
    const { sandbox, page } = await open()
    await page.locator('#filter').focus()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('storm 30% for=30s every=2m')
    await page.getByRole('option', { name: 'Start storm 0.3,for=30s,every=2m', selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('#filter:focus').waitFor()
    expect((await sandbox.state()).storm).toMatchObject({ rate: 0.3, for: '30s', every: '2m' })
    const chip = page.locator('.chip', { hasText: 'storm 30 %' })
    await chip.waitFor()
    expect(await chip.textContent()).not.toContain('again')
    await sandbox.clock.advance('40s')
    await chip.getByText('again at 12:02:00 UTC').waitFor()
  })

  it('a lane says until when its client was told to wait, and the words fit', async () => {
    const { sandbox, page, send } = await open()
    await sandbox.faults.add('listPets:503*1,retry-after=30s')
    await send('worker/1')
    await lane(page, 'worker').getByText('wait until 12:00:30').waitFor()
    await sandbox.clock.advance('31s')
    await lane(page, 'worker').getByText('wait until').waitFor({ state: 'detached' })
    await sandbox.storm.start({ for: '9m' })
    await lane(page, 'worker').getByText('storm 100 % · 9:00 left').waitFor()
    const isCut = "[...document.querySelectorAll('.quota > *')].some((e) => e.scrollWidth > e.clientWidth)"
    expect(await page.evaluate(isCut)).toBe(false)
  })

  it('the filter of a verdict says which part of it is shown, and conduct what it counts', async () => {
    const { page, send } = await open({ ...FROZEN, limits: '1/min', banAfter: 'never' })
    await send('worker/1', '/pets', 40)
    await lane(page, 'worker')
      .getByRole('button', { name: /^Retries too early, 38 ×/ })
      .click()
    await page.getByText('20 of 40 exchanges, the first 20 of 38 times').first().waitFor()
    await page.getByRole('tab', { name: 'Conduct' }).click()
    await page.getByText('Conduct counts 1 sender per key: no two equal requests of a key were open at once.').waitFor()
    await page.getByRole('tab', { name: 'Data' }).click()
    await page
      .locator('#records')
      .getByText(/^60 pets, [\d,]+ \w+/)
      .waitFor()
  })
})
