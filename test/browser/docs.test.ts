import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { SandboxOptions } from '../../src/index.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { type ContextOptions, checkLooks, FAILED, useBrowser } from './browser.js'

const FULLER = fileURLToPath(new URL('../contract/specs/fuller.yaml', import.meta.url))

describe.skipIf(!HAS_CHROMIUM)('the docs page, in a browser', () => {
  const browser = useBrowser()

  /** `open` opens an operation or a chapter, `send` sends the form, and resolves with the response status. */
  async function openDocs(sandbox: SandboxOptions = {}, query = '', options: ContextOptions = {}) {
    const opened = await browser.open({ sandbox, path: `/docs${query}`, bypassCSP: true, allowed: FAILED, ...options })
    const { page } = opened
    return {
      ...opened,
      open: (name: string) =>
        page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name }).first().click(),
      async send() {
        await page.getByRole('button', { name: 'Send', exact: true }).click()
        return await answered(page)
      },
    }
  }

  async function answered(page: Page): Promise<string | null> {
    await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' })
    return page.locator('.response h3 .code').textContent()
  }

  it('shows plans and marks of operations, sends listPets with the key of this sandbox, and shows the response digit for digit', async () => {
    const { sandbox, page, open, send } = await openDocs()
    await page.getByRole('heading', { level: 2 }).first().waitFor()
    expect(await page.title()).toBe('Overview · petstore-sandbox')
    const contents = page.getByRole('navigation', { name: 'Contents' })
    await contents.getByText('Deprecated, removed on 5 December 2030').waitFor()
    await contents.getByText('experimental').waitFor()
    expect(await page.getByRole('row', { name: 'Business' }).textContent()).toBe('Business1,000100,000')
    await open('GET /pets')
    expect(await page.title()).toBe('GET /pets · petstore-sandbox')
    await page.getByText('60 of 60 left this minute, 1,000 of 1,000 today').waitFor()
    expect(await send()).toBe('200')
    expect(await page.locator('.response').textContent()).toContain('9007199254740993')
    await page.getByText('59 of 60 left this minute, 999 of 1,000 today').waitFor()
    const exchanges = await sandbox.requests()
    expect(exchanges.map(({ operation, key, status }) => ({ operation, key, status }))).toEqual([
      { operation: 'listPets', key: 'sandbox', status: 200 },
    ])
    expect(page.url()).toContain('#/listPets')
    await page.getByRole('link', { name: 'Exchange 1 in the dashboard' }).click()
    await page.locator('.detail').getByRole('heading', { name: 'GET /v1/pets' }).waitFor()
  })

  it.each([
    ['the packaged contract', {}],
    ['a larger contract', { spec: FULLER }],
  ])('provokes each documented response: %s', async (_name, options) => {
    const { sandbox, page } = await openDocs(options)
    const provoked: string[] = []
    const links = page.getByRole('navigation', { name: 'Contents' }).locator('section a')
    await links.first().waitFor()
    for (const link of await links.all()) {
      const id = decodeURIComponent(String(await link.getAttribute('href')).slice('#/'.length))
      await link.click()
      await page.locator('.reference').getByText(id, { exact: true }).first().waitFor()
      const closed = page.locator('.reference [aria-label=Responses] > details:not([open]) > summary')
      while ((await closed.count()) > 0) await closed.first().click()
      const names = await page.getByRole('button', { name: /^Provoke / }).allTextContents()
      for (const status of names.map((name) => name.slice('Provoke '.length))) {
        await page.getByRole('button', { name: `Provoke ${status}`, exact: true }).click()
        await page.getByText(`Received ${status}.`).waitFor({ state: 'attached' })
        expect(await answered(page), `${id} ${status}`).toBe(status)
        provoked.push(`${id} ${status}`)
      }
    }
    const document = Object(await (await fetch(`${sandbox.controlUrl}/openapi.json`)).json())
    expect(provoked.sort()).toEqual(documentedResponses(document).sort())
    // The service's own responses need no fault.
    if (!('spec' in options)) expect((await sandbox.requests()).filter(({ reason }) => reason === 'forced')).toEqual([])
  })

  it('shows a pending request, cancels it, and lets the latest win; its code is what was sent', async () => {
    const { sandbox, page, open, send } = await openDocs({}, '', { isOwn: true })
    await open('GET /pets')
    expect(await send()).toBe('200')
    await sandbox.settings.change({ latency: '1h' })
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Waiting for the response …').waitFor()
    expect(await page.locator('.response').count()).toBe(0)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('alert').getByText('No response: cancelled.').waitFor()
    await page.clock.install()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Waiting for the response …').waitFor()
    await page.clock.runFor(30_000)
    await page.getByRole('alert').getByText('No response: none after 30 s.').waitFor()
    await page.clock.resume()
    await sandbox.settings.change({ latency: null })
    let release = () => {}
    const isHeld = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/v1/pets', (route) => isHeld.then(() => route.continue()), { times: 1 })
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Waiting for the response …').waitFor()
    await page.locator('.reference summary', { hasText: '401' }).click()
    await page.getByRole('button', { name: 'Provoke 401' }).click()
    await page.getByText('Received 401.').waitFor({ state: 'attached' })
    expect(await page.getByText('Waiting for the response …').count()).toBe(0)
    expect(await page.locator('pre.code').textContent()).toContain('Bearer sandbox-revoked')
    release()
    for (let n = 0; n < 7; n++)
      await (await fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })).text()
    const { minute } = (await sandbox.keys.list()).find(({ key }) => key === 'sandbox') ?? {}
    await page.getByText(`${minute?.remaining} of 60 left this minute`).waitFor()
    expect(await page.locator('.response h3 .code').textContent()).toBe('401')
  })

  it('finds schemas and enum values, offers enums as choices, names an unknown page, and offers no Send for listOrders', async () => {
    const { page, open, send, sandbox } = await openDocs()
    const links = page.getByRole('navigation', { name: 'Contents' }).getByRole('link')
    await page.getByRole('searchbox', { name: 'Search' }).fill('PetStatus')
    await links.getByText('/pets', { exact: true }).first().waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('')
    await open('GET /pets')
    await page.getByRole('combobox', { name: 'status' }).selectOption('sold')
    expect(await send()).toBe('200')
    expect((await sandbox.requests()).at(-1)?.query).toBe('status=sold')
    await page.goto(`${sandbox.controlUrl}/docs#/nothing`)
    await page.getByText('The contract has no page “nothing”.').waitFor()
    await open('/store/orders')
    await page.getByText('this operation cannot be sent from here').waitFor()
    expect(await page.getByRole('button', { name: 'Send', exact: true }).count()).toBe(0)
    await page.locator('pre.code', { hasText: 'store/orders' }).waitFor()
  })

  it('uses the chosen key, and the space in its address, in code and request', async () => {
    const { sandbox, page, open, send } = await openDocs({}, '?space=docs')
    await open('GET /pets')
    await page.getByRole('textbox', { name: 'limit' }).fill('3')
    await page.getByRole('combobox', { name: 'Key' }).selectOption('sandbox-limited')
    await page.locator('pre.code').getByText('Bearer sandbox-limited~docs').waitFor()
    expect(await page.locator('pre.code').textContent()).toContain('/v1/pets?limit=3')
    expect(await send()).toBe('429')
    for (const [language, word] of [
      ['fetch', 'await fetch('],
      ['Python', 'urllib.request'],
      ['call', 'petstore-sandbox call listPets --limit 3'],
    ] as const) {
      await page.getByRole('button', { name: language, exact: true }).click()
      await page.locator('pre.code').getByText(word).waitFor()
    }
    expect((await sandbox.space('docs').requests()).map(({ key }) => key)).toEqual(['sandbox-limited'])
    expect(await sandbox.requests()).toEqual([])
  })

  it('shows the served contract, and sends requests to this sandbox whatever servers it names', async () => {
    const { sandbox, page, open, send } = await openDocs({ spec: FULLER })
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('A fuller store')
    await page.getByText('Deprecated, removed on 1 January 2027').first().waitFor()
    await open('GET /pets/mine')
    expect(await send()).toBe('200')
    expect((await sandbox.requests()).map(({ operation, key }) => [operation, key])).toEqual([
      ['listMyPets', 'sandbox'],
    ])
  })

  it('is accessible and fits, light and dark, wide and narrow', async () => {
    const { page, open, send } = await openDocs()
    const look = (what: string) => checkLooks(page, what, [1920, 640])
    for (const name of ['Overview', 'Authentication', 'Plans', 'Errors', 'Deprecation', 'choices']) {
      await open(name)
      await look(name)
    }
    for (const name of ['GET /pets/{petId}', '/store/orders', 'POST /pets', 'GET /pets']) {
      await open(name)
      const closed = page.locator('.reference details:not([open]) > summary')
      while ((await closed.count()) > 0) await closed.first().click()
      await look(name)
    }
    await send()
    await look('an answer')
  })
})

interface PathItem {
  readonly [method: string]: {
    readonly operationId?: string
    readonly 'x-hideTryItPanel'?: boolean
    readonly responses?: Readonly<Record<string, unknown>>
  }
}

/** Documented responses of operations with a Send button: `getPet 404`. */
function documentedResponses({ paths }: { readonly paths: Readonly<Record<string, PathItem>> }): string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, responses = {}, ...others }]) =>
      others['x-hideTryItPanel'] === true
        ? []
        : Object.keys(responses)
            .filter((status) => /^\d{3}$/.test(status))
            .map((status) => `${operationId ?? method.toUpperCase() + path} ${status}`),
    ),
  )
}
