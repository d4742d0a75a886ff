import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PAGE_POLICY } from '../../src/control/pages.js'
import { serveSite } from '../../src/http/static-site.js'
import { playgroundDirectory } from '../../src/system/package-files.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { axeViolations, type ContextOptions, useBrowser } from './browser.js'

const MOST_BYTES = 200_000

/** To a browser, another site than the playground's 127.0.0.1. */
const OTHER_SITE = 'http://localhost:'

/** Chromium's own message about an error status, and requests of the other site. */
const ALLOWED =
  /^(?:Failed to load resource: (?:the server responded with a status of [45]\d\d|net::ERR_FAILED)|http:\/\/localhost:)/

it('loads at most 200 kB, compressed', () => {
  const files = readdirSync(playgroundDirectory, { recursive: true, encoding: 'utf8' })
  const loaded = files.filter((file) => /\.(?:html|css|js|svg)$/.test(file))
  expect(loaded).toContain('sw.js')
  const bytes = loaded.map((file) => gzipSync(readFileSync(join(playgroundDirectory, file)), { level: 9 }).length)
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MOST_BYTES)
})

describe.skipIf(!HAS_CHROMIUM)('the playground, in a browser', () => {
  const browser = useBrowser()

  /** A web host that can stop, and restart with other files. */
  async function openSite(folder = playgroundDirectory) {
    let site = await serveSite(folder, 0, PAGE_POLICY)
    const { port } = site
    onTestFinished(() => site.stop())
    return {
      url: `http://127.0.0.1:${port}/`,
      stop: () => site.stop(),
      async restart() {
        await site.stop()
        site = await serveSite(folder, port, PAGE_POLICY)
      },
    }
  }

  function openProfile(url: string, options: ContextOptions = {}): Promise<BrowserContext> {
    return browser.newContext(url, { allowed: ALLOWED, ...options })
  }

  /** Opens the playground of a site of its own, with its clients paused. */
  async function open(folder?: string) {
    const site = await openSite(folder)
    const context = await openProfile(site.url)
    return { ...site, context, page: await openPaused(context, site.url) }
  }

  async function openPaused(context: BrowserContext, url: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(url)
    await runs(page)
    await page.getByRole('button', { name: 'Pause' }).click()
    return page
  }

  /** With reduced motion, a page shows the end of a run at once. */
  async function openEnded(hash = '') {
    const { url } = await openSite()
    const context = await openProfile(url, { reducedMotion: 'reduce' })
    const page = await context.newPage()
    await page.goto(url + hash)
    await page.getByText(OVER).waitFor()
    return { url, context, page }
  }

  /** Ends the worker, as browsers do when it idles. */
  async function endWorker(page: Page): Promise<void> {
    const session = await page.context().newCDPSession(page)
    await session.send('ServiceWorker.enable')
    await session.send('ServiceWorker.stopAllWorkers')
  }

  it('shows the requests, the results and the verdict of each client', async () => {
    const { page } = await openEnded()
    expect(await page.title()).toBe('Playground · petstore-sandbox')
    await page.getByRole('heading', { name: 'Your client gets a 429. What does it do next?' }).waitFor()
    const results = await resultsOf(page)
    expect(results).toEqual(QUOTA_ONLY)
    await page
      .getByRole('img', { name: 'Requests of No retry: 60 succeeded, 10 got a 429, 290 were refused while banned' })
      .waitFor()
    await page.getByRole('button', { name: 'Start over' }).click()
    await page.getByText(OVER).waitFor({ state: 'hidden' })
    await page.getByText(OVER).waitFor()
    expect(await resultsOf(page)).toEqual(results)
  })

  it('has evidence for each finding in the dashboard', async () => {
    const { page } = await openEnded()
    await lane(page, 'Every second').getByRole('link', { name: 'early-retry' }).click()
    await page.getByText('live', { exact: true }).waitFor()
    expect(page.url()).toContain('/__sandbox/#space=every-second&filter=id')
    await page.locator('.exchange').getByText('429').first().waitFor()
  })

  it('carries conditions and the own policy in its link', async () => {
    const { page, url, context } = await openEnded()
    await page.getByRole('button', { name: 'Storm 70 %' }).click()
    await page.getByRole('button', { name: 'Broken connections' }).click()
    await page.getByRole('textbox').fill('retryAfter ?? 2 * backoff')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByText(OVER).waitFor({ state: 'hidden' })
    await page.getByText(OVER).waitFor()
    expect(new URL(page.url()).hash).toBe('#conditions=storm%2Cbroken&wait=retryAfter+%3F%3F+2+*+backoff')
    const other = await context.newPage()
    await other.goto(page.url())
    await other.getByText(OVER).waitFor()
    expect(await resultsOf(other)).toEqual(await resultsOf(page))
    expect(await other.getByRole('textbox').inputValue()).toBe('retryAfter ?? 2 * backoff')
    const pressed = other.locator('[aria-pressed=true]')
    expect(await pressed.allTextContents()).toEqual(['Storm 70 %', 'Broken connections 33 %'])
    await other.getByRole('button', { name: 'Quota only' }).click()
    expect(other.url()).toBe(`${url}#wait=retryAfter+%3F%3F+2+*+backoff`)
  })

  it('pauses, and moves the clients with the clock', async () => {
    const { page } = await open()
    const before = await elapsed(page)
    await page.getByRole('button', { name: '+1 min' }).click()
    await page.getByText(clockText(before + 60)).waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText(OVER).waitFor()
    expect(await resultsOf(page)).toEqual(QUOTA_ONLY)
  })

  it('stops the clients of one tab when another starts them', async () => {
    const { url } = await openSite()
    const context = await openProfile(url)
    const page = await context.newPage()
    await page.goto(url)
    await runs(page)
    await openPaused(context, url)
    await page.getByText('Another tab has started the clients.').waitFor()
  })

  it('breaks connections and lets them hang, as over a socket', async () => {
    const { page } = await open()
    const faulty = (fault: string) =>
      page.evaluate<string>(`(async () => {
        await fetch('__sandbox/faults', { method: 'PUT', body: '["${fault}"]' })
        const signal = AbortSignal.timeout(500)
        const headers = { authorization: 'Bearer sandbox' }
        return fetch('v1/pets', { headers, signal }).then((response) => response.text().catch(String), String)
      })()`)
    expect(await faulty('*:connection-reset')).toBe('TypeError: Failed to fetch')
    expect(await faulty('*:malformed-chunk')).toMatch(/^TypeError: /)
    expect(await faulty('*:hang')).toMatch(/^TimeoutError: /)
    expect(JSON.parse(await faulty('*:503'))).toMatchObject({ code: 'simulated_fault', status: 503 })
  })

  it('works offline after the first visit: clients, dashboard and docs page', async () => {
    const { page, stop } = await open()
    await stop()
    await page.reload()
    await runs(page)
    await page.getByRole('link', { name: 'Dashboard', exact: true }).click()
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'API docs' }).click()
    await page.getByRole('heading', { name: 'Animal Store Service' }).first().waitFor()
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'GET /pets' }).first().click()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('heading', { name: /^Response 200/ }).waitFor()
  })

  it('offers only code that works there, in dashboard and docs page', async () => {
    const { page, url } = await open()
    const languages = page.getByRole('group', { name: 'Language' }).getByRole('button')
    const runCode = async () => {
      expect((await languages.allTextContents()).map((name) => name.trim())).toEqual(['fetch', 'Copy'])
      await page.getByText('For the console of this page').waitFor()
      const code = await page.locator('pre.code').textContent()
      expect(await page.evaluate(`(async () => { ${code}; return response.status })()`)).toBe(200)
    }
    await page.goto(`${url}__sandbox/#space=first`)
    await page.getByText('No requests yet.').waitFor()
    await runCode()
    await page.locator('.exchange .path').first().click()
    await runCode()
    await page.getByRole('link', { name: 'API docs' }).click()
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'GET /pets' }).first().click()
    await runCode()
    await page.getByRole('link', { name: 'Playground' }).click()
    await runs(page)
  })

  it('keeps pets, quota, clock and bans when the browser ends its worker', async () => {
    const { page } = await open()
    await addPet(page, 'Long-lived')
    await page.evaluate(`(async () => {
      await fetch('__sandbox/keys/sandbox-free/ban', { method: 'PUT', body: '{"for":"1h"}' })
      await fetch('__sandbox/clock/advance', { method: 'POST', body: '{"by":"30m"}' })
    })()`)
    const before = await stateOf(page)
    expect(before.overrides).toHaveLength(2)
    await endWorker(page)
    const after = await stateOf(page)
    expect(after.counts).toEqual(before.counts)
    expect(after.keys.filter(isOrdinary)).toEqual(before.keys.filter(isOrdinary))
    expect(after.overrides).toEqual(before.overrides)
    expect(Date.parse(after.clock.now)).toBeGreaterThanOrEqual(Date.parse(before.clock.now))
    await page.getByRole('button', { name: 'Start over' }).click()
    await runs(page)
  })

  it('starts with a new sandbox and a notice if the kept state is unreadable', async () => {
    const { page } = await open()
    await addPet(page, 'Lost')
    await endWorker(page)
    await page.evaluate(`(async () => {
      const open = indexedDB.open('petstore-sandbox /')
      await new Promise((resolve) => {
        open.onsuccess = resolve
      })
      const changed = open.result.transaction('sandbox', 'readwrite')
      changed.objectStore('sandbox').put(new TextEncoder().encode('something else'), 'state')
      await new Promise((resolve) => {
        changed.oncomplete = resolve
      })
      open.result.close()
    })()`)
    await endWorker(page)
    await page.reload()
    await page.getByText('The sandbox has started afresh.').waitFor()
    expect((await stateOf(page)).counts.pets).toBe(60)
  })

  it('works in memory, with a notice, if the browser keeps nothing', async () => {
    const folder = copyOfSite()
    const refusing = 'indexedDB.open = () => { throw new DOMException("The user denied it.", "SecurityError") };'
    writeFileSync(join(folder, 'sw.js'), refusing + readFileSync(join(folder, 'sw.js'), 'utf8'))
    const { page } = await open(folder)
    await page.getByText('This browser keeps nothing for the page').waitFor()
    await addPet(page, 'Short-lived')
    expect((await stateOf(page)).counts.pets).toBe(61)
  })

  it('loads a newer version in all tabs on request, and keeps the pets', async () => {
    const folder = copyOfSite()
    const { url, restart } = await openSite(folder)
    const context = await openProfile(url)
    const [one, other] = [await openPaused(context, url), await openPaused(context, url)]
    await addPet(one, 'Kept over versions')
    makeNewer(folder)
    await restart()
    await one.evaluate('navigator.serviceWorker.ready.then((registration) => void registration.update())')
    await one.getByText('A newer version of the playground is ready.').waitFor()
    expect(await isNewer(one)).toBe(false)
    const reloaded = [one, other].map((page) => page.waitForEvent('load'))
    await one.getByRole('button', { name: 'Load it' }).click()
    await Promise.all(reloaded)
    for (const page of [one, other]) {
      expect((await stateOf(page)).counts.pets).toBe(61)
      expect(await isNewer(page)).toBe(true)
    }
    // The files of the old version are gone.
    expect(await one.evaluate('caches.keys()')).toHaveLength(1)
  })

  it('rejects an incomplete newer version', async () => {
    const folder = copyOfSite()
    const { page, restart } = await open(folder)
    makeNewer(folder)
    writeFileSync(join(folder, 'assets/playground.css'), 'body { display: none }')
    await restart()
    const phase = await page.evaluate(`(async () => {
      const registration = await navigator.serviceWorker.ready
      const { installing } = await registration.update()
      return new Promise((resolve) => {
        installing.addEventListener('statechange', () => resolve(installing.state))
      })
    })()`)
    expect(phase).toBe('redundant')
    await page.reload()
    await runs(page)
    expect(await page.getByText('A newer version').count()).toBe(0)
  })

  it.each(['', '__sandbox/', '__sandbox/docs/'])(
    'runs only its own scripts, without a policy of the web host: /%s',
    async (path) => {
      const site = await serveSite(playgroundDirectory, 0, '')
      onTestFinished(() => site.stop())
      const url = `http://127.0.0.1:${site.port}/`
      // As it comes from the web host: the worker sends a policy of its own.
      const page = await (await openProfile(url, { serviceWorkers: 'block', allowed: /./ })).newPage()
      await page.goto(url + path)
      const title = await page.evaluate(`(() => {
      const script = document.createElement('script')
      script.textContent = 'document.title = "It has run"'
      document.head.append(script)
      return document.title
    })()`)
      expect(title).toMatch(/ · petstore-sandbox$/)
    },
  )

  it('refuses a form of another site', async () => {
    const { page, context, url } = await open()
    await addPet(page, 'Still here')
    const other = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html')
      response.end(`<form method="post" action="${url}__sandbox/reset"><button>Win</button></form>`)
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const attacker = await context.newPage()
    await attacker.goto(`${OTHER_SITE}${(other.address() as AddressInfo).port}/`)
    const [answer] = await Promise.all([
      attacker.waitForResponse((response) => response.url().endsWith('/reset')),
      attacker.getByRole('button').click(),
    ])
    expect(answer.status()).toBe(403)
    expect((await stateOf(page)).counts.pets).toBe(61)
    await attacker.close()
  })

  it('works below any path of a web host, from any of its pages', async () => {
    const above = temporaryFolder()
    cpSync(playgroundDirectory, join(above, 'some/where'), { recursive: true })
    const url = `${(await openSite(above)).url}some/where/`
    for (const first of ['__sandbox/', '__sandbox/docs/', '']) {
      const context = await openProfile(url)
      const page = await context.newPage()
      await page.goto(url + first)
      if (first === '__sandbox/docs/') {
        await page.getByRole('heading', { name: 'Animal Store Service' }).first().waitFor()
        expect(page.url()).toBe(`${url}__sandbox/docs`)
        await page
          .getByRole('navigation', { name: 'Contents' })
          .getByRole('link', { name: 'GET /pets' })
          .first()
          .click()
        await page.getByRole('button', { name: 'Send', exact: true }).click()
        await page.getByRole('heading', { name: /^Response 200/ }).waitFor()
        await page.getByRole('link', { name: /^Exchange \d+ in the dashboard/ }).click()
      }
      if (first !== '') {
        await page.getByText('live', { exact: true }).waitFor()
        await page.getByText(`${url}v1`).first().waitFor()
      } else await runs(page)
      const contract = await page.evaluate<{ readonly servers: readonly { readonly url: string }[] }>(
        `fetch('${url}__sandbox/openapi.json').then((answer) => answer.json())`,
      )
      expect(contract.servers[0]?.url).toBe(`${url}v1`)
      const link = await page.evaluate<string>(
        `fetch('${url}v1/pets/1', { headers: { authorization: 'Bearer sandbox' } }).then((answer) => answer.headers.get('link'))`,
      )
      expect(link).toContain('</some/where/v1/pets?status=available>')
    }
  })

  const looks = (['light', 'dark'] as const).flatMap((scheme) => [1280, 390].map((width) => [scheme, width] as const))
  it.each(looks)('is accessible and fits: %s, %i pixels wide', async (colorScheme, width) => {
    const { url } = await openSite()
    const context = await openProfile(url, { colorScheme, viewport: { width, height: 900 }, bypassCSP: true })
    const page = await openPaused(context, url)
    const look = async (what: string) => {
      expect(await axeViolations(page, colorScheme === 'dark' ? 'colours' : 'all'), what).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth'), what).toBe(width)
    }
    await look('at the start')
    for (const name of ['Storm', 'Slow', 'Broken']) await page.getByRole('button', { name }).click()
    await page.getByRole('textbox').fill('1 +')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page
      .getByRole('button', { name: 'Pause' })
      .or(page.getByRole('button', { name: 'Run' }))
      .waitFor()
    // Disabled once the run is over.
    for (let minute = 0; minute < 3; minute++) await page.getByRole('button', { name: '+1 min' }).dispatchEvent('click')
    await page.getByText(OVER).waitFor()
    await look('at the end')
  })
})

