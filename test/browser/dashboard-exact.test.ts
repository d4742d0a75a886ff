import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { HAS_REDIS, RedisServer } from '../support/redis-server.js'
import { temporaryFile } from '../support/temporary-files.js'
import { FAILED, row, useBrowser } from './browser.js'

const FROZEN = { seed: 1, now: '2026-03-01T12:00:00Z', freeze: true }

/** Tags in an envelope, with fields whose types are not one plain type. */
const TAGS = `openapi: 3.1.0
info: { title: Tags, version: "1" }
components:
  schemas:
    NewTag:
      type: object
      required: [name]
      properties:
        name: { type: string }
        note: { anyOf: [{ type: string }, { type: 'null' }] }
        code: { type: [string, 'null'] }
        level: { enum: [1, 2] }
    Tag: { allOf: [{ $ref: '#/components/schemas/NewTag' }, { type: object, required: [id], properties: { id: { type: integer } } }] }
    Sent: { type: object, required: [tag], properties: { tag: { $ref: '#/components/schemas/NewTag' } } }
    Shown: { type: object, required: [tag], properties: { tag: { $ref: '#/components/schemas/Tag' } } }
paths:
  /tags:
    get:
      operationId: listTags
      responses:
        200:
          description: OK
          content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Tag' } } } }
    post:
      operationId: addTag
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Sent' } } } }
      responses:
        201: { description: OK, content: { application/json: { schema: { $ref: '#/components/schemas/Shown' } } } }
  /tags/{id}:
    get:
      operationId: getTag
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses:
        200: { description: OK, content: { application/json: { schema: { $ref: '#/components/schemas/Shown' } } } }
`

