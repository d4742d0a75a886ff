import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Sandbox } from '../../src/index.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { spawnServe } from '../support/spawned-serve.js'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'
import { FAILED, type Opened, row, useBrowser } from './browser.js'

const FROZEN = { seed: 1, now: '2026-03-01T12:00:00Z', freeze: true }

/** A contract without `/pets`, whose only parameter has an example. */
const REGIONS = `openapi: 3.1.0
info: { title: Regions, version: "1" }
servers: [{ url: /v2 }]
paths:
  /regions/{region}/owners:
    get:
      operationId: listOwners
      parameters:
        - { name: region, in: path, required: true, schema: { type: string, enum: [north] } }
        - { name: year, in: query, required: true, schema: { type: integer }, example: 2025 }
      responses: { 200: { description: OK } }
`

describe.skipIf(!HAS_CHROMIUM)('the clients on the dashboard', () => {
  const browser = useBrowser()

  async function open(sandbox: Parameters<typeof browser.open>[0] = {}): Promise<Opened> {
    const opened = await browser.open(sandbox)
    await opened.page.getByText('live', { exact: true }).waitFor()
    return opened
  }

  const lane = (page: Page, name: string) => page.locator('.lane', { hasText: name })
  const as = (agent: string) => ({ headers: { 'user-agent': agent } })
  const lanesOn = (page: Page) => page.locator('.lane .who b').allTextContents()

  /** With curl. @returns the statuses */
  async function curl({ baseUrl }: Sandbox, path: string, times = 1, ...options: string[]): Promise<string> {
    const urls = Array.from({ length: times }, () => ['-o', '/dev/null', baseUrl + path]).flat()
    const { stdout } = await promisify(execFile)('curl', ['-s', '-w', '%{http_code} ', ...options, ...urls])
    return stdout.trim()
  }

  const KEY = ['-H', 'Authorization: Bearer sandbox'] as const

  it('have time with breaks: all requests stay drawn after the clock was moved, and now is marked', async () => {
    const { sandbox, page, ask } = await open({ sandbox: { ...FROZEN, freeze: false } })
    for (let n = 1; n <= 5; n++) await ask(`/pets?limit=${n}`, 'sandbox', as('worker/1'))
    for (const by of ['1h', '2m'] as const) {
      await sandbox.clock.advance(by)
      await ask('/pets', 'sandbox-pro', as('worker/1'))
    }
    await page.locator('.scale').getByText('+1 h').waitFor()
    await page.locator('.scale').getByText('+2 min').waitFor()
    await page
      .locator('.scale')
      .getByText(/^now 13:02:\d\d$/)
      .waitFor()
    // At least one in each of the three stretches.
    const marks = `[...document.querySelectorAll('.lane path.answered')]
      .map((path) => path.getAttribute('d')).join('').match(/M/g).length`
    await expect.poll(() => page.evaluate(marks)).toBeGreaterThanOrEqual(3)
    for (let n = 1; n <= 8; n++) {
      await sandbox.clock.advance('1h')
      await ask('/pets', 'sandbox-pro', as('worker/1'))
    }
    await page.getByText('9 not drawn').waitFor()
  })

  it('have the worst first, in an order that stays under the pointer; of more than eight, a filter finds one', async () => {
    const { page, ask } = await open({ sandbox: { ...FROZEN, plan: 'enterprise' } })
    const wrong = async (agent: string, times: number) => {
      for (let n = 0; n < times; n++) await ask('/pets?limit=0', 'sandbox', as(agent))
    }
    await ask('/pets', 'sandbox', as('polite/1'))
    await wrong('two/1', 2)
    await wrong('many/1', 24)
    await expect.poll(() => lanesOn(page)).toEqual(['many', 'two', 'polite'])
    await lane(page, 'two').hover()
    await wrong('two/1', 60)
    await lane(page, 'two').getByText('62 ×').waitFor()
    expect(await lanesOn(page)).toEqual(['many', 'two', 'polite'])
    await page.mouse.move(0, 0)
    await expect.poll(() => lanesOn(page)).toEqual(['two', 'many', 'polite'])
    // Narrow: two lines each. Small: only those that break a rule, with their verdict.
    await page.setViewportSize({ width: 1000, height: 900 })
    await expect.poll(async () => (await lane(page, 'two').boundingBox())?.height).toBeLessThan(50)
    await page.setViewportSize({ width: 390, height: 844 })
    await lane(page, 'many').getByText('Sends invalid requests, 24 ×').waitFor()
    expect(await lane(page, 'polite').isVisible()).toBe(false)
    await page.setViewportSize({ width: 1280, height: 900 })
    for (let n = 1; n <= 30; n++) await ask('/pets', 'sandbox', as(`client-${n}/1`))
    await expect.poll(async () => (await lanesOn(page)).length).toBe(33)
    expect((await page.locator('.lanes').boundingBox())?.height).toBeLessThan(330)
    await page.getByRole('searchbox', { name: 'Filter clients' }).fill('client-17')
    await expect.poll(() => lanesOn(page)).toEqual(['client-17'])
  })

  it('do not include people: the first request is of the own contract, and is charged, but not judged', async () => {
    const spec = temporaryFile('regions.yaml', REGIONS)
    const { sandbox, page } = await open({ sandbox: { spec } })
    await page.getByText('No requests yet.').waitFor()
    await page.getByRole('button', { name: 'Send GET /v2/regions/north/owners?year=2025' }).click()
    await lane(page, 'you').getByText('charged, but not judged').waitFor()
    const [sent] = await sandbox.requests()
    expect(sent).toMatchObject({ status: 200, sender: 'you', path: '/v2/regions/north/owners', query: 'year=2025' })
    expect(await sandbox.conduct()).toMatchObject({ requests: 0, violations: [], warnings: [] })
    await page.getByText(/breaks? the rules/).waitFor({ state: 'detached' })
  })

  it('do not include replays: they are hollow marks of a lane of your own, cost quota, and lead to no ban', async () => {
    const { sandbox, page, ask } = await open({ sandbox: { ...FROZEN, limits: '2/min', banAfter: 1 } })
    for (let n = 0; n < 3; n++) await ask('/pets', 'sandbox', as('worker/1'))
    await row(page, '429').locator('.path').click()
    await page.locator('.detail').getByRole('button', { name: 'Replay', exact: true }).click()
    await lane(page, 'you').getByText('Your own requests').waitFor()
    await lane(page, 'worker').getByText('Keeps the rules').waitFor()
    expect((await sandbox.requests()).map(({ status, reason }) => [status, reason]).at(-1)).toEqual([
      429,
      'quota-minute',
    ])
    expect((await sandbox.conduct()).requests).toBe(3)
    // Two outlines, as wide as they are apart.
    expect(await lane(page, 'you').locator('path.limited').getAttribute('d')).toMatch(/v16h5v-16h-5/)
    await page.locator('.detail').getByRole('button', { name: 'Code', exact: true }).click()
    await page.locator('.detail pre').getByText('Bearer sandbox').waitFor()
    expect(await page.locator('.detail pre').textContent()).not.toMatch(/x-sandbox-client|~/)
  })

  it('are not blamed for a wait that another client with their key was told', async () => {
    const { sandbox, page, ask } = await open({ sandbox: { ...FROZEN, limits: '2/min' } })
    expect(await curl(sandbox, '/pets?limit=1', 3, ...KEY)).toBe('200 200 429')
    await ask('/pets?limit=2', 'sandbox', as('poller/1'))
    await lane(page, 'poller').getByText('shares sandbox with curl, which was told to wait').waitFor()
    await lane(page, 'poller').getByText('Keeps the rules').waitFor()
    await row(page, 'limit=2').getByText('while sandbox had to wait').waitFor()
  })

  it('keep a verdict although an older read of conduct comes later', async () => {
    const { page, ask } = await open({ sandbox: FROZEN })
    await page.getByRole('tab', { name: 'Keys' }).waitFor()
    const held: (() => Promise<void>)[] = []
    await page.route('**/__sandbox/conduct', async (route) => {
      const response = await route.fetch()
      if (held.length > 0) return route.fulfill({ response })
      held.push(() => route.fulfill({ response }))
    })
    await page.getByRole('tab', { name: 'Data' }).click()
    await expect.poll(() => held.length).toBe(1)
    await ask('/pets?limit=none', 'sandbox', as('shop/1'))
    await lane(page, 'shop').getByText('sends invalid requests').waitFor()
    const late = page.waitForResponse('**/__sandbox/conduct')
    await held[0]?.()
    await (await late).finished()
    await page.evaluate('new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))')
    expect(await lane(page, 'shop').getByText('sends invalid requests').count()).toBe(1)
  })

  it('are in a wait as conduct judges it: not with requests that were sent before its end was known', async () => {
    const { sandbox, page, ask } = await open({
      sandbox: { limits: '2/min', latency: '300ms', banAfter: 'never', senders: 1 },
    })
    await Promise.all(Array.from({ length: 8 }, () => ask('/pets', 'sandbox', as('burst/1'))))
    for (let n = 0; n < 3; n++) await (await ask('/pets', 'sandbox', as('burst/1'))).text()
    const judged = async () => {
      const { violations, warnings } = await sandbox.conduct()
      return [...violations, ...warnings].flatMap(({ exchanges }) => exchanges).length
    }
    await expect.poll(judged).toBe(3)
    await page.locator('.exchange', { hasText: 'in its wait' }).getByText('×3').waitFor()
    await row(page, 'in its wait').locator('.path').click()
    await page.getByRole('list', { name: 'What led to it' }).getByText('3 requests inside that wait').waitFor()
  })

  it('have a chain to its real end: a ban is a step of it, and the main button is the one that helps', async () => {
    const { page, sandbox, ask } = await open({ sandbox: { ...FROZEN, limits: '1/min', banAfter: 3 } })
    for (let n = 0; n < 9; n++) await (await ask('/pets', 'sandbox', as('worker/1'))).text()
    await lane(page, 'worker').getByText('until 12:05:00').waitFor()
    await lane(page, 'worker').getByText('banned · 5:00 left').waitFor()
    await row(page, 'in its wait').waitFor()
    await page.locator('.exchange', { hasText: 'in its wait' }).last().locator('.path').click()
    const chain = page.getByRole('list', { name: 'What led to it' })
    await chain.getByText('banned for 5 min: 3 early requests').waitFor()
    await chain.getByText('2 requests inside that wait').waitFor()
    await chain.getByText(/^\d requests? inside the ban$/).waitFor()
    await chain.locator('del', { hasText: '12:01:00' }).waitFor()
    await chain.getByText('12:05:00 UTC: the first moment to ask again · in 5:00').waitFor()
    const primary = page.locator('.steps .primary')
    expect(await primary.allTextContents()).toEqual(['Lift the ban'])
    await primary.click()
    await chain.getByText('12:01:00 UTC: the first moment to ask again').waitFor()
    expect(await chain.locator('del').count()).toBe(0)
    expect((await sandbox.state()).keys.find(({ key }) => key === 'sandbox')?.ban).toBeNull()
  })

  it('have verdicts that open the finding at the first request of this client', async () => {
    const { page, ask } = await open({ sandbox: FROZEN })
    await ask('/pets?limit=0', 'sandbox', as('other/1'))
    for (const limit of [3, 0, 0]) await ask(`/pets?limit=${limit}`, 'sandbox', as('worker/1'))
    // The verdict may come before the last exchange.
    await page.getByText('4 exchanges', { exact: true }).waitFor()
    await lane(page, 'worker')
      .getByRole('button', { name: /^Sends invalid requests, 2 ×/ })
      .click()
    await page.locator('.detail').getByText('invalid-request').waitFor()
    await expect.poll(() => new URL(page.url()).hash).toBe('#filter=id%3A3%2C4&exchange=3')
  })

  it('share rows per client, with the count in a column and without bodies that differ', async () => {
    const { page, ask } = await open({ sandbox: { ...FROZEN, plan: 'enterprise' } })
    const post = (name: string) =>
      ask('/pets', 'sandbox', {
        method: 'POST',
        body: JSON.stringify({ name, categoryId: 1 }),
        headers: { 'content-type': 'application/json', 'user-agent': 'importer/1' },
      })
    for (const name of ['Rex', 'Rex', 'Fido']) {
      await post(name)
      await ask('/pets?limit=1', 'sandbox', as('poller/1'))
    }
    const counts = page.locator('.exchange .count')
    await expect.poll(() => counts.allTextContents()).toEqual(['×3', '', '×2'])
    const [cell, path] = [
      await counts.first().boundingBox(),
      await page.locator('.exchange .path').first().boundingBox(),
    ]
    expect((cell?.x ?? 0) + (cell?.width ?? 0)).toBeLessThanOrEqual(path?.x ?? 0)
  })

  it.each([1920, 1280, 768])('stay in their place while the log fills, %i pixels wide', async (width) => {
    const { page, ask } = await open({ sandbox: { ...FROZEN, plan: 'enterprise', logLimit: 20 } })
    await page.setViewportSize({ width, height: 900 })
    const place = async () => (await page.locator('.lanes').boundingBox())?.y
    await ask('/pets', 'sandbox', as('worker/1'))
    await lane(page, 'worker').waitFor()
    const first = await place()
    for (let n = 0; n < 30; n++) await ask('/pets?limit=0', 'sandbox', as(`client-${n}/1`))
    await page.reload()
    await page.getByRole('searchbox', { name: 'Filter clients' }).waitFor()
    await page.getByText('20 clients break the rules').waitFor()
    expect(await place()).toBe(first)
  })

  it('have one scope, also of a log that has lost its oldest requests', async () => {
    const { page, ask } = await open({
      sandbox: { ...FROZEN, plan: 'enterprise', logLimit: 20, fault: ['getPet:503'] },
    })
    for (let n = 0; n < 5; n++) await ask('/pets', 'sandbox', as('worker/1'))
    for (let n = 0; n < 10; n++) await ask('/pets/1', 'sandbox', as('other/1'))
    for (let n = 0; n < 15; n++) await ask('/pets', 'sandbox', as('worker/1'))
    await page.reload()
    await page.getByText('the last 20 of 30 requests; verdicts count all').waitFor()
    await lane(page, 'worker').getByText('15 of the last 20').waitFor()
    await page.getByText('getPet:503 · hit 5+').waitFor()
    await page.getByText('20 exchanges · older ones are gone (--log-limit)').waitFor()
    expect(await page.getByRole('button', { name: 'load older' }).count()).toBe(0)
  })

  it('have the whole log, also while requests come faster than the page reads how many there are', async () => {
    const { page, ask } = await open({ sandbox: { ...FROZEN, plan: 'enterprise', logLimit: 1000 } })
    for (let n = 0; n < 20; n++) await Promise.all(Array.from({ length: 50 }, () => ask('/pets')))
    await page.getByText('1,000 exchanges', { exact: true }).waitFor()
    await page.getByText('1,000 requests', { exact: false }).first().waitFor()
    let isAsked = () => {}
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    // Not answered until the page is closed.
    await page.route('**/__sandbox/state*', isAsked)
    await ask('/pets?limit=2')
    await asked
    for (let n = 0; n < 20; n++) await ask('/pets?limit=3')
    await page.locator('.exchange', { hasText: 'limit=3' }).getByText('×20').waitFor()
    expect(await page.getByRole('button', { name: 'load older' }).count()).toBe(0)
  })

  it('show nothing before they are known', async () => {
    const { page, ask, sandbox } = await open({ sandbox: FROZEN })
    await ask('/pets')
    await page.route('**/__sandbox/requests?*', async (route) => {
      await page.getByText('Loading the log …').waitFor()
      expect(await page.getByText('No requests yet.').count()).toBe(0)
      expect(await page.getByText(/^\d+ exchanges/).count()).toBe(0)
      await route.continue()
    })
    await page.goto('about:blank')
    await page.goto(`${sandbox.controlUrl}/`)
    await row(page, '/v1/pets').waitFor()
  })
})