/** Lists received, requests, verdict and findings of each client. Each request goes to a sandbox with the same seed. */
const QUOTA_ONLY = {
  'No retry': ['Banned · 2:36 left', '60 lists for 360 requests', '299 × early-retry', '289 × request-while-banned'],
  'Every second': [
    'Banned · 2:40 left',
    '60 lists for 210 requests',
    '149 × early-retry',
    '139 × request-while-banned',
  ],
  Exponential: ['Breaks the rules', '180 lists for 199 requests', '16 × early-retry'],
  'Retry-After': ['Keeps the rules', '180 lists for 183 requests'],
  Yours: ['Breaks the rules', '180 lists for 198 requests', '15 × early-retry'],
}
const OVER = 'After three minutes, lists received'

/** Waits for the first request of a run. */
async function runs(page: Page): Promise<void> {
  await page.getByRole('img', { name: /^Requests of Yours: \d/ }).waitFor()
}

function lane(page: Page, name: string) {
  return page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
}

async function resultsOf(page: Page): Promise<Record<string, readonly string[]>> {
  const lanes = await page.locator('.lane').all()
  const texts = await Promise.all(
    lanes.map(async (one) => [
      await one.getByRole('heading').textContent(),
      await one.locator('.result p, .result li').allTextContents(),
    ]),
  )
  return Object.fromEntries(texts)
}