describe.skipIf(!HAS_CHROMIUM)('the dashboard', () => {
  const browser = useBrowser()

  async function open(given: Parameters<typeof browser.open>[0] = {}) {
    const opened = await browser.open({ ...given, sandbox: { ...FROZEN, ...given.sandbox } })
    await opened.page.getByText('live', { exact: true }).waitFor()
    return opened
  }

  /** Holds requests of the page until the returned function is called. */
  async function hold(page: Page, address: string): Promise<() => void> {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(address, async (route) => {
      await held
      await route.continue()
    })
    return release
  }

  it('undoes the removal of a space that is not shown', async () => {
    const { sandbox, page } = await open()
    await sandbox.space('old').reset()
    await page.getByRole('tab', { name: 'Data' }).click()
    await page.getByRole('button', { name: 'Remove the space old' }).click()
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByRole('button', { name: 'Remove the space old' }).waitFor()
  })

  it('refuses a word for a number, and the setting stays', async () => {
    const { sandbox, page } = await open({ sandbox: { senders: 4 }, allowed: FAILED })
    const field = page.getByLabel('Clients that share a key')
    await field.fill('four')
    await page.keyboard.press('Enter')
    await page.locator('#bans').getByRole('alert').getByText('senders').waitFor()
    expect((await sandbox.settings.show()).senders).toBe(4)
    await field.fill('3')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await sandbox.settings.show()).senders).toBe(3)
  })

  it('removes and restores only the chosen fault rule, whatever others change meanwhile', async () => {
    const first = { operation: 'createPet', status: 503, headers: { 'X-Name': 'first' } }
    const { sandbox, page, ask } = await open({ sandbox: { fault: [first, 'listPets:503*5', '*:404*1'] } })
    await page.getByRole('button', { name: 'Switch off createPet:503' }).waitFor()
    const release = await hold(page, '**/__sandbox/state*')
    for (const path of ['/pets', '/pets/1']) await ask(path)
    await sandbox.faults.add('getPet:404')
    await page.getByRole('button', { name: 'Switch off createPet:503' }).click()
    const rules = async () =>
      (await sandbox.faults.list()).map(({ operation, left, headers }) => [operation, left, headers])
    const others = [
      ['listPets', 4, undefined],
      ['*', 0, undefined],
      ['getPet', null, undefined],
    ]
    await expect.poll(rules).toEqual(others)
    release()
    await page.getByRole('button', { name: 'Clear the rules that are used up' }).click()
    await expect.poll(rules).toEqual(others.toSpliced(1, 1))
    await page.getByRole('button', { name: 'Restore createPet:503' }).click()
    await expect.poll(rules).toEqual([['createPet', null, first.headers], ...others.toSpliced(1, 1)])
  })

  it('lists no removal that the setting of the sunset rules out', async () => {
    const { sandbox, page } = await open()
    const target = page.getByRole('button', { name: 'To the sunset of getPet' })
    await page.keyboard.press('t')
    await target.waitFor()
    for (const sunset of ['after', 'brownout', 'before'] as const) {
      await sandbox.settings.change({ sunset })
      await target.waitFor({ state: sunset === 'brownout' ? 'visible' : 'detached' })
    }
  })

  it('shows the new log of a space that was removed and opened again at once, without an alert', async () => {
    const { sandbox, page, ask } = await open()
    for (const limit of [1, 2, 3]) await ask(`/pets?limit=${limit}`, 'sandbox~shop')
    await page.goto(`${sandbox.controlUrl}/#space=shop&exchange=3`)
    await page.locator('.detail').getByText('limit=3').waitFor()
    await page.keyboard.press('e')
    await page.getByRole('dialog', { name: 'Edit and resend' }).waitFor()
    await page.evaluate(`{
      window.alerts = 0
      const look = () => (window.alerts += document.querySelectorAll('[role=alert]').length)
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true })
    }`)
    const release = await hold(page, '**/__sandbox/spaces')
    await sandbox.spaces.remove('shop')
    await ask('/pets?limit=7', 'sandbox~shop')
    release()
    await row(page, 'limit=7').waitFor()
    await page.locator('.detail, dialog').first().waitFor({ state: 'detached' })
    expect(await page.evaluate('window.alerts')).toBe(0)
  })

  it('shows the requests after a reset from outside, also if it had more than a thousand', async () => {
    const { sandbox, page, ask } = await open({ sandbox: { rateLimit: false } })
    for (let n = 0; n < 1100; n++) await (await ask('/pets?limit=1')).text()
    await page.getByText('1000 exchanges').or(page.getByText('1,000 exchanges')).first().waitFor()
    await sandbox.reset()
    for (let n = 0; n < 3; n++) await ask('/pets?limit=2')
    await page.getByText('3 exchanges', { exact: true }).waitFor()
    await row(page, 'limit=2').waitFor()
  })

  it('adds and changes records with optional texts, choices of numbers, and an envelope', async () => {
    const { sandbox, page } = await open({ sandbox: { spec: temporaryFile('tags.yaml', TAGS) }, path: '/#tab=data' })
    const form = page.getByRole('form', { name: 'Add to tags' })
    for (const [name, text] of [
      ['name', '7'],
      ['note', 'spare'],
      ['code', '007'],
    ] as const)
      await form.getByLabel(name).fill(text)
    await form.getByLabel('level').selectOption('2')
    await form.getByRole('button', { name: 'Add' }).click()
    const records = async () => sandbox.records.list('tags')
    const added = (await records()).length
    await expect
      .poll(async () => (await records())[0])
      .toMatchObject({ name: '7', note: 'spare', code: '007', level: 2 })
    const id = (await records())[0]?.id
    await page.getByRole('textbox', { name: `note of tags ${id}` }).fill('sold out')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await records())[0]?.note).toBe('sold out')
    await page.getByRole('combobox', { name: `level of tags ${id}` }).selectOption('none')
    await expect.poll(async () => 'level' in ((await records())[0] ?? {})).toBe(false)
    expect((await records()).length).toBe(added)
  })

  it('resends a body as it was, unless it is edited, and none of which the log has only a part', async () => {
    const { sandbox, page, ask } = await open({ allowed: FAILED })
    const headers = { 'content-type': 'application/json' }
    const body = '{"name":"Rex",\r\n"categoryId":1}'
    await ask('/pets', 'sandbox', { method: 'POST', body, headers })
    const dialog = page.getByRole('dialog', { name: 'Edit and resend' })
    await row(page, '/v1/pets').locator('.path').click()
    await page.keyboard.press('e')
    await dialog.getByLabel('Path and query').fill('/v1/pets?again')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await expect.poll(async () => (await sandbox.requests()).at(-1)).toMatchObject({ id: 2, request: { body } })

    await ask('/pets?long', 'sandbox', { method: 'POST', body: `{"name":"${'x'.repeat(70_000)}"}`, headers })
    await page.goto(`${sandbox.controlUrl}/?anew#exchange=3`)
    await page.locator('.detail .target').getByText('?long').waitFor()
    await page.locator('.detail').getByRole('button', { name: 'Code', exact: true }).click()
    await page.locator('.detail pre').getByText('# The log does not have this body as it was sent.').waitFor()
    await page.keyboard.press('e')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await dialog.getByRole('alert').getByText('only has the beginning of the body').waitFor()
    await dialog.getByLabel('Body').fill('{"name":"Max"}')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await expect.poll(async () => (await sandbox.requests()).at(-1)?.request.body).toBe('{"name":"Max"}')
  })

  it('finds a request that is under way by the time that it has taken', async () => {
    const { page, ask } = await open({ sandbox: { fault: 'listPets:hang' } })
    const leaving = new AbortController()
    const asked = ask('/pets', 'sandbox', { signal: leaving.signal }).catch(() => {})
    await row(page, '/v1/pets').waitFor()
    await page.locator('#filter').fill('>1ms')
    await page.getByText('1 of 1 exchange').first().waitFor()
    leaving.abort()
    await asked
  })

  it.skipIf(!HAS_REDIS)(
    'names Redis as the place of records, and does not take another replica for a restart',
    async () => {
      const redis = await RedisServer.start()
      onTestFinished(() => redis.end())
      const replica = async () => {
        const sandbox = await startSandbox({ redis: redis.url, group: 'pages', seed: 1 })
        onTestFinished(() => sandbox.close())
        return sandbox
      }
      const [a, b] = [await replica(), await replica()]
      let { port } = new URL(a.baseUrl)
      const sockets = new Set<Socket>()
      const balancer = createServer((client) => {
        const server = connect(Number(port), '127.0.0.1')
        for (const [one, other] of [
          [client, server],
          [server, client],
        ] as const) {
          sockets.add(one)
          one.pipe(other)
          one.on('error', () => other.destroy()).on('close', () => other.destroy())
        }
      }).listen(0, '127.0.0.1')
      await once(balancer, 'listening')
      onTestFinished(() => void balancer.close())
      const address = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`
      const page = await (await browser.newContext(address, { allowed: FAILED })).newPage()
      await page.goto(`${address}/__sandbox/#tab=data`)
      await page.getByText('These records are in Redis, for all replicas, and stay when the sandbox stops.').waitFor()
      const ask = (limit: number) =>
        fetch(`${b.baseUrl}/pets?limit=${limit}`, { headers: { authorization: 'Bearer sandbox' } })
      await ask(1)
      await row(page, 'limit=1').waitFor()
      port = new URL(b.baseUrl).port
      for (const socket of sockets) socket.destroy()
      await ask(2)
      await row(page, 'limit=2').waitFor()
      await row(page, 'limit=1').waitFor()
      expect(await page.getByText('The sandbox restarted').count()).toBe(0)
    },
  )
})
