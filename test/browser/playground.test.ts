import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { PAGE_POLICY } from '../../src/control/pages.js'
import { serveSite } from '../../src/http/static-site.js'
import { playgroundDirectory } from '../../src/system/package-files.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { freePort } from '../support/redis-server.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { requireTool } from '../support/tools.js'
import { axeViolations, listen, openBrowser } from './browser.js'

const MOST_BYTES = 250_000
const HAS_NGINX = requireTool('nginx', () => spawnSync('nginx', ['-v']).status === 0)

/** To a browser, another site than the playground's 127.0.0.1. */
const OTHER_SITE = 'http://localhost:'

/** Chromium's own message about an error status. */
const REFUSED = /^Failed to load resource: (?:the server responded with a status of [45]\d\d|net::ERR_FAILED)/

it('loads at most 250 kB, compressed', () => {
  const files = readdirSync(playgroundDirectory, { recursive: true, encoding: 'utf8' })
  const loaded = files.filter((file) => /\.(?:html|css|js|svg)$/.test(file))
  expect(loaded).toContain('sw.js')
  const bytes = loaded.map((file) => gzipSync(readFileSync(join(playgroundDirectory, file)), { level: 9 }).length)
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MOST_BYTES)
})

describe.skipIf(!HAS_CHROMIUM)('the playground, in a browser', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

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

  /** A browser profile. Fails if a page logs an error, or sends a request to another host. */
  async function openProfile(url: string, options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    const { origin } = new URL(url)
    const all: ReturnType<typeof listen>[] = []
    context.on('page', (page) => all.push(listen(page, origin)))
    onTestFinished(async () => {
      await context.close()
      expect(all.flatMap(({ console }) => console).filter((text) => !REFUSED.test(text))).toEqual([])
      const foreign = all.flatMap(({ foreignRequests }) => foreignRequests)
      expect(foreign.filter((address) => !address.startsWith(OTHER_SITE))).toEqual([])
    })
    return context
  }

  /** Opens the playground of a site of its own. */
  async function open(folder?: string) {
    const site = await openSite(folder)
    const context = await openProfile(site.url)
    return { ...site, context, page: await openShop(context, site.url) }
  }

  async function openShop(context: BrowserContext, url: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(url)
    await listed(page)
    return page
  }

  /** Ends the worker, as browsers do when it idles. */
  async function endWorker(page: Page): Promise<void> {
    const session = await page.context().newCDPSession(page)
    await session.send('ServiceWorker.enable')
    await session.send('ServiceWorker.stopAllWorkers')
  }

  it('lists, filters and adds pets', async () => {
    const { page } = await open()
    expect(await page.title()).toBe('Playground · petstore-sandbox')
    await page.getByRole('button', { name: 'sold', exact: true }).click()
    await page.waitForFunction("document.querySelectorAll('.pets .status:not(.sold)').length === 0")
    expect(await page.locator('.pets .sold').count()).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'all', exact: true }).click()
    await addPet(page, 'Rex the first')
    await page.getByText('61 pets in the sandbox').waitFor()
  })

  it('judges a client that waits, and one that does not', async () => {
    const { page } = await open()
    await page.getByLabel('Key').selectOption('sandbox-limited')
    await page.getByLabel('Retry-After').check()
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByRole('button', { name: 'Try now' }).waitFor()
    await page.getByText('follows the rules').waitFor()
    await page.getByLabel('None').check()
    await page.getByRole('button', { name: 'Try now' }).click()
    await page.getByText('violates the rules').waitFor()
    await page.getByRole('link', { name: 'early-retry' }).first().click()
    // What the finding is about, in the dashboard.
    await page.getByText('live', { exact: true }).waitFor()
    expect(page.url()).toContain('/__sandbox/#filter=id')
  })

  it('ends a wait when the clock is moved past it', async () => {
    const { page } = await open()
    await page.getByRole('button', { name: 'Ban it' }).click()
    await page.getByLabel('Retry-After').check()
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText(/^Waits (?:1:00|0:5\d) after try 1\./).waitFor()
    await page.getByRole('button', { name: '+1 min' }).click()
    await page.getByText('Last response: 200').waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
  })

  it('applies each override, and removes all of them', async () => {
    const { page } = await open()
    for (const [button, told] of [
      ['Start a storm', /^storm 70/],
      ['Ban it', /^sandbox-free banned/],
      ['Slow down', /^latency 800ms/],
      ['Break connections', /^1 fault/],
      ['+1 h', /^clock \+1 h/],
    ] as const) {
      await page.getByRole('button', { name: button }).click()
      await page.getByRole('listitem').filter({ hasText: told }).waitFor()
    }
    await page.getByRole('button', { name: 'All normal' }).click()
    await page.getByText('No overrides.').waitFor()
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

  it('works offline after the first visit: shop, dashboard and docs page', async () => {
    const { page, stop } = await open()
    await stop()
    await page.reload()
    await listed(page)
    await page.getByRole('link', { name: 'Dashboard', exact: true }).click()
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'API docs' }).click()
    await page.getByRole('heading', { name: 'Animal Store Service' }).first().waitFor()
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'GET /pets' }).first().click()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('heading', { name: /^Response 200/ }).waitFor()
  })

  it('shares one sandbox between all tabs, and shows the changes of each', async () => {
    const { url } = await openSite()
    const context = await openProfile(url)
    const [one, other] = [await openShop(context, url), await openShop(context, url)]
    const dashboard = await context.newPage()
    await dashboard.goto(`${url}__sandbox/`)
    await dashboard.getByText('live', { exact: true }).waitFor()
    await addPet(one, 'Seen by all')
    await other.getByText('61 pets in the sandbox').waitFor()
    await other.getByRole('button', { name: 'Reload' }).click()
    await other.getByRole('cell', { name: 'Seen by all' }).waitFor()
    await dashboard.getByText('createPet').first().waitFor()
  })

  it('keeps pets, quota, clock and bans when the browser ends its worker', async () => {
    const { page } = await open()
    await page.getByRole('button', { name: '+1 h' }).click()
    await page.getByText('clock +1 h').waitFor()
    await addPet(page, 'Long-lived')
    await page.getByRole('button', { name: 'Ban it' }).click()
    await page.getByText(/^sandbox-free banned/).waitFor()
    const before = await stateOf(page)
    await endWorker(page)
    const after = await stateOf(page)
    expect(after.counts).toEqual(before.counts)
    expect(after.keys.filter(isOrdinary)).toEqual(before.keys.filter(isOrdinary))
    expect(after.overrides).toEqual(before.overrides)
    expect(Date.parse(after.clock.now)).toBeGreaterThanOrEqual(Date.parse(before.clock.now))
    // The page follows the sandbox of the new worker.
    await page.evaluate(`fetch('v1/pets', {
      method: 'POST',
      headers: { authorization: 'Bearer sandbox-pro', 'content-type': 'application/json' },
      body: '{"name":"Next","categoryId":1}',
    })`)
    await page.getByText('62 pets in the sandbox').waitFor()
  })

  it('starts again with the next request after a shutdown', async () => {
    const { page } = await open()
    await addPet(page, 'Survivor')
    await page.evaluate("fetch('__sandbox/shutdown', { method: 'POST' })")
    await addPet(page, 'Newcomer')
    await page.getByText('62 pets in the sandbox').waitFor()
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
    await page.getByText('60 pets in the sandbox').waitFor()
  })

  it('works in memory, with a notice, if the browser keeps nothing', async () => {
    const folder = copyOfSite()
    const refusing = 'indexedDB.open = () => { throw new DOMException("The user denied it.", "SecurityError") };'
    writeFileSync(join(folder, 'sw.js'), refusing + readFileSync(join(folder, 'sw.js'), 'utf8'))
    const { page } = await open(folder)
    await page.getByText('This browser keeps nothing for the page').waitFor()
    await addPet(page, 'Short-lived')
    await page.getByText('61 pets in the sandbox').waitFor()
  })

  it('shows an error if the browser does not allow service workers', async () => {
    const { url } = await openSite()
    const context = await openProfile(url)
    await context.addInitScript("Object.defineProperty(Navigator.prototype, 'serviceWorker', { get: () => undefined })")
    const page = await context.newPage()
    await page.goto(url)
    await page.getByRole('alert').filter({ hasText: 'The sandbox needs a service worker' }).waitFor()
  })

  it('loads a newer version in all tabs on request, and keeps the pets', async () => {
    const folder = copyOfSite()
    const { url, restart } = await openSite(folder)
    const context = await openProfile(url)
    const [one, other] = [await openShop(context, url), await openShop(context, url)]
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
      await page.getByRole('cell', { name: 'Kept over versions' }).waitFor()
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
    await listed(page)
    expect(await page.getByText('A newer version').count()).toBe(0)
  })

  it('works after a forced reload, which bypasses the worker', async () => {
    const { page, context } = await open()
    const session = await context.newCDPSession(page)
    const loaded = page.waitForEvent('load')
    await session.send('Page.reload', { ignoreCache: true })
    await loaded
    await listed(page)
  })

  it.each(['', '__sandbox/', '__sandbox/docs/'])(
    'runs only its own scripts, without a policy of the web host: /%s',
    async (path) => {
      const site = await serveSite(playgroundDirectory, 0, '')
      onTestFinished(() => site.stop())
      // As it comes from the web host: the worker sends a policy of its own.
      const context = await browser.newContext({ serviceWorkers: 'block' })
      onTestFinished(() => context.close())
      const page = await context.newPage()
      await page.goto(`http://127.0.0.1:${site.port}/${path}`)
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

  it.skipIf(!HAS_NGINX)('works below any path of a web host, from any of its pages', async () => {
    const folder = copyOfSite()
    // As root, nginx drops its privileges and could not read the files.
    chmodSync(folder, 0o755)
    const port = await serveByNginx(folder, '/some/where/')
    const url = `http://127.0.0.1:${port}/some/where/`
    for (const first of ['__sandbox/', '__sandbox/docs', '']) {
      const context = await openProfile(url)
      const page = await context.newPage()
      await page.goto(url + first)
      if (first === '__sandbox/docs') {
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
      } else await listed(page)
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
    const page = await openShop(context, url)
    const look = async (what: string) => {
      expect(await axeViolations(page, colorScheme === 'dark' ? 'colours' : 'all'), what).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth'), what).toBe(width)
    }
    await look('at rest')
    await page.getByLabel('Key').selectOption('sandbox-limited')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByText('violates the rules').waitFor()
    for (const name of ['Start a storm', 'Ban it', 'Slow down', '+1 h'])
      await page.getByRole('button', { name }).click()
    await page
      .getByText(/^sandbox-limited banned|^latency/)
      .first()
      .waitFor()
    await look('in a storm')
  })
})

async function listed(page: Page): Promise<void> {
  await page.locator('.pets tbody tr').first().waitFor()
}

async function addPet(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Add a pet' }).click()
  await page.getByRole('cell', { name }).waitFor()
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

/** Serves a folder with nginx. @returns its port */
async function serveByNginx(folder: string, path: string): Promise<number> {
  const port = await freePort()
  const place = temporaryFolder()
  writeFileSync(
    join(place, 'nginx.conf'),
    `daemon off;
    pid ${place}/nginx.pid;
    events {}
    http {
      include /etc/nginx/mime.types;
      access_log off;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${place}/${name};`).join('\n')}
      server {
        listen 127.0.0.1:${port};
        location ${path} { alias ${folder}/; }
      }
    }`,
  )
  const child = spawn('nginx', ['-c', join(place, 'nginx.conf'), '-p', place, '-e', join(place, 'error.log')])
  onTestFinished(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  })
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined)
    if (answer !== undefined) return port
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`)
  }
}