/** Seconds of the sandbox's clock since the start of the run. */
async function elapsed(page: Page): Promise<number> {
  const [, minutes, seconds] = /(\d):(\d\d) of 3:00/.exec(await page.locator('.clock').innerText()) ?? []
  return Number(minutes) * 60 + Number(seconds)
}

function clockText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} of 3:00`
}

async function addPet(page: Page, name: string): Promise<void> {
  await page.evaluate(`fetch('v1/pets', {
    method: 'POST',
    headers: { authorization: 'Bearer sandbox', 'content-type': 'application/json' },
    body: '{"name":"${name}","categoryId":1}',
  })`)
}

interface State {
  readonly counts: { readonly pets: number; readonly requests: number }
  readonly keys: readonly { readonly always: string | null }[]
  readonly overrides: readonly unknown[]
  readonly clock: { readonly now: string }
}

/** Keys with a permanent condition have a ban that never gets closer to its end. */
function isOrdinary({ always }: State['keys'][number]): boolean {
  return always === null
}

function stateOf(page: Page): Promise<State> {
  return page.evaluate<State>("fetch('__sandbox/state').then((response) => response.json())")
}

function copyOfSite(): string {
  const folder = temporaryFolder()
  cpSync(playgroundDirectory, folder, { recursive: true })
  return folder
}

/** Changes a file and the worker's list of files, as another build would. */
function makeNewer(folder: string): void {
  const style = join(folder, 'assets/playground.css')
  const worker = join(folder, 'sw.js')
  const before = readFileSync(style)
  writeFileSync(style, `${before}:root{--newer:1}`)
  const listed = readFileSync(worker, 'utf8')
  const version = /version:"(\w+)"/.exec(listed)?.[1] ?? ''
  const newer = listed.replace(integrityOf(before), integrityOf(readFileSync(style))).replaceAll(version, 'newer')
  expect(newer).toContain(integrityOf(readFileSync(style)))
  writeFileSync(worker, newer)
}

function integrityOf(content: Uint8Array): string {
  return `sha256-${createHash('sha256').update(content).digest('base64')}`
}

function isNewer(page: Page): Promise<boolean> {
  return page.evaluate<boolean>("getComputedStyle(document.documentElement).getPropertyValue('--newer') === '1'")
}
