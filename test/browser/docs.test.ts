import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { SandboxOptions } from '../../src/index.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { type ContextOptions, checkLooks, FAILED, useBrowser } from './browser.js'

const FULLER = fileURLToPath(new URL('../contract/specs/fuller.yaml', import.meta.url))

/** `useBrowser` fails a test whose page requests another origin, or logs a violation of its policy. */
describe.skipIf(!HAS_CHROMIUM)('the docs page, in a browser', () => {
  const browser = useBrowser()

  const openDocs = (sandbox: SandboxOptions = {}, address = '', options: ContextOptions = {}) =>
    browser.open({ sandbox, path: `/docs${address}`, ...options })

  async function openClient(page: Page, operation: string) {
    await page
      .locator(`[id$="/${operation}"]`)
      .getByRole('button', { name: /^Test Request/ })
      .click()
    const client = page.getByRole('dialog')
    return {
      client,
      /** @returns the status and the body of the response */
      async send() {
        const [response] = await Promise.all([
          page.waitForResponse((one) => !one.url().includes('/__sandbox/')),
          client.getByRole('button', { name: /^Send/ }).first().click(),
        ])
        return { status: response.status(), body: await response.text() }
      },
    }
  }

  it('shows keys, plans and marks of operations, and sends listPets with the key of this sandbox', async () => {
    const { sandbox, page } = await openDocs({}, '#tag/pets/listPets')
    const { client, send } = await openClient(page, 'listPets')
    const { status, body } = await send()
    expect(status).toBe(200)
    expect(JSON.parse(body)).toHaveLength(2)
    await client.getByText('Žofka').waitFor()
    expect(await sandbox.requests()).toMatchObject([{ operation: 'listPets', key: 'sandbox', status: 200 }])
    await page.keyboard.press('Escape')
    for (const [anchor, text] of [
      ['description/keys', 'sandbox-pro'],
      ['description/plans-and-rate-limits', '100,000'],
      ['tag/pets/getPet', 'Removed on 5 December 2030'],
      ['tag/store/listOrders', 'experimental'],
    ]) {
      await page.goto(`${sandbox.controlUrl}/docs#${anchor}`)
      await page.getByText(String(text)).first().waitFor()
    }
  })

  it('has a title before the contract is shown, and the switches that change its responses', async () => {
    const { page } = await openDocs({ latency: '5ms', anyKey: true }, '#tag/pets/listPets')
    await page.route('**/openapi.json', async (route) => {
      await page.getByRole('heading', { name: 'API docs' }).waitFor()
      await route.continue()
    })
    await page.reload()
    const active = page.getByRole('list', { name: 'Active now' })
    await active.getByText('latency 5ms').waitFor()
    await active.getByText('any key is valid').waitFor()
    await page.getByRole('heading', { name: 'List animals' }).waitFor()
    await page.getByRole('heading', { name: 'API docs' }).waitFor({ state: 'hidden' })
  })

  it('forces a response with Prefer, which is a parameter of each operation', async () => {
    const { page } = await openDocs({}, '#tag/pets/getPet', { allowed: FAILED })
    const { client, send } = await openClient(page, 'getPet')
    await client.locator('#Prefer').getByRole('combobox').last().fill('code=404')
    expect((await send()).status).toBe(404)
  })

  it('has no test panel for an operation with x-hideTryItPanel', async () => {
    const { page } = await openDocs({}, '#tag/store/listOrders')
    await page.getByRole('heading', { name: 'List orders' }).waitFor()
    await page.getByText('All orders of the fixtures').first().waitFor()
    expect(await page.locator('[id$="/listOrders"] .show-api-client-button').isVisible()).toBe(false)
  })

  it('uses the space in its address', async () => {
    const { sandbox, page } = await openDocs({}, '?space=docs#tag/pets/listPets')
    expect((await (await openClient(page, 'listPets')).send()).status).toBe(200)
    expect(await sandbox.space('docs').requests()).toMatchObject([{ operation: 'listPets', key: 'sandbox' }])
    expect(await sandbox.requests()).toEqual([])
    expect(await page.locator('#dashboard').getAttribute('href')).toBe('./#space=docs')
  })

  it('shows no switches of another space for one that is not open', async () => {
    const { sandbox, page } = await openDocs({}, '?space=new#tag/pets/listPets')
    await sandbox.storm.start()
    await page.reload()
    await page.getByRole('heading', { name: 'List animals' }).waitFor()
    expect(await page.getByRole('list', { name: 'Active now' }).getByRole('listitem').count()).toBe(0)
  })

  it('shows the contract of --spec, and sends requests to this sandbox whatever servers and keys it names', async () => {
    const { sandbox, page } = await openDocs({ spec: FULLER }, '#listMyPets')
    await page.getByRole('heading', { name: 'A fuller store' }).waitFor()
    await page.getByText('This sandbox limits no requests: the contract has no plans.').waitFor()
    await page.getByText('An error has the status and the form that the contract documents for it.').waitFor()
    await page.getByText('No operation requires an API key.').waitFor()
    expect((await (await openClient(page, 'listMyPets')).send()).status).toBe(200)
    expect(await sandbox.requests()).toMatchObject([{ operation: 'listMyPets', key: 'sandbox' }])
  })

  it('asks for the control token, and again after a wrong one', async () => {
    const { page } = await openDocs({ controlToken: 'open-sesame' }, '', { allowed: FAILED })
    const token = page.getByLabel('control token')
    await token.fill('wrong')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByRole('alert').getByText('requires its token').waitFor()
    await token.fill('open-sesame')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByRole('heading', { name: 'Animal Store Service' }).waitFor()
    expect(await token.isVisible()).toBe(false)
  })

  it('is accessible and fits, light and dark, wide and narrow', async () => {
    const { page } = await openDocs({}, '#tag/pets/listPets', { bypassCSP: true })
    await page.getByRole('heading', { name: 'List animals' }).waitFor()
    // Scalar renders the headings of tags late. Without them two regions have the same, empty name.
    for (const name of ['pets', 'store']) await page.getByRole('region', { name, exact: true }).waitFor()
    await checkLooks(page, 'docs', [1920, 320])
  })
})
