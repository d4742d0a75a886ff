import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type SandboxOptions, startSandbox } from '../../src/index.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { temporaryFile } from '../support/temporary-files.js'
import { axeViolations, type ContextOptions, checkLooks, FAILED, type Opened, row, useBrowser } from './browser.js'

const AT_NOON: SandboxOptions = { seed: 1, now: '2026-03-01T12:00:00Z', freeze: true }

// Opening a page is slow on a busy machine.
describe.skipIf(!HAS_CHROMIUM)('the dashboard', () => {
  const browser = useBrowser()

  function open(sandbox: SandboxOptions = {}, options: ContextOptions = {}, hash = ''): Promise<Opened> {
    return browser.open({ sandbox: { ...AT_NOON, ...sandbox }, path: `/${hash}`, ...options })
  }

  async function openLive(...given: Parameters<typeof open>): Promise<Opened> {
    const opened = await open(...given)
    await opened.page.getByText('live', { exact: true }).waitFor()
    return opened
  }

  it('stays live over more visits than a browser opens connections, and after coming back from the cache', async () => {
    const { sandbox, page } = await openLive()
    const live = page.getByText('live', { exact: true })
    for (let visit = 1; visit <= 8; visit++) {
      await page.goto(`${sandbox.controlUrl}/?visit=${visit}`)
      await page.evaluate("addEventListener('pageshow', ({ persisted }) => { window.isFromCache = persisted })")
      await live.waitFor()
    }
    await page.goBack({ waitUntil: 'commit' })
    await expect.poll(() => page.evaluate('window.isFromCache')).toBe(true)
    const response = fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })
    expect((await response).status).toBe(200)
    await page.locator('.exchange').waitFor()
  })

  it('shows a request when it is made, and both messages when it is opened', async () => {
    const { page, ask } = await openLive()
    await ask('/pets?limit=3&status=sold')
    await row(page, '/v1/pets?limit=3&status=sold').locator('.path').click()
    const detail = page.locator('.detail')
    expect(await detail.locator('.target').textContent()).toBe('200 GET /v1/pets?limit=3&status=sold')
    await detail.getByText(/^59 of 60 were left · resets at 12:01:00 UTC$/).waitFor()
    for (const [part, said] of [
      ['Received', '"sold"'],
      ['Sent', 'Bearer sandbox'],
      ['Code', 'Authorization: Bearer sandbox'],
    ] as const) {
      await detail.getByRole('button', { name: part, exact: true }).click()
      await detail.locator('details.headers > summary').evaluateAll((all) => {
        for (const one of all) one.parentElement?.setAttribute('open', '')
      })
      await detail.getByText(said).first().waitFor()
    }
    await detail.getByRole('button', { name: 'as a Vitest test' }).waitFor()
    expect(await page.locator('.head').textContent()).toContain('Duration')
    expect(new URL(page.url()).hash).toBe('#exchange=1')
  })

  it('starts a storm; the next response is 429, and its lane shows it', async () => {
    const { page, ask } = await openLive()
    await startStorm(page)
    await page.getByText('storm 100 % · 0:30').waitFor()
    expect((await ask('/pets')).status).toBe(429)
    await page.getByRole('img', { name: '1 429' }).waitFor()
    await row(page, 'storm').locator('.path').click()
    await page.locator('.detail').getByText('A storm refused the request').waitFor()
    await page.locator('.detail').getByRole('button', { name: 'Stop the storm' }).click()
    await page.locator('.chip', { hasText: 'storm 100 %' }).waitFor({ state: 'detached' })
    expect((await ask('/pets')).status).toBe(200)
  })

  it('shows the name of a pet as plain text', async () => {
    const { page, ask } = await openLive()
    const name = '<img src=x onerror=document.title="hacked">'
    const body = JSON.stringify({ name, categoryId: 1 })
    await ask('/pets', 'sandbox', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    await showTab(page, 'Data')
    expect(
      await page
        .getByRole('textbox', { name: /^name of pets/ })
        .first()
        .inputValue(),
    ).toBe(name)
    await row(page, 'POST').locator('.path').click()
    await page.locator('.detail pre').getByText('onerror').first().waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.title()).toBe('petstore-sandbox')
  })

  it('applies a scenario, saves and restores a snapshot, and removes a key', async () => {
    const { sandbox, page, ask } = await openLive()
    await showTab(page, 'Data')
    await page.getByLabel('Name', { exact: true }).last().fill('calm')
    await page.getByRole('button', { name: 'Save snapshot' }).click()
    await page.getByRole('button', { name: 'Restore calm' }).waitFor()
    await showTab(page, 'Switches')
    await page.getByRole('button', { name: 'Apply banned' }).click()
    await page.getByText('The scenario banned is set. Undo').waitFor()
    await showTab(page, 'Keys')
    await keyCard(page, 'sandbox').getByText('Banned, 5:00 left').waitFor()
    expect((await ask('/pets')).headers.get('X-Sandbox-Reason')).toBe('ban')
    await showTab(page, 'Data')
    await page.getByRole('button', { name: 'Restore calm' }).click()
    await page.getByText('Restored calm. Undo').waitFor()
    await showTab(page, 'Keys')
    await keyCard(page, 'sandbox').getByRole('button', { name: 'Ban sandbox' }).waitFor()
    expect(await sandbox.snapshots.list()).toEqual(['calm'])
    await page.getByRole('button', { name: 'Remove sandbox-free' }).click()
    await page.getByText('sandbox-free is removed.').last().waitFor()
    await keyCard(page, 'sandbox-free').waitFor({ state: 'detached' })
    expect(await page.locator('#keys .aside').textContent()).toBe(String(await page.locator('.keyrow').count()))
    expect((await ask('/pets', 'sandbox-free')).status).toBe(401)
  })

  it('changes settings, and shows an error beside the setting that was refused', async () => {
    const { sandbox, page } = await openLive({}, { allowed: FAILED })
    await page.getByLabel('Latency', { exact: true }).fill('5ms..9ms')
    await page.keyboard.press('Enter')
    await page.locator('#responses .aside').getByText('5ms..9ms').waitFor()
    await page.getByRole('combobox', { name: 'Removal (sunset)' }).selectOption('after')
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('getPet')
    await page.getByRole('button', { name: 'Arm', exact: true }).click()
    await page.getByText('getPet:503*1 · 1 left', { exact: true }).waitFor()
    await page.getByRole('checkbox', { name: 'after the write' }).click()
    await page.getByRole('textbox', { name: 'Retry-After' }).fill('2')
    await page.getByRole('button', { name: 'Arm', exact: true }).click()
    await page.getByText('getPet:503*1,retry-after=2s,after · 1 left', { exact: true }).waitFor()
    const { settings, faults } = await sandbox.state()
    expect([settings.latency, settings.sunset, faults.length]).toEqual(['5ms..9ms', 'after', 2])

    await page.getByLabel('Duration of a ban').fill('soon')
    await page.keyboard.press('Enter')
    expect(await page.locator('#bans').getByRole('alert').textContent()).toContain('banDuration')
  })

  it('names the keys that limits are of: each one, if the contract has no plans', async () => {
    const spec = temporaryFile('parts.yaml', 'openapi: 3.1.0\ninfo: { title: Parts, version: "1" }\npaths: {}\n')
    const { page } = await openLive({ spec, limits: '20/min' })
    await page.locator('.chip', { hasText: 'limits 20/min for each key' }).waitFor()
    await page.locator('#limits .aside').getByText('each key: 20/min').waitFor()
    await page.getByRole('textbox', { name: 'Limits of each key' }).waitFor()
  })

  it('filters by words that the address keeps, and suggests a known field for an unknown one', async () => {
    const { page, ask } = await openLive()
    const filter = page.getByRole('searchbox', { name: 'Filter' })
    await ask('/pets')
    await ask('/nothing')
    await page.getByText('2 exchanges').waitFor()
    await page.getByRole('button', { name: '4xx', exact: true }).click()
    await page.getByText('1 of 2 exchanges').waitFor()
    await page.getByRole('button', { name: 'Remove outcome:refused' }).click()
    await filter.fill('/pets')
    await page.getByText('1 of 2 exchanges').waitFor()
    await filter.press('Enter')
    await page.reload()
    await page.getByRole('button', { name: 'Remove /pets' }).waitFor()
    await page.getByText('1 of 2 exchanges').waitFor()
    await filter.press('Backspace')
    await filter.fill('sttus:404')
    await page.getByText('“sttus:404” is no field of the filter').waitFor()
    await page.getByRole('button', { name: 'Use status:404' }).click()
    await page.getByText('1 of 2 exchanges').waitFor()
    await filter.fill('nowhere')
    await page.getByRole('button', { name: 'Clear filter' }).click()
    await page.getByText('2 exchanges', { exact: true }).waitFor()
  })

  it('shows a notice instead of an unknown space in the address; shows another space, and leaves it when it is removed', async () => {
    const { sandbox, page, ask } = await open({}, { allowed: FAILED }, '#space=chekout')
    await page.getByText('Unknown space "chekout". Showing the default space.').waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    expect(await sandbox.spaces.list()).toEqual([])
    await ask('/pets?limit=7', 'sandbox~checkout')
    await page.getByRole('button', { name: '1 other busy' }).waitFor()
    await page.getByRole('combobox', { name: 'Space', exact: true }).selectOption('checkout')
    await row(page, '/v1/pets?limit=7').waitFor()
    expect(new URL(page.url()).hash).toBe('#space=checkout')
    await sandbox.spaces.remove('checkout')
    await page.getByText('The space "checkout" has been removed.').waitFor()
    expect(await sandbox.spaces.list()).toEqual([])
  })

  it('resets the space, and undoes that', async () => {
    const { sandbox, page, ask } = await openLive()
    await ask('/pets')
    await sandbox.storm.start()
    await row(page, '/v1/pets').waitFor()
    await row(page, '/v1/pets').locator('.path').click()
    await chooseFrom(page, 'Reset', /^Everything/)
    await page.getByText('No requests yet.').waitFor()
    await page
      .getByText(/^The space has been reset\. It had pets 60, orders \d+(?:, \w+ \d+)*, and 1 request\.$/)
      .first()
      .waitFor()
    expect(await page.getByRole('tab', { name: 'Exchange' }).count()).toBe(0)
    expect((await sandbox.state()).storm).toBeNull()
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await row(page, '/v1/pets').waitFor()
    await page.getByRole('region', { name: 'Active now' }).getByText('storm 100 %').waitFor()
    expect((await sandbox.state()).storm).not.toBeNull()
    await page.getByText('Undone.').waitFor({ state: 'attached' })
  })

  it('shows every time in the chosen zone, and where a scenario moves the clock', async () => {
    const { page, ask, sandbox } = await openLive({}, { timezoneId: 'Asia/Tokyo' })
    await sandbox.ban('sandbox')
    await ask('/pets')
    await row(page, 'banned').locator('.path').click()
    await page.locator('.detail').getByText('is banned until 12:05:00 UTC').waitFor()
    const clocks = `[...new Set(['.face', '.scroller', '.detail .why', '.facts']
      .flatMap((place) => document.querySelector(place).textContent.match(/[0-9]{2}(?=:[0-9]{2}:[0-9]{2})/g)))].sort()`
    expect(await page.evaluate(clocks)).toEqual(['12'])
    await page.getByRole('button', { name: 'Show local time' }).click()
    await expect.poll(() => page.evaluate(clocks)).toEqual(['21'])
    await page.getByRole('button', { name: 'Show UTC time' }).click()
    await showTab(page, 'Switches')
    await page.locator('#scenarios').waitFor()
    await page.getByRole('button', { name: 'Apply sunset' }).click()
    await page
      .locator('.notice')
      .getByText('The scenario sunset is set. The clock has moved forward to Wed, 4 Dec 2030, 23:59:00 UTC.')
      .waitFor()
  })

  it('shows that the sandbox does not respond, keeps the fields of its forms, reconnects, and says that it restarted', async () => {
    const { sandbox, page, ask } = await openLive({ freeze: false }, { allowed: FAILED, isOwn: true })
    await page.clock.install()
    await page.reload()
    await page.getByText('live', { exact: true }).waitFor()
    await ask('/pets?limit=8')
    await row(page, 'limit=8').locator('.path').click()
    const spoken = page.locator('p.hidden[role=status]')
    await page.getByRole('button', { name: 'Arm', exact: true }).click()
    await spoken.getByText('Armed').waitFor({ state: 'attached' })
    const { port } = new URL(sandbox.baseUrl)
    await sandbox.close()
    await page.getByText(/Last contact at [\d:]+, real time;/).waitFor()
    expect(await page.locator('.menu:not([inert])').count()).toBe(0)
    await page.getByRole('alert').getByText('The sandbox is not responding.').waitFor()
    await page.getByText('The program that started it has ended it.').waitFor()
    expect(await page.locator('.detail').count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Replay', exact: true }).isDisabled()).toBe(true)
    const lastKnown = await page.locator('.face').textContent()
    await page.clock.fastForward('01:00:00')
    expect(await page.locator('.face').textContent()).toBe(lastKnown)
    await page.getByRole('textbox', { name: 'Retry-After' }).evaluate((field) => {
      Object.assign(field, { value: '7' })
    })
    const again = await startSandbox({ ...AT_NOON, port: Number(port) })
    onTestFinished(() => again.close())
    await page.getByText('live', { exact: true }).waitFor()
    await page
      .getByText(
        /^The sandbox restarted at [\d:]+, real time\. Log, clock, quotas, bans and switches are as at a start\./,
      )
      .waitFor()
    expect(await spoken.textContent()).toBe('')
    await page.getByRole('button', { name: 'Arm', exact: true }).click()
    // Whoever does something next has seen the notice.
    await page.getByText('The sandbox restarted').waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'Active now' }).getByText('*:503*1,retry-after=7s').waitFor()
    expect(await page.getByRole('tab', { name: 'Exchange' }).count()).toBe(0)
    await fetch(`${again.baseUrl}/pets?limit=9`)
    await row(page, '/v1/pets?limit=9').waitFor()
  })

  it('asks for the control token, rejects a wrong one, and asks again after a reload', async () => {
    const { page, ask } = await open({ controlToken: 'open-sesame' }, { allowed: FAILED })
    const token = page.getByRole('dialog', { name: 'Control token' }).getByLabel('Control token')
    await token.fill('open-barley')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByText('The sandbox rejected this token.').waitFor()
    await token.fill('open-sesame')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByText('live', { exact: true }).waitFor()
    await ask('/pets?limit=2')
    await row(page, '/v1/pets?limit=2').waitFor()
    expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage, document.cookie])')).not.toContain('open')
    await page.reload()
    await token.fill('open-sesame')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await row(page, '/v1/pets?limit=2').waitFor()
  })

  it('works with the keyboard alone', async () => {
    const { sandbox, page, ask } = await openLive()
    for (const limit of [1, 2, 3]) await ask(`/pets?limit=${limit}`)
    await row(page, 'limit=3').waitFor()
    await tabTo(page, page.locator('[data-exchange="3"]'))
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.locator('.detail .target').getByText('/v1/pets?limit=1').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('[data-exchange="1"]:focus').waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('429 for')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'storm 100 % · 0:30' }).waitFor()
    expect((await sandbox.storm.show())?.rate).toBe(1)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('t')
    await tabTo(page, page.getByRole('button', { name: '+1 m: move the clock by 1 minute' }))
    await page.keyboard.press('Enter')
    await page.locator('.chip', { hasText: 'storm 100 %' }).waitFor({ state: 'detached' })
    await page.locator('#move-clock > summary:focus').waitFor()
    await page.keyboard.press('b')
    await page.keyboard.type('3')
    await page.keyboard.press('Tab')
    await page.keyboard.type('getP')
    await page.keyboard.press('Tab')
    await page.keyboard.type('500')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('.chip').getByText('getPet:500*3 · 3 left').waitFor()
  })

  it('has links for the keyboard to the clients and to the log, over what is before them', async () => {
    const { page, ask } = await openLive()
    await ask('/pets?limit=1')
    await row(page, 'limit=1').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('.lanes button:focus').first().waitFor()
    await page.reload()
    await row(page, 'limit=1').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('[data-exchange="1"]:focus').waitFor()
  })

  it('shows a thousand exchanges, and stays responsive while more come in; loads and finds older ones', async () => {
    const { sandbox, page, ask } = await openLive({ plan: 'enterprise', freeze: false, logLimit: 3000 })
    await ask('/pets?limit=7')
    for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 50 }, () => ask('/pets?limit=1')))
    await page.getByText('the last 1,000 of 1,001 requests').waitFor()
    await page.getByRole('button', { name: 'Group repeats' }).click()
    expect(await page.locator('.exchange').count()).toBeLessThan(60)
    const traffic = (async () => {
      for (let i = 0; i < 100; i++) await ask('/pets?limit=2')
    })()
    const filter = page.getByRole('searchbox', { name: 'Filter' })
    await filter.fill('limit=2')
    await traffic
    await page.getByText('100 of 1,000 exchanges').waitFor()
    await row(page, 'limit=2').focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await page.locator('.detail').getByText('1002', { exact: true }).waitFor()

    await page.goto(`${sandbox.controlUrl}/?again`)
    await filter.fill('limit=7')
    await row(page, 'limit=7').waitFor()
    await filter.fill('')
    await page.getByText('the last 1,000 of 1,101 requests').waitFor()
    await page.getByRole('button', { name: 'load older' }).click()
    await page.getByText('1,101 exchanges', { exact: true }).waitFor()
  })

  it('shows an exchange from its arrival to its actual end', async () => {
    const { sandbox, page, ask } = await openLive({ latency: '1h' })
    const leaving = new AbortController()
    const answer = ask('/pets?limit=5', 'sandbox', { signal: leaving.signal }).catch(() => 'left')
    const waiting = row(page, 'limit=5')
    await waiting.getByText('···').waitFor()
    await waiting.getByText('waiting: latency 1h').waitFor()
    await waiting.locator('.path').click()
    await page.locator('.detail').getByText('Waiting: latency 1h. No response yet.').waitFor()
    leaving.abort()
    expect(await answer).toBe('left')
    await waiting.getByText('left', { exact: true }).waitFor()
    await page
      .locator('.detail')
      .getByText(/The client left after .*, before the response/)
      .waitFor()
    await sandbox.settings.change({ latency: null })
    await sandbox.faults.add('listPets:hang*1')
    const giving = new AbortController()
    const hanging = ask('/pets?limit=6', 'sandbox', { signal: giving.signal }).catch(() => 'left')
    await showNewest(page)
    await row(page, 'limit=6').getByText('hang').waitFor()
    giving.abort()
    await hanging
    await row(page, 'limit=6').getByText('left', { exact: true }).waitFor()
  })

  it('shows a body that was cut off in red, with its rule, and what the client got', async () => {
    const { sandbox, page, ask } = await openLive()
    await sandbox.faults.add('listPets:truncated-body*1')
    await expect(ask('/pets').then((response) => response.text())).rejects.toThrow()
    const cut = row(page, 'fault listPets:truncated-body*1')
    await cut.locator('.status.cut', { hasText: '200 ✂' }).waitFor()
    await page.getByRole('img', { name: '1 cut off' }).waitFor()
    await cut.locator('.path').click()
    await page
      .locator('.why.cut')
      .getByText(/cut the response off\. The client got 200 and a part of its body after/)
      .waitFor()
    await sandbox.faults.add('listPets:slow-body*1')
    const slow = await ask('/pets?limit=1')
    await showNewest(page)
    await row(page, 'limit=1').locator('.path').click()
    const why = page.locator('.detail .why')
    await why.getByText('sends the body over 10 seconds. The client has the status already.').waitFor()
    await slow.body?.cancel()
    await why.getByText(/The client left after .*, during the body of its 200\./).waitFor()
    await row(page, 'limit=1').locator('.status.cut', { hasText: '200 ✂' }).waitFor()
  })

  it('opens exchanges beside the log, of which 20 rows stay visible; single keys move through them, except while typing', async () => {
    const { page, ask } = await openLive({ plan: 'pro' }, {}, '#exchange=99')
    await page.getByText('The log does not have exchange 99.').waitFor()
    for (let limit = 1; limit <= 40; limit++) await (await ask(`/pets?limit=${limit}`)).text()
    await row(page, 'limit=40').locator('.path').click()
    const heading = (limit: number) => page.locator('.detail .target').getByText(`limit=${limit}`).waitFor()
    await heading(40)
    const visible = `(() => {
      const { top, bottom } = document.querySelector('.scroller').getBoundingClientRect()
      return [...document.querySelectorAll('.exchange')].map((one) => one.getBoundingClientRect())
        .filter((one) => one.top >= top && one.bottom <= Math.min(bottom, innerHeight)).length
    })()`
    expect(await page.evaluate(visible)).toBeGreaterThanOrEqual(20)
    await page.keyboard.press('ArrowDown')
    await heading(39)
    for (let n = 0; n < 30; n++) await page.keyboard.press('j')
    await heading(9)
    const isInView = `(() => {
      const { top, bottom } = document.querySelector('.scroller').getBoundingClientRect()
      const row = document.querySelector('.exchange [aria-current="true"]')?.getBoundingClientRect()
      return row !== undefined && row.top >= top && row.bottom <= bottom
    })()`
    await expect.poll(() => page.evaluate(isInView)).toBe(true)
    await page.keyboard.press('k')
    await heading(10)
    await page.keyboard.press('r')
    await page.getByText('41 exchanges').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('jkr?')
    await page.getByText('0 of 41 exchanges').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('41 exchanges', { exact: true }).waitFor()
  })

  it('finds records by id and by text, and changes, adds and removes one', async () => {
    const { sandbox, page, ask } = await openLive()
    await showTab(page, 'Data')
    const search = page.getByRole('searchbox', { name: 'Search pets' })
    await search.fill('9007199254740993')
    const rows = page.locator('#records tbody tr')
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByRole('combobox', { name: 'status of pets 9007199254740993' }).selectOption('sold')
    await page.getByText('pets 9007199254740993 is changed.').first().waitFor({ state: 'attached' })
    expect(await (await ask('/pets?status=sold&limit=100')).text()).toContain('"id":9007199254740993,')
    await search.fill('pickle')
    await expect.poll(() => rows.locator('input').first().inputValue()).toBe('Pickle')
    await search.fill('')
    const form = page.getByRole('form', { name: 'Add to pets' })
    await form.getByLabel('name').fill('Rex')
    await form.getByLabel('categoryId').fill('9223372036854775807')
    await form.getByLabel('status').selectOption('sold')
    await form.getByRole('button', { name: 'Add' }).click()
    await page.getByRole('textbox', { name: 'name of pets 60' }).waitFor()
    expect((await sandbox.records.list('pets', { limit: 1 }))[0]).toMatchObject({
      name: 'Rex',
      categoryId: 9223372036854775807n,
      status: 'sold',
    })
    await page.getByRole('button', { name: 'Remove pets 60' }).click()
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByRole('textbox', { name: 'name of pets 60' }).waitFor()
    await page.getByRole('combobox', { name: 'Resource' }).selectOption('orders')
    await page.getByRole('region', { name: 'orders, newest first' }).getByRole('row').nth(1).waitFor()
  })

  it('shows what is active with its origin and hits, links to its control, switches it off and on again', async () => {
    const { sandbox, page, ask } = await openLive({ latency: '5ms', fault: ['getPet:503*1'], mock: ['listOrders'] })
    const bar = page.getByRole('region', { name: 'Active now' })
    const chip = (text: string) => bar.locator('.chip', { hasText: text })
    await expect.poll(() => chip('latency 5ms').locator('.origin').textContent()).toBe('--latency')
    expect(await chip('listOrders mocked').locator('.origin').textContent()).toBe('--mock')
    await ask('/pets/1')
    await bar.getByText('1 used up').waitFor()
    await sandbox.scenario({ storm: '0.3,for=30s', sunset: 'after' })
    await sandbox.ban('sandbox-free', { for: '289s' })
    await expect.poll(() => chip('storm 30 %').locator('.origin').textContent()).toBe('scenario custom')
    await expect.poll(() => chip('sandbox-free banned').locator('.origin').textContent()).toBe('you')
    await bar.getByText('sandbox-free banned').click()
    await page.getByRole('tab', { name: 'Keys', selected: true }).waitFor()
    await bar.getByRole('button', { name: /^sunset after/ }).click()
    await page.getByLabel('Removal (sunset)', { exact: true }).and(page.locator(':focus')).waitFor()
    await bar.getByRole('button', { name: 'Switch off latency 5ms' }).click()
    await chip('latency 5ms').locator('del').waitFor()
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await chip('latency 5ms').locator('del').waitFor({ state: 'detached' })
    await bar.getByRole('button', { name: 'Switch off latency 5ms' }).click()
    await bar.getByRole('button', { name: 'Restore latency 5ms' }).click()
    await bar.getByRole('button', { name: 'Switch off latency 5ms' }).waitFor()
    await chooseFrom(page, 'Reset', /^Switches and clock/)
    await chip('storm 30 %').waitFor({ state: 'detached' })
    expect(await sandbox.overrides()).toEqual([])
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await chip('storm 30 %').waitFor()
  })

  it('moves the clock by steps and to where responses change, each with Undo', async () => {
    const { sandbox, page, ask } = await openLive()
    const move = (name: string | RegExp) => chooseFrom(page, 'clock…', name)
    const clock = async () => (await sandbox.clock.show()).now
    await ask('/pets')
    await move(/^To the next quota reset/)
    await expect.poll(clock).toBe('2026-03-01T12:01:00.000Z')
    await move(/^To the sunset of getPet/)
    await expect.poll(clock).toBe('2030-12-05T00:00:00.000Z')
    // By then, Undo is that of this move.
    await page.locator('#clock time[datetime^="2030-12-05"]').waitFor()
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await expect.poll(clock).toBe('2026-03-01T12:01:00.000Z')
    await move('Resume')
    await expect.poll(async () => (await sandbox.clock.show()).frozen).toBe(false)
  })

  it('offers next steps for an exchange: a fix, replay, edit, code, an export', async () => {
    const { sandbox, page, ask } = await openLive({ limits: '1/min' })
    for (const limit of [1, 2]) await ask(`/pets?limit=${limit}`)
    await row(page, 'limit=2').locator('.path').click()
    const detail = page.locator('.detail')
    const target = (text: string) => detail.locator('.target').getByText(text).first().waitFor()
    await detail.getByText('0 of 1 were left · resets at 12:01:00 UTC · Retry-After 60').waitFor()
    await detail.getByText('12:01:00 UTC: the first moment to ask again').waitFor()
    await detail.getByRole('button', { name: 'Move the clock to its end' }).click()
    await detail.getByText('0 of 1 were left · was reset at 12:01:00 UTC').waitFor()
    await detail.getByRole('button', { name: 'Replay', exact: true }).click()
    await target('200')
    expect((await sandbox.requests()).at(-1)).toMatchObject({ id: 3, status: 200, query: 'limit=2', key: 'sandbox' })
    await page.locator('.event').getByText('Request 2 sent again, as 3.').waitFor()

    await page.keyboard.press('e')
    const form = page.getByRole('dialog', { name: 'Edit and resend' })
    await form.getByLabel('Path and query').fill('/v1/pets?limit=3')
    await form.getByLabel('Key').fill('sandbox-pro')
    await form.getByRole('button', { name: 'Send' }).click()
    await target('limit=3')
    expect((await sandbox.requests()).at(-1)).toMatchObject({
      id: 4,
      status: 200,
      query: 'limit=3',
      key: 'sandbox-pro',
    })

    await sandbox.faults.add('listPets:503*1')
    await detail.getByRole('button', { name: 'Replay', exact: true }).click()
    await target('503')
    await detail.getByText('The fault rule listPets:503*1 broke this response, status 503.').waitFor()
    await detail.getByText('The rule is used up or removed.').waitFor()
    await detail.getByRole('button', { name: 'Code' }).click()
    await detail.getByRole('button', { name: 'as a failing Vitest test' }).click()
    await detail.getByText('await sandbox.faults.add("listPets:503*1")').waitFor()
    await sandbox.faults.add('getPet:503')
    await page.locator('.exchange.event').getByText('Fault added: getPet:503.').waitFor()

    await page.getByRole('button', { name: 'Share…' }).click()
    await page.getByRole('dialog').getByText('- getPet:503').waitFor()
  })

  it('opens the exchange in its address; a finding links back to it', async () => {
    const { sandbox, page, ask } = await openLive()
    for (const path of ['/pets', '/pets?limit=0']) await ask(path)
    await page.goto('about:blank')
    await page.goto(`${sandbox.controlUrl}/#exchange=2`)
    const detail = page.locator('.detail')
    await detail.locator('.target').getByText('limit=0').waitFor()
    await detail.getByText('invalid-request').waitFor()
    await showTab(page, 'Conduct')
    await page.getByRole('button', { name: 'exchange 2' }).click()
    await detail.locator('.target').getByText('limit=0').waitFor()
    await page.getByRole('button', { name: 'Remove id:2' }).waitFor()
  })

  it('shows a lane for each client with its verdict; a click filters the list; repeats share a row', async () => {
    const { page, ask } = await openLive({ freeze: false, limits: '2/min' })
    const sent = async (agent: string, key = 'sandbox') => {
      await (await ask('/pets?limit=5', key, { headers: { 'user-agent': agent } })).text()
    }
    for (let n = 0; n < 6; n++) await sent('worker/1.0')
    await sent('Mozilla/5.0 Chrome/140.0', 'sandbox-pro')
    const lane = (name: string) => page.locator('.lane', { hasText: name })
    await lane('worker').getByText('Retries too early, 3 ×').waitFor()
    await lane('worker').getByText('told 60 s, waited').waitFor()
    await lane('Chrome').getByText('Keeps the rules').waitFor()
    await page.getByText('1 of 2 clients breaks the rules').waitFor()
    await lane('worker').click()
    await page.getByRole('button', { name: 'Remove client:sandbox/worker' }).waitFor()
    // Two 200, the 429, and those inside its wait.
    await expect.poll(() => page.locator('.exchange').count()).toBe(3)
    const last = page.locator('.exchange', { hasText: '×3' })
    await last.getByText('in its wait of').waitFor()
    await last.locator('.path').click()
    const detail = page.locator('.detail')
    await detail
      .getByRole('heading', { name: /^It came back .* after its 429 \(#\d+\), which asked to wait 60 s\.$/ })
      .waitFor()
    await detail.getByText('3 requests inside that wait').waitFor()
    await detail.getByRole('button', { name: '#3', exact: true }).click()
    await detail.locator('.target').getByText('429').waitFor()
    await page.getByRole('button', { name: 'Group repeats' }).click()
    await expect.poll(() => page.locator('.exchange').count()).toBe(6)
  })

  it('shows a long chain in few lines; a finding names its client', async () => {
    const { page, ask } = await openLive({ limits: '1/min', banAfter: 'never' })
    const headers = { 'user-agent': 'worker/1.0' }
    for (let limit = 1; limit <= 10; limit++) await ask(`/pets?limit=${limit}`, 'sandbox', { headers })
    await row(page, 'limit=10').locator('.path').click()
    const chain = page.getByRole('list', { name: 'What led to it' })
    await chain.getByText('8 requests inside that wait').waitFor()
    expect(await chain.getByRole('listitem').count()).toBe(3)
    await chain.getByRole('button', { name: '#3–10' }).click()
    await page.locator('.detail .target').getByText('limit=3').waitFor()
    await showTab(page, 'Conduct')
    await page.locator('#conduct h3', { hasText: 'worker sandbox' }).waitFor()
  })

  it('holds the list while the pointer is in it, and names the day of rows of another day', async () => {
    const { sandbox, page, ask } = await openLive()
    await ask('/pets?limit=1')
    await row(page, 'limit=1').hover()
    await sandbox.clock.advance('24h')
    await ask('/pets?limit=2')
    const newer = page.getByRole('button', { name: '1 newer' })
    await newer.waitFor()
    const [head, button] = [await page.locator('.head').boundingBox(), await newer.boundingBox()]
    expect(button?.y).toBeGreaterThanOrEqual((head?.y ?? 0) + (head?.height ?? 0))
    expect(await row(page, 'limit=2').count()).toBe(0)
    await newer.click()
    await row(page, 'limit=2').waitFor()
    await page.locator('.event').getByText('Sun, 1 Mar 2026').waitFor()
  })

  it('leads back to the newest exchange from a log that single keys have scrolled', async () => {
    const { page, ask } = await openLive()
    for (let limit = 1; limit < 50; limit++) await ask(`/pets?limit=${limit}`)
    await row(page, 'limit=49').waitFor()
    for (let n = 0; n < 45; n++) await page.keyboard.press('j')
    await page.getByRole('button', { name: 'newest ↑' }).click()
    await row(page, 'limit=49').waitFor()
    await page.getByRole('button', { name: 'newest ↑' }).waitFor({ state: 'detached' })
  })

  it('has no axe violations in dialogs, in the first run, and with forced colours', async () => {
    const { page, ask } = await openLive({}, { bypassCSP: true })
    expect(await axeViolations(page), 'first run').toEqual([])
    await ask('/pets?limit=0')
    await row(page, 'limit=0').locator('.path').click()
    expect(await axeViolations(page), 'exchange').toEqual([])
    for (const [name, open] of [
      ['Help', () => page.keyboard.press('?')],
      ['Edit and resend', () => page.keyboard.press('e')],
      ['Share', () => page.getByRole('button', { name: 'Share…' }).click()],
      ['Run a command', () => page.keyboard.press('Control+k')],
    ] as const) {
      await open()
      const dialog = page.getByRole('dialog', { name })
      await dialog.waitFor()
      expect(await axeViolations(page), name).toEqual([])
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
    }
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
    expect(await axeViolations(page), 'forced colours').toEqual([])
    // As with 200 % zoom.
    await page.setViewportSize({ width: 640, height: 450 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(640)
    expect(await axeViolations(page), '200 %').toEqual([])
  })

  it('shows a changed setting at once, and reverts it with the reason if it is refused', async () => {
    const { sandbox, page } = await openLive({}, { allowed: FAILED })
    // The response is held back until the page has been checked.
    let answer = (_how: 'continue' | 'refuse') => {}
    await page.route('**/__sandbox/settings', async (route) => {
      const how = await new Promise<'continue' | 'refuse'>((resolve) => {
        answer = resolve
      })
      if (how === 'continue') return route.continue()
      await route.fulfill({ status: 409, json: { code: 'conflict', message: 'Not while it rains.', status: 409 } })
    })
    const off = page.getByRole('checkbox', { name: 'Rate limit' })
    expect(await off.isChecked()).toBe(true)
    for (const how of ['refuse', 'continue'] as const) {
      const asked = page.waitForRequest('**/__sandbox/settings')
      await off.click()
      await asked
      await page.locator('#limits .field', { has: off }).getByRole('alert').waitFor({ state: 'detached' })
      expect(await off.isChecked()).toBe(false)
      answer(how)
      if (how === 'continue') continue
      await page.locator('#limits').getByText('Not while it rains.').waitFor()
      expect(await off.isChecked()).toBe(true)
    }
    await page.locator('#limits .aside').getByText('off').waitFor()
    expect((await sandbox.settings.show()).rateLimit).toBe(false)
  })

  it('opens an exchange by a click on any cell, and filters by its key and operation', async () => {
    const { page, ask } = await openLive()
    await ask('/pets?limit=1')
    await ask('/pets?limit=2', 'sandbox-pro')
    await ask('/pets/1', 'sandbox-pro')
    await row(page, 'limit=2').locator('.client').click()
    const detail = page.locator('.detail')
    await detail.locator('.target').getByText('limit=2').waitFor()
    await detail.getByRole('button', { name: 'Filter by sandbox-pro', exact: true }).click()
    await page.getByText('2 of 3 exchanges').waitFor()
    await detail.getByRole('button', { name: 'Filter by listPets' }).click()
    await page.getByText('1 of 3 exchanges').waitFor()
    await page.getByRole('button', { name: 'Remove op:listPets' }).waitFor()
  })

  it('has no axe violations, light and dark, wide and narrow', async () => {
    const { sandbox, page, ask } = await openLive({ plan: 'pro' }, { bypassCSP: true })
    await ask('/pets')
    await ask('/pets', 'sandbox-banned')
    await ask('/nothing')
    await ask('/pets', 'sandbox-pro', { headers: { prefer: 'code=503' } })
    await sandbox.ban('sandbox-business')
    await sandbox.faults.add('getPet:hang*2')
    await sandbox.snapshots.save('before')
    await sandbox.space('checkout').reset()
    await sandbox.storm.start({ for: '30s' })
    await ask('/pets', 'sandbox-free')
    await page.getByText('storm 100 %').first().waitFor()
    await row(page, 'storm').locator('.path').click()
    for (const tab of ['Exchange', 'Switches', 'Keys', 'Data', 'Conduct']) {
      await showTab(page, tab)
      await checkLooks(page, tab, [1920, 640])
    }
    await showTab(page, 'Log')
    await checkLooks(page, 'Log')
    // One row each, and the first exchange within 300 pixels.
    expect((await page.getByRole('banner').boundingBox())?.height).toBeLessThan(60)
    await page.setViewportSize({ width: 320, height: 640 })
    await expect.poll(async () => (await page.locator('.exchange').first().boundingBox())?.y).toBeLessThan(300)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  })
})

/** Opens a menu and clicks an entry. */
async function chooseFrom(page: Page, menu: string, entry: string | RegExp): Promise<void> {
  await page.locator('.menu > summary', { hasText: menu }).click()
  await page.locator('.menu[open]').getByRole('button', { name: entry }).click()
}

/** The list holds while it has the focus. */
function showNewest(page: Page) {
  return page.getByRole('button', { name: /newer/ }).click()
}

function startStorm(page: Page) {
  return chooseFrom(page, 'More', 'Everything 429 for 30 s')
}

function showTab(page: Page, name: string) {
  return page.getByRole('tab', { name }).click()
}

function keyCard(page: Page, key: string) {
  return page.locator(`[data-key="${key}"]`)
}

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, element: ReturnType<Page['locator']>): Promise<void> {
  const presses = 120
  for (let i = 0; i < presses; i++) {
    await page.keyboard.press('Tab')
    if (await element.evaluate((node) => node.matches(':focus'))) return
  }
  throw new Error(`${presses} presses of Tab did not lead there.`)
}
