import { describe, expect, it } from 'vitest'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { temporaryFile } from '../support/temporary-files.js'
import { axeViolations, FAILED, row, useBrowser } from './browser.js'

const FROZEN = { seed: 1, now: '2026-03-01T12:00:00Z', freeze: true }

describe.skipIf(!HAS_CHROMIUM)('before an action, the dashboard', () => {
  const browser = useBrowser()

  async function open(given: Parameters<typeof browser.open>[0] = {}) {
    const opened = await browser.open({ ...given, sandbox: { ...FROZEN, ...given.sandbox } })
    await opened.page.getByText('live', { exact: true }).waitFor()
    return opened
  }

  it('says what a move of the clock ends and refills, and afterwards what it did', async () => {
    const { sandbox, page, ask } = await open()
    await ask('/pets')
    await sandbox.ban('sandbox', { for: '2m' })
    await sandbox.storm.start({ rate: 0.3, for: '9m' })
    await page.getByRole('button', { name: 'Switch off storm 30 %' }).waitFor()
    await page.keyboard.press('t')
    const effects = page.getByRole('list', { name: 'What the move changes' })
    // The first step has the focus.
    await effects.getByText('Ends and refills nothing.').waitFor()
    await page.getByRole('button', { name: '+1 m: move the clock by 1 minute' }).hover()
    await effects.getByText('refills sandbox 59 → 60 a minute').waitFor()
    expect(await effects.getByText('ends').count()).toBe(0)
    await page.getByRole('button', { name: '+1 h: move the clock by 1 hour' }).hover()
    await effects.getByText('ends the ban of sandbox (2:00 left), storm 30 % (9:00 left)').waitFor()
    for (const name of ['Freeze', 'Resume', 'Real time']) {
      const button = page.getByRole('button', { name, exact: true })
      if ((await button.count()) === 0) continue
      await button.hover()
      await effects.getByText(`${name}: `).waitFor()
    }
    await page.getByRole('button', { name: 'To the sunset of getPet' }).hover()
    await effects.getByText('removes getPet').waitFor()
    await page.getByRole('button', { name: 'To the end of the ban of sandbox 12:02:00 UTC · in 2:00' }).click()
    await page
      .getByText('The clock has moved to the end of the ban of sandbox; ends the ban of sandbox (2:00 left);')
      .first()
      .waitFor()
    expect((await sandbox.clock.show()).now).toBe('2026-03-01T12:02:00.000Z')
  })

  it('says which logins a move of the clock ends', async () => {
    const spec = temporaryFile(
      'logins.yaml',
      `openapi: 3.1.0
info: { title: Logins, version: "1" }
components: { securitySchemes: { login: { type: http, scheme: bearer } } }
paths:
  /login:
    post:
      operationId: logIn
      security: []
      responses:
        200:
          description: OK
          content:
            application/json:
              schema: { type: object, required: [id_token], properties: { id_token: { type: string } } }
  /me: { get: { operationId: getMe, security: [{ login: [] }], responses: { 200: { description: OK } } } }
`,
    )
    const { sandbox, page } = await open({ sandbox: { spec } })
    await (await fetch(`${sandbox.baseUrl}/login`, { method: 'POST' })).text()
    await row(page, '/login').waitFor()
    await page.keyboard.press('t')
    const effects = page.getByRole('list', { name: 'What the move changes' })
    await page.getByRole('button', { name: '+1 m: move the clock by 1 minute' }).hover()
    await effects.getByText('Ends and refills nothing.').waitFor()
    await page.getByRole('button', { name: '+1 h: move the clock by 1 hour' }).hover()
    await effects.getByText('ends 1 login').waitFor()
    await page.getByRole('button', { name: 'To the end of a login 13:00:00 UTC · in 1:00:00' }).waitFor()
    await sandbox.logins.expire()
    await effects.getByText('Ends and refills nothing.').waitFor()
  })

  it('runs no command with an empty field; arrows mark one; undo, clients and exchanges are found', async () => {
    const { sandbox, page, ask } = await open()
    await ask('/pets?limit=1', 'sandbox', { headers: { 'user-agent': 'worker/1' } })
    await ask('/pets?limit=2')
    await row(page, 'limit=2').waitFor()
    const palette = page.getByRole('dialog', { name: 'Run a command' })
    const marked = palette.getByRole('option', { selected: true })
    await page.keyboard.press('Control+k')
    await palette.getByRole('option', { name: 'Everything 429 for 30 s' }).waitFor()
    expect(await marked.count()).toBe(0)
    await page.keyboard.press('Enter')
    expect(await sandbox.storm.show()).toBeNull()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await marked.textContent()).toBe('listPets slow 3 s')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await palette.waitFor({ state: 'detached' })
    expect((await sandbox.storm.show())?.rate).toBe(1)
    const run = async (text: string, name: string) => {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(text)
      await expect.poll(() => marked.textContent()).toContain(name)
      await page.keyboard.press('Enter')
      await palette.waitFor({ state: 'detached' })
    }
    await run('undo', 'Undo: Storm started')
    expect(await sandbox.storm.show()).toBeNull()
    await run('worker', 'Client worker')
    await page.getByRole('button', { name: 'Remove client:sandbox/worker' }).waitFor()
    await run('#2', 'Exchange #2')
    await page.locator('.detail .target').getByText('limit=2').waitFor()
  })

  it('keeps menus on the screen, also beside long names of operations', async () => {
    const id = 'listTheOwnersOfAllTheAnimalsInTheRegionsOfTheNorthAndOfTheSouth'
    const spec = temporaryFile(
      'long.yaml',
      `openapi: 3.1.0\ninfo: { title: Long, version: "1" }\npaths: { /a: { get: { operationId: ${id}, responses: { 200: { description: OK } } } } }\n`,
    )
    const { page, ask } = await open({ sandbox: { spec } })
    for (const width of [1280, 768, 390]) {
      await page.setViewportSize({ width, height: 900 })
      for (const menu of ['More', 'Reset', 'Export', 'clock…']) {
        const opened = page.locator('.menu', { has: page.locator('summary', { hasText: menu }) })
        await opened.locator('summary').click()
        await expect
          .poll(() => opened.locator('> div').boundingBox())
          .toMatchObject({ x: expect.toSatisfy((x: number) => x >= 0) })
        const box = await opened.locator('> div').boundingBox()
        expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width)
        await page.keyboard.press('Escape')
      }
    }
    await ask('/a')
    await row(page, '/a').locator('.path').click()
    const name = await page
      .locator('.facts')
      .getByRole('button', { name: `Filter by ${id}` })
      .boundingBox()
    expect((name?.x ?? 0) + (name?.width ?? 0)).toBeLessThanOrEqual(390)
  })

  it.each([1280, 640, 390, 320])('arms a fault with its wait, after the write, %i pixels wide', async (width) => {
    const { page } = await open()
    await page.setViewportSize({ width, height: 844 })
    const form = page.getByRole('form', { name: 'Break the next requests' })
    await form.getByRole('combobox', { name: 'Operation' }).selectOption('createPet')
    await form.getByRole('textbox', { name: 'Retry-After' }).fill('7')
    await form.getByRole('checkbox', { name: 'after the write' }).check()
    for (const field of await form.locator('input, select, button').all()) {
      const { x, width: wide } = (await field.boundingBox()) ?? { x: 0, width: 0 }
      expect(wide, await field.evaluate((node) => node.outerHTML)).toBeGreaterThan(15)
      expect(x + wide).toBeLessThanOrEqual(width)
    }
    await form.getByRole('button', { name: 'Arm' }).click()
    await page.getByText('createPet:503*1,retry-after=7s,after').first().waitFor()
  })

  it('shows the date of a clock that is days ahead, and opens a request without a response on what was sent', async () => {
    const { sandbox, page, ask } = await open({ sandbox: { freeze: false } })
    await sandbox.clock.set({ now: '2030-12-05T00:00:00Z' })
    await page.getByText('clock on Thu, 5 Dec 2030').waitFor()
    await sandbox.faults.add('listPets:connection-reset*1')
    await expect(ask('/pets?limit=4')).rejects.toThrow()
    await row(page, 'limit=4').locator('.path').click()
    await page.locator('.detail').getByRole('button', { name: 'Sent', exact: true, pressed: true }).waitFor()
  })

  it.each([1, 12, 200])(
    'is accessible and fits with %i clients, and shows the first rows of the log',
    async (count) => {
      const { page, ask } = await open({ sandbox: { plan: 'enterprise' }, bypassCSP: true })
      for (let n = 0; n < count; n++)
        await ask(`/pets?limit=${n % 3}`, 'sandbox', { headers: { 'user-agent': `client-${n}/1` } })
      await expect.poll(() => page.locator('.lane').count()).toBe(count)
      const bad = page.locator('.lane', { hasText: 'Sends invalid requests, 1 ×' })
      await expect.poll(() => bad.count()).toBe(Math.ceil(count / 3))
      for (const [width, height] of [
        [1920, 900],
        [1440, 900],
        [1280, 900],
        [768, 900],
        [640, 450],
        [390, 844],
        [320, 640],
        // 320 pixels with a scroll bar.
        [305, 640],
      ] as const) {
        await page.setViewportSize({ width, height })
        await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(width)
        expect((await page.locator('header.top').boundingBox())?.height, `${width} pixels`).toBeLessThan(50)
        await expect
          .poll(async () => (await page.locator('.exchange').first().boundingBox())?.y)
          .toBeLessThan(height - 72)
        expect(await axeViolations(page), `${width} pixels`).toEqual([])
      }
    },
  )

  it('on narrow pages cuts no word of a chain, and an address at its end only', async () => {
    const { sandbox, page, ask } = await open({ sandbox: { limits: '1/min' }, isOwn: true, allowed: FAILED })
    const as = (agent: string, key: string) => ask('/pets', key, { headers: { 'user-agent': agent } })
    for (let n = 0; n < 12; n++) await as('other/1', 'sandbox-enterprise')
    for (let n = 0; n < 2; n++) await as('worker/1', 'sandbox')
    for (let n = 0; n < 4; n++) await Promise.all([as('worker/1', 'sandbox'), as('other/1', 'sandbox-enterprise')])
    await page.locator('.lane .verdict', { hasText: 'Retries too early, 4 ×' }).click()
    await page.setViewportSize({ width: 320, height: 844 })
    const said = page.locator('.chain li', { hasText: 'inside that wait' })
    expect(await said.locator('span:not(.mono)').evaluate((span) => span.clientWidth)).toBeGreaterThan(75)
    await page.setViewportSize({ width: 660, height: 844 })
    await sandbox.close()
    await page.getByText('The sandbox is not responding.').waitFor()
    const cutBefore = await page.locator('.address').evaluate((address) => {
      const text = address.ownerDocument.createRange()
      text.selectNodeContents(address)
      return address.getBoundingClientRect().left - text.getBoundingClientRect().left
    })
    expect(cutBefore).toBeLessThanOrEqual(0)
  })

  it('shows all switches of Active now on a wide page, in several lines', async () => {
    const sandbox = {
      latency: '1ms',
      banAfter: 3,
      banDuration: '7m',
      limits: '9/min',
      retryAfter: 'http-date',
    } as const
    const { page } = await open({ sandbox: { ...sandbox, storm: '0.5,for=1h', fault: ['getPet:503@50%', '*:500@1%'] } })
    await page.setViewportSize({ width: 960, height: 900 })
    const chips = page.locator('.chip')
    await expect.poll(() => chips.count()).toBeGreaterThan(7)
    for (const chip of await chips.all()) {
      const { x, width } = (await chip.boundingBox()) ?? { x: 0, width: 0 }
      expect(x + width).toBeLessThan(800)
    }
  })

  it('speaks of the log only when the filter changes', async () => {
    const { page, ask } = await open({ sandbox: { plan: 'enterprise' } })
    await page.evaluate(`window.spoken = []; new MutationObserver((all) => {
      for (const { target } of all) {
        const status = (target.nodeType === 3 ? target.parentElement : target)?.closest('[role=status]')
        if (status?.textContent) window.spoken.push(status.textContent)
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`)
    for (let n = 0; n < 60; n++) await ask('/pets')
    await page.getByText('60 exchanges').waitFor()
    expect(await page.evaluate('window.spoken')).toEqual([])
  })
})