describe.skipIf(!HAS_CHROMIUM)('advice on the dashboard', () => {
  const browser = useBrowser()

  it('restarts the sandbox with the flags that it had, and says which records a stop keeps, and in which file', async () => {
    const folder = temporaryFolder()
    const serve = await spawnServe(folder, '--limits', '2/min', '--no-rate-limit', '--api-key', 's3cret=mine')
    const context = await browser.newContext(serve.baseUrl, { allowed: FAILED })
    const page = await context.newPage()
    await page.goto(`${serve.controlUrl}/#tab=data`)
    await page.getByText(join(folder, '.petstore-sandbox/store.json')).waitFor()
    await page.getByText('These records are in a file, and stay when the sandbox stops.').waitFor()
    expect(await page.getByRole('link', { name: 'Open in VS Code' }).getAttribute('href')).toMatch(
      /^vscode:.*store\.json$/,
    )
    const inMemory = page.getByText('These records are in memory, and are gone when the sandbox stops.')
    await fetch(`${serve.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox~shop' } })
    await page.goto(`${serve.controlUrl}/?space#space=shop&tab=data`)
    await inMemory.waitFor()
    await page.goto(`${serve.controlUrl}/?default#tab=data`)
    await page.getByText(join(folder, '.petstore-sandbox/store.json')).waitFor()
    expect(await inMemory.count()).toBe(0)
    await serve.end('SIGTERM')
    const command = await page.getByRole('alert').locator('code').textContent()
    expect(command).toMatch(/^petstore-sandbox serve .*--limits 2\/min --no-rate-limit --api-key <api-key>$/)
    expect(command).toContain(` --port ${new URL(serve.baseUrl).port} `)
  })

  it('is for what is on now', async () => {
    const { sandbox, page, ask } = await browser.open({ sandbox: FROZEN })
    await sandbox.storm.start({ for: '30s' })
    await ask('/pets')
    await ask('/pets/1', 'sandbox-pro')
    await row(page, 'storm').locator('.path').first().click()
    const detail = page.locator('.detail')
    await detail.getByRole('button', { name: 'Stop the storm' }).waitFor()
    await sandbox.clock.advance('1m')
    await detail.getByText('This is over. Retry.').waitFor()
    expect(await detail.getByRole('button', { name: 'Stop the storm' }).count()).toBe(0)
    await sandbox.clock.set({ now: '2030-12-05T00:00:00Z' })
    await ask('/pets/1', 'sandbox-pro')
    const { warnings } = await sandbox.conduct()
    expect(warnings.map(({ message }) => message)).toContain('getPet is deprecated; its removal date is 2030-12-05.')
  })

  it('has one text for an instant, a duration and a number', async () => {
    const { page, ask } = await browser.open({ sandbox: { limits: '1/min', latency: '33ms' } })
    for (let n = 0; n < 2; n++) await ask('/pets')
    await row(page, '429').locator('.path').click()
    const detail = page.locator('.detail')
    await detail.getByText('The quota of the key sandbox on the plan free, 1 request a minute, is used up.').waitFor()
    const text = String(await page.locator('main').textContent())
    const [, reset] = /The window resets at (\d\d:\d\d:\d\d)/.exec(text) ?? []
    expect(reset).toBeDefined()
    for (const place of [/ask again at (\S+)/, /(\S+) UTC: the first moment/, /resets (\d\d:\d\d:\d\d)/])
      expect(place.exec(text)?.[1]?.slice(-8)).toBe(reset)
    expect(text).not.toMatch(/\b1 requests|\.0 m?s\b/)
  })

  it('has a test that a client which waits passes within its time limit', async () => {
    const { page, ask } = await browser.open({ sandbox: { ...FROZEN, limits: '1/min' } })
    for (let n = 0; n < 2; n++) await ask('/pets')
    await row(page, '429').locator('.path').click()
    const detail = page.locator('.detail')
    await detail.getByRole('button', { name: 'Code', exact: true }).click()
    await detail.getByRole('button', { name: 'as a failing Vitest test' }).click()
    await detail.getByText('await sandbox.faults.add("listPets:429*1,retry-after=1s")').waitFor()
  })
})
