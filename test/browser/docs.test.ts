import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/index.js'
import { hasBrowser, listen, openBrowser } from './browser.js'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const FULLER = fileURLToPath(new URL('../contract/specs/fuller.yaml', import.meta.url))

/** What Chromium itself says of an answer that was asked for and refused. */
const REFUSED = /^Failed to load resource: the server responded with a status of 429/

// A page with Swagger UI takes seconds to load where other suites keep the machine busy.
describe.skipIf(!hasBrowser)('the docs page, in a browser', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  interface Opened {
    readonly sandbox: Sandbox
    readonly page: Page
    operation(method: string, path: string): Locator
  }

  /** Opens the page of a new sandbox, and holds it to saying no error and asking no other host. */
  async function withDocs(
    options: SandboxOptions,
    use: (opened: Opened) => Promise<void>,
    {
      colorScheme = 'light',
      width = 1280,
      query = '',
    }: { colorScheme?: 'light' | 'dark'; width?: number; query?: string } = {},
  ): Promise<void> {
    await using sandbox = await startSandbox({ seed: 1, ...options })
    const { origin } = new URL(sandbox.baseUrl)
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } })
    try {
      const page = await context.newPage()
      const complaints = listen(page, origin)
      await page.goto(`${origin}/__sandbox/docs${query}`)
      const operation = (method: string, path: string) =>
        page
          .locator('.opblock')
          .filter({ has: page.locator('.opblock-summary-method', { hasText: new RegExp(`^${method}$`) }) })
          .filter({ has: page.locator(`[data-path="${path}"]`) })
      await use({ sandbox, page, operation })
      const { foreignRequests } = complaints
      expect({ console: complaints.console.filter((text) => !REFUSED.test(text)), foreignRequests }).toEqual({
        console: [],
        foreignRequests: [],
      })
    } finally {
      await context.close()
    }
  }

  const open = (operation: Locator) => operation.locator('.opblock-summary-control').click()
  const execute = (operation: Locator) => operation.getByRole('button', { name: 'Execute' }).click()
  const answered = (operation: Locator) => operation.locator('.live-responses-table .response-col_status').last()

  it('sends a listPets to this sandbox with its key, and shows the answer digit for digit', async () => {
    await withDocs({}, async ({ sandbox, page, operation }) => {
      expect(await page.title()).toBe('The interface · petstore-sandbox')
      const listPets = operation('GET', '/pets')
      await open(listPets)
      await execute(listPets)
      await expect.poll(() => answered(listPets).textContent()).toBe('200')
      expect(await listPets.locator('.live-responses-table').textContent()).toContain('9007199254740993')
      const exchanges = await sandbox.requests()
      expect(exchanges.map(({ operation, key, status }) => ({ operation, key, status }))).toEqual([
        { operation: 'listPets', key: 'sandbox', status: 200 },
      ])
      expect(page.url()).toContain('#/pets/listPets')
    })
  })

  it('shows plans, deprecation with the day of removal, and stability, before anything is opened', async () => {
    await withDocs({}, async ({ page, operation }) => {
      await operation('GET', '/pets/{petId}').waitFor()
      expect(await operation('GET', '/pets/{petId}').textContent()).toContain('Deprecated, removed on 5 December 2030')
      expect(await operation('GET', '/store/orders').textContent()).toContain('experimental')
      expect(await page.getByRole('row', { name: 'Business' }).textContent()).toBe('Business1,000100,000')
    })
  })

  it('offers no panel for listOrders, as the service has it', async () => {
    await withDocs({}, async ({ operation }) => {
      const listOrders = operation('GET', '/store/orders')
      await open(listOrders)
      await listOrders.getByText('The orders. No shape of them is documented.').waitFor()
      expect(await listOrders.getByRole('button', { name: /execute|try it out/i }).count()).toBe(0)
    })
  })

  it('creates a pet whose digits a double cannot hold', async () => {
    await withDocs({}, async ({ sandbox, operation }) => {
      const createPet = operation('POST', '/pets')
      await open(createPet)
      await createPet.getByRole('textbox', { name: 'Body' }).fill('{"name":"Max","categoryId":9223372036854775807}')
      await execute(createPet)
      await expect.poll(() => answered(createPet).textContent()).toBe('201')
      expect(await createPet.locator('.live-responses-table').textContent()).toContain('9223372036854775807')
      expect((await sandbox.pets.list()).some(({ categoryId }) => categoryId === 9223372036854775807n)).toBe(true)
    })
  })

  it('shows the refusal of a storm', async () => {
    await withDocs({ storm: '1' }, async ({ operation }) => {
      const listPets = operation('GET', '/pets')
      await open(listPets)
      await execute(listPets)
      await expect.poll(() => answered(listPets).textContent()).toContain('429')
      expect(await listPets.locator('.live-responses-table').textContent()).toContain('x-sandbox-reason: storm')
    })
  })

  it('fills in the key that is chosen, or entered in the dialog', async () => {
    await withDocs({}, async ({ sandbox, page, operation }) => {
      const listPets = operation('GET', '/pets')
      await open(listPets)
      await page.getByRole('combobox', { name: 'Key' }).selectOption('sandbox-limited')
      await execute(listPets)
      await expect.poll(() => answered(listPets).textContent()).toContain('429')
      await page.getByRole('button', { name: 'Authorize', exact: true }).click()
      await page.getByRole('button', { name: 'Remove authorization' }).click()
      await page.locator('.modal-ux input').fill('sandbox-pro')
      await page.locator('.modal-ux').getByRole('button', { name: 'Apply credentials' }).click()
      await page.locator('.modal-ux').getByRole('button', { name: 'Close' }).last().click()
      expect(await page.getByRole('combobox', { name: 'Key' }).inputValue()).toBe('sandbox-pro')
      await execute(listPets)
      await expect.poll(() => answered(listPets).textContent()).toBe('200')
      expect((await sandbox.requests()).map(({ key }) => key).toSorted()).toEqual(['sandbox-limited', 'sandbox-pro'])
    })
  })

  it('is about the space that its address names', async () => {
    const query = '?space=docs'
    await withDocs(
      {},
      async ({ sandbox, operation }) => {
        const listPets = operation('GET', '/pets')
        await open(listPets)
        await execute(listPets)
        await expect.poll(() => answered(listPets).textContent()).toBe('200')
        expect((await sandbox.space('docs').requests()).map(({ operation }) => operation)).toEqual(['listPets'])
        expect(await sandbox.requests()).toEqual([])
      },
      { query },
    )
  })

  it('asks for the control token, again if it was the wrong one, and once a tab', async () => {
    await using sandbox = await startSandbox({ controlToken: 'open-sesame' })
    const { origin } = new URL(sandbox.baseUrl)
    const page = await browser.newPage()
    const { foreignRequests } = listen(page, origin)
    await page.goto(`${origin}/__sandbox/docs`)
    const token = page.getByLabel('Control token')
    await token.fill('open-barley')
    await token.press('Enter')
    await page.getByText('The sandbox rejected this token.').waitFor()
    await token.fill('open-sesame')
    await token.press('Enter')
    await page.getByText('Animal Store Service').waitFor()
    await page.reload()
    await page.getByText('Animal Store Service').waitFor()
    expect(await token.isVisible()).toBe(false)
    expect(foreignRequests).toEqual([])
    await page.close()
  })

  it('shows the contract that is served, and sends to this sandbox whatever servers and keys it names', async () => {
    await withDocs({ spec: FULLER }, async ({ sandbox, page, operation }) => {
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('A fuller store')
      expect(await operation('DELETE', '/pets/{petId}').textContent()).toContain(
        'Deprecated, removed on 1 January 2027',
      )
      const listMyPets = operation('GET', '/pets/mine')
      await open(listMyPets)
      await execute(listMyPets)
      await expect.poll(() => answered(listMyPets).textContent()).toBe('200')
      expect((await sandbox.requests()).map(({ operation, key }) => [operation, key])).toEqual([
        ['listMyPets', 'sandbox'],
      ])
    })
  })

  it('says so when the sandbox refuses', async () => {
    await using sandbox = await startSandbox()
    const { origin } = new URL(sandbox.baseUrl)
    const page = await browser.newPage()
    await page.goto(`${origin}/__sandbox/docs?space=a/b`)
    expect(await page.getByRole('alert').textContent()).toContain('"a/b" is not a valid space name')
    await page.close()
  })

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('is readable for everybody: %s, %i pixels wide', async (colorScheme, width) => {
    await withDocs(
      {},
      async ({ page, operation }) => {
        for (const path of ['/pets', '/pets/{petId}', '/store/orders']) await open(operation('GET', path))
        await open(operation('POST', '/pets'))
        await execute(operation('GET', '/pets'))
        await answered(operation('GET', '/pets')).waitFor()
        expect(await violationsOf(page)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      },
      { colorScheme, width },
    )
  })

  /** What axe-core finds, as its rules' names with an element each. */
  function violationsOf(page: Page): Promise<readonly string[]> {
    return page.evaluate(`(async () => {
      ${AXE}
      const { violations } = await axe.run()
      return violations.map(({ id, nodes }) => id + ': ' + nodes[0].html)
    })()`)
  }
})
