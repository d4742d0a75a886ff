import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PAGE_POLICY } from '../../src/control/pages.js'
import { serveSite } from '../../src/http/static-site.js'
import { playgroundDirectory } from '../../src/system/package-files.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { listenLocally } from '../support/listen-locally.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { type ContextOptions, checkLooks, useBrowser } from './browser.js'

const MOST_BYTES = 200_000

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
  async function openSite(folder = playgroundDirectory, policy = PAGE_POLICY) {
    let site = await serveSite(folder, 0, policy)
    const { port } = site
    onTestFinished(() => site.stop())
    return {
      url: `http://127.0.0.1:${port}/`,
      stop: () => site.stop(),
      async restart() {
        await site.stop()
        site = await serveSite(folder, port, policy)
      },
    }
  }

  function openProfile(url: string, options: ContextOptions = {}): Promise<BrowserContext> {
    return browser.newContext(url, { allowed: ALLOWED, ...options })
  }

  /** Opens the playground of a site of its own, with its clients paused. */
  async function open(folder?: string, options?: ContextOptions) {
    const site = await openSite(folder)
    const context = await openProfile(site.url, options)
    return { ...site, context, page: await openPaused(context, site.url) }
  }

  async function openPaused(context: BrowserContext, url: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(url)
    await pause(page)
    return page
  }

  async function pause(page: Page): Promise<void> {
    await runs(page)
    await page.getByRole('button', { name: 'Pause' }).click()
  }

  /** Ends the worker, as browsers do when it idles. */
  async function endWorker(page: Page): Promise<void> {
    const session = await page.context().newCDPSession(page)
    await session.send('ServiceWorker.enable')
    await session.send('ServiceWorker.stopAllWorkers')
  }

  it('pauses, moves the clients with the clock, and shows requests, results, verdicts and findings of each', async () => {
    const { page } = await open()
    expect(await page.title()).toBe('Playground · petstore-sandbox')
    await page.getByRole('heading', { name: 'Your client gets a 429. What does it do next?' }).waitFor()
    const before = await elapsed(page)
    await page.getByRole('button', { name: '+1 min' }).click()
    await page.getByText(clockText(before + 60)).waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await finishRun(page)
    expect(await resultsOf(page)).toEqual(QUOTA_ONLY)
    await page
      .getByRole('img', { name: 'Requests of No retry: 60 succeeded, 10 got a 429, 290 were refused while banned' })
      .waitFor()
    const lane = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Every second' }) })
    await lane.getByRole('link', { name: 'early-retry' }).click()
    await page.getByText('live', { exact: true }).waitFor()
    expect(page.url()).toContain('/__sandbox/#space=every-second&filter=id')
    await page.locator('.exchange').getByText('429').first().waitFor()
  })

  it('carries conditions and the own policy in its link, which runs them in another tab instead', async () => {
    const { page, url, context } = await open()
    await page.getByRole('button', { name: 'Storm 70 %' }).click()
    await page.getByRole('button', { name: 'Broken connections' }).click()
    await page.getByRole('textbox').fill('retryAfter ?? 2 * backoff')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await finishRun(page)
    expect(new URL(page.url()).hash).toBe('#conditions=storm%2Cbroken&wait=retryAfter+%3F%3F+2+*+backoff')
    const other = await context.newPage()
    // It then shows the end of a run at once.
    await other.emulateMedia({ reducedMotion: 'reduce' })
    await other.goto(page.url())
    await page.getByText('Another tab has started the clients.').waitFor()
    await other.getByText(OVER).waitFor()
    expect(await resultsOf(other)).toEqual(await resultsOf(page))
    expect(await other.getByRole('textbox').inputValue()).toBe('retryAfter ?? 2 * backoff')
    const pressed = other.locator('[aria-pressed=true]')
    expect(await pressed.allTextContents()).toEqual(['Storm 70 %', 'Broken connections 33 %'])
    await other.getByRole('button', { name: 'Quota only' }).click()
    expect(other.url()).toBe(`${url}#wait=retryAfter+%3F%3F+2+*+backoff`)
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

  it('works offline after the first visit: clients, dashboard and docs page, with code that works there', async () => {
    const { page, stop } = await open()
    await stop()
    const languages = page.getByRole('group', { name: 'Language' }).getByRole('button')
    const runCode = async () => {
      await page.getByText('For the console of this page').waitFor()
      expect((await languages.allTextContents()).map((name) => name.trim())).toEqual(['fetch', 'Copy'])
      const code = await page.locator('pre.code').textContent()
      expect(await page.evaluate(`(async () => { ${code}; return response.status })()`)).toBe(200)
    }
    await page.getByRole('link', { name: 'Dashboard', exact: true }).click()
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Space', exact: true }).selectOption('default')
    await page.getByText('No requests yet.').waitFor()
    await runCode()
    await page.locator('.exchange .path').first().click()
    await runCode()
    await page.getByRole('link', { name: 'API docs' }).click()
    await openList(page)
    await runCode()
    await sendList(page)
    await page.getByRole('link', { name: 'Playground' }).click()
    await runs(page)
  })

  it('keeps its state when the browser ends its worker, and starts afresh with a notice if that is unreadable', async () => {
    const { page } = await open()
    await addPet(page)
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
    await pause(page)
    // A running client would overwrite what follows.
    await addPet(page)
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
    await addPet(page)
    expect((await stateOf(page)).counts.pets).toBe(61)
  })

  it('rejects an incomplete newer version', async () => {
    const folder = copyOfSite()
    const { page: one, restart } = await open(folder)
    makeNewer(folder)
    writeFileSync(styleIn(folder), 'body { display: none }')
    await restart()
    const phase = await one.evaluate(`(async () => {
      const registration = await navigator.serviceWorker.ready
      const { installing } = await registration.update()
      return new Promise((resolve) => {
        installing.addEventListener('statechange', () => resolve(installing.state))
      })
    })()`)
    expect(phase).toBe('redundant')
    await one.reload()
    await runs(one)
    expect(await one.getByText('A newer version').count()).toBe(0)
  })

  it('loads a newer version in all tabs on request, and keeps the pets', async () => {
    const folder = copyOfSite()
    const { page: one, context, url, restart } = await open(folder)
    const other = await openPaused(context, url)
    await addPet(one)
    writeFileSync(styleIn(folder), makeNewer(folder))
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

  it('runs only its own scripts, without a policy of the web host', async () => {
    const { url } = await openSite(playgroundDirectory, '')
    // As it comes from the web host: the worker sends a policy of its own.
    const page = await (await openProfile(url, { serviceWorkers: 'block', allowed: /./ })).newPage()
    for (const path of ['', '__sandbox/', '__sandbox/docs/']) {
      await page.goto(url + path)
      const title = await page.evaluate(`(() => {
        const script = document.createElement('script')
        script.textContent = 'document.title = "It has run"'
        document.head.append(script)
        return document.title
      })()`)
      expect(title, path).toMatch(/ · petstore-sandbox$/)
    }
  })

  it('refuses a form of another site', async () => {
    const { page, context, url } = await open()
    await addPet(page)
    const other = await listenLocally(
      createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html')
        response.end(`<form method="post" action="${url}__sandbox/reset"><button>Win</button></form>`)
      }),
    )
    const attacker = await context.newPage()
    // To a browser, another site than 127.0.0.1.
    await attacker.goto(other.replace('127.0.0.1', 'localhost'))
    const [answer] = await Promise.all([
      attacker.waitForResponse((response) => response.url().endsWith('/reset')),
      attacker.getByRole('button').click(),
    ])
    expect(answer.status()).toBe(403)
    expect((await stateOf(page)).counts.pets).toBe(61)
  })

  it('works below any path of a web host, from any of its pages', async () => {
    const above = temporaryFolder()
    cpSync(playgroundDirectory, join(above, 'some/where'), { recursive: true })
    const url = `${(await openSite(above)).url}some/where/`
    for (const first of ['__sandbox/', '__sandbox/docs/', '']) {
      const page = await (await openProfile(url, { isOwn: true })).newPage()
      await page.goto(url + first)
      if (first === '__sandbox/docs/') {
        await page.getByRole('heading', { name: 'Animal Store Service' }).first().waitFor()
        expect(page.url()).toBe(`${url}__sandbox/docs`)
        await openList(page)
        await sendList(page)
        await page.getByRole('link', { name: /^Exchange \d+ in the dashboard/ }).click()
      }
      if (first === '') await runs(page)
      else {
        await page.getByText('live', { exact: true }).waitFor()
        await page.getByText(`${url}v1`).first().waitFor()
      }
      const [servers, link] = await page.evaluate<readonly unknown[]>(`Promise.all([
        fetch('${url}__sandbox/openapi.json').then((answer) => answer.json()).then(({ servers }) => servers[0].url),
        fetch('${url}v1/pets/1', { headers: { authorization: 'Bearer sandbox' } }).then(({ headers }) => headers.get('link')),
      ])`)
      expect(servers).toBe(`${url}v1`)
      expect(link).toContain('</some/where/v1/pets?status=available>')
    }
  })

  it('is accessible and fits, light and dark, wide and narrow', async () => {
    const { page } = await open(undefined, { bypassCSP: true })
    await checkLooks(page, 'at the start')
    for (const name of ['Storm', 'Slow', 'Broken']) await page.getByRole('button', { name }).click()
    await page.getByRole('textbox').fill('1 +')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.getByRole('alert').waitFor()
    await finishRun(page)
    await checkLooks(page, 'at the end')
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

/** Moves the clients to the end of their run. */
async function finishRun(page: Page): Promise<void> {
  // Disabled once the run is over.
  for (let minute = 0; minute < 3; minute++) await page.getByRole('button', { name: '+1 min' }).dispatchEvent('click')
  await page.getByText(OVER).waitFor()
}

/** Opens listPets on the docs page. */
async function openList(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'GET /pets' }).first().click()
}

async function sendList(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('heading', { name: /^Response 200/ }).waitFor()
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

async function addPet(page: Page): Promise<void> {
  await page.evaluate(`fetch('v1/pets', {
    method: 'POST',
    headers: { authorization: 'Bearer sandbox', 'content-type': 'application/json' },
    body: '{"name":"Rex","categoryId":1}',
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

function styleIn(folder: string): string {
  return join(folder, 'assets/playground.css')
}

/** Changes a file and the worker's list of files, as another build would. @returns the text of the file */
function makeNewer(folder: string): string {
  const worker = join(folder, 'sw.js')
  const before = readFileSync(styleIn(folder), 'utf8')
  const style = `${before}:root{--newer:1}`
  const listed = readFileSync(worker, 'utf8')
  const version = /version:"(\w+)"/.exec(listed)?.[1] ?? ''
  const newer = listed.replace(integrityOf(before), integrityOf(style)).replaceAll(version, 'newer')
  expect(newer).toContain(integrityOf(style))
  writeFileSync(worker, newer)
  return style
}

function integrityOf(content: string): string {
  return `sha256-${createHash('sha256').update(content).digest('base64')}`
}

function isNewer(page: Page): Promise<boolean> {
  return page.evaluate<boolean>("getComputedStyle(document.documentElement).getPropertyValue('--newer') === '1'")
}
