import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { startSandbox } from '../../src/index.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { HAS_CHROMIUM } from '../support/browsers.js'
import { type ContextOptions, useBrowser } from './browser.js'

const dist = join(packageDirectory, 'dist')

type Package = typeof import('../../src/browser/index.js') & typeof import('../../src/browser/client.js')

declare global {
  /** The package's exports. */
  var petstore: Package
}

const PAGE = `<!doctype html><link rel=icon href=data:,><script type=module>
import * as sandbox from '/browser.js'
import * as client from '/client.js'
globalThis.petstore = { ...sandbox, ...client }
</script>`

const text = { type: 'string' }
const object = (properties: object) => ({ type: 'object', required: Object.keys(properties), properties })
const json = (schema: object, more: object = {}) => ({
  description: '',
  content: { 'application/json': { schema, ...more } },
})
const opens = { ...text, pattern: '^\\d\\d:\\d\\d$' }
const room = object({ id: { type: 'integer' }, name: text, opens })
const ROOMS = {
  openapi: '3.1.0',
  info: { title: 'Rooms', version: '1' },
  security: [{ key: [] }],
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  paths: {
    '/login': { post: { security: [], responses: { 200: json(object({ access_token: text })) } } },
    '/rooms': {
      get: { responses: { 200: json({ type: 'array', items: room }) } },
      post: {
        requestBody: json({ ...room, required: ['name'], properties: { name: text, opens } }),
        responses: {
          201: json(room),
          422: json(
            object({ detail: { type: 'array', items: object({ loc: { type: 'array', items: text }, msg: text }) } }),
          ),
        },
      },
    },
    '/users': {
      get: { responses: { 200: json({ type: 'array', items: object({ id: { type: 'integer' }, email: text }) }) } },
    },
    '/report': { get: { responses: { 200: json(object({ rooms: { type: 'integer' } }), { example: { rooms: 7 } }) } } },
  },
}

/** A file with all of its static imports. */
function loadedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found
  found.add(file)
  const text = readFileSync(join(dist, file), 'utf8')
  for (const [, name = ''] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) loadedWith(name, found)
  return found
}

function gzipped(files: Iterable<string>): number {
  return [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0)
}

describe('the code that a page loads', () => {
  it('is at most 84 kB for a sandbox, and a tenth of that for a remote one', () => {
    const [sandbox, client] = [gzipped(loadedWith('browser.js')), gzipped(loadedWith('client.js'))]
    process.stderr.write(`petstore-sandbox/browser has ${sandbox} bytes gzipped, /client ${client}\n`)
    expect(sandbox).toBeLessThanOrEqual(84_000)
    expect(client).toBeLessThanOrEqual(8_000)
  })

  it('contains no Node module, even in lazy parts', () => {
    const files = readdirSync(dist).filter((file) => /^(?:browser|client)(?:-.*)?\.js$/.test(file))
    expect(files.length).toBeGreaterThan(3)
    const asked = files.flatMap((file) => [
      ...readFileSync(join(dist, file), 'utf8').matchAll(/(?<!")(?:from|import)\s*\(?\s*"([^"]+)"(?=[;,)\n]|$)/g),
    ])
    expect(asked.map(([, name = '']) => name).filter((name) => !name.startsWith('./'))).toEqual([])
  })
})

/** Bundles code that imports the package. */
async function bundle(contents: string) {
  const { metafile, warnings } = await build({
    stdin: { contents, resolveDir: packageDirectory },
    absWorkingDir: packageDirectory,
    bundle: true,
    platform: 'browser',
    format: 'esm',
    metafile: true,
    write: false,
    outdir: 'out',
    logLevel: 'silent',
  })
  return { files: Object.keys(metafile.inputs), warnings: warnings.map(({ text }) => text) }
}

describe('the package in a browser bundle', () => {
  it.each(['', '/browser', '/client', '/msw'])('bundles without a warning: petstore-sandbox%s', async (entry) => {
    expect(await bundle(`export * from 'petstore-sandbox${entry}'`)).toMatchObject({ warnings: [] })
  })

  it('contains only the client for the Node import', async () => {
    const { files } = await bundle(`import { connectSandbox } from 'petstore-sandbox'; connectSandbox('/')`)
    expect(files.filter((file) => !/^(?:<stdin>|dist\/client(?:-\w+)*\.js)$/.test(file))).toEqual([])
    expect(files).toContain('dist/client.js')
  })
})

describe.skipIf(!HAS_CHROMIUM)('the package in a page', () => {
  const site = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site')
    if (pathname === '/') {
      response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
      return
    }
    response.writeHead(200, { 'content-type': 'text/javascript' })
    createReadStream(join(dist, pathname.slice(1))).pipe(response)
  })
  const browser = useBrowser()
  let origin = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  })
  afterAll(() => void site.close())

  async function openPage(options: ContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(origin, options)).newPage()
    await page.goto(origin)
    await page.waitForFunction(() => 'petstore' in globalThis)
    return page
  }

  it('responds with a handler, and changes nothing if that throws', async () => {
    const page = await openPage()
    const seen = await page.evaluate(async () => {
      const sandbox = await globalThis.petstore.createSandbox()
      const space = sandbox.space('shop')
      await space.handle('getPet', ({ records }) => {
        const { name } = records.set('pets', 1, { name: 'Rex' })
        if (records.list('pets').length > 60) throw new Error('too many')
        records.add('pets', { name: 'Bo', categoryId: 1 })
        return { body: name }
      })
      const init = { headers: { authorization: 'Bearer sandbox' } }
      const ask = async () => (await space.fetch(`${space.baseUrl}/pets/1`, init)).text()
      return [await ask(), await ask(), (await space.records.list('pets')).length]
    })
    expect(seen).toEqual(['"Rex"', expect.stringContaining('The handler of getPet failed: too many'), 61])
  })

  it.each(['object', 'JSON', 'YAML'])('serves a contract of its own, given as %s', async (form) => {
    const page = await openPage()
    const spec = form === 'object' ? ROOMS : form === 'JSON' ? JSON.stringify(ROOMS) : stringify(ROOMS)
    const seen = await page.evaluate(async (own) => {
      const sandbox = await globalThis.petstore.createSandbox({ spec: own, generate: ['users=3'], seed: 1 })
      const ask = async (path: string, body?: object, token = 'sandbox') => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
        const init = { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }
        const response = await sandbox.fetch(sandbox.baseUrl + path, init)
        const json = Object(await response.json())
        return { status: response.status, reason: response.headers.get('x-sandbox-reason'), json }
      }
      const [created, invalid, login] = [
        await ask('/rooms', { name: 'Blue', opens: '09:30' }),
        await ask('/rooms', { opens: 'late' }),
        await ask('/login', {}),
      ]
      return {
        ...{ created, invalid, login },
        list: await ask('/rooms', undefined, login.json.access_token),
        users: (await ask('/users')).json.length,
        report: await ask('/report'),
        state: (await sandbox.records.list('rooms')).length,
        saved: (await sandbox.save()).length > 0,
      }
    }, spec)
    const room = { id: 1, name: 'Blue', opens: '09:30' }
    expect(seen).toEqual({
      created: { status: 201, reason: null, json: room },
      invalid: {
        status: 422,
        reason: null,
        json: {
          detail: [
            { loc: ['body', 'name'], msg: 'name is required' },
            { loc: ['body', 'opens'], msg: expect.stringContaining('must match') },
          ],
        },
      },
      login: { status: 200, reason: 'mock', json: { access_token: expect.stringMatching(/^sandbox-login-1-/) } },
      list: { status: 200, reason: null, json: [room] },
      users: 3,
      report: { status: 200, reason: 'mock', json: { rooms: 7 } },
      state: 1,
      saved: true,
    })
  })

  it.each([
    [{ openapi: '3.1.0', info: {}, paths: { things: {} } }, 'SpecError spec: paths.things must begin with "/"'],
    ['openapi: {\n', 'SpecError spec is not valid YAML'],
    ['openapi.yaml', 'SpecError spec "openapi.yaml" is a name, but a page has no files'],
  ])('says where a contract is wrong: %j', async (spec, message) => {
    const page = await openPage()
    const refused = (own: object | string) =>
      globalThis.petstore.createSandbox({ spec: own }).catch((error) => `${error.name} ${error.message}`)
    expect(await page.evaluate(refused, spec)).toContain(message)
  })

  it('is saved to bytes, and continues from them in another page', async () => {
    const page = await openPage()
    const options = { now: '2026-03-01T12:00:00Z', freeze: true, seed: 7, storm: '0.5' } as const
    const bytes = await page.evaluate(async (given) => {
      const { createSandbox } = globalThis.petstore
      const sandbox = await createSandbox(given)
      const headers = { authorization: 'Bearer sandbox' }
      for (let i = 0; i < 40; i++) await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers })
      await sandbox.snapshots.save('here')
      const saved = await sandbox.save()
      const next = await Promise.all(
        Array.from({ length: 10 }, async () => (await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers })).status),
      )
      return { saved: [...saved], next }
    }, options)
    const restored = await page.evaluate(
      async ([given, saved]) => {
        const { createSandbox } = globalThis.petstore
        const sandbox = await createSandbox({ ...given, restore: new Uint8Array(saved) })
        const again = [...(await sandbox.save())]
        const headers = { authorization: 'Bearer sandbox' }
        const { requests } = await sandbox.conduct()
        const next = await Promise.all(
          Array.from({ length: 10 }, async () => (await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers })).status),
        )
        return { again, next, requests, snapshots: await sandbox.snapshots.list() }
      },
      [options, bytes.saved] as const,
    )
    expect(restored).toEqual({ again: bytes.saved, next: bytes.next, requests: 40, snapshots: ['here'] })
    expect(bytes.next).toContain(429)
  })

  it('controls a remote sandbox whose control plane allows the page', async () => {
    await using sandbox = await startSandbox({ controlOrigin: origin })
    const page = await openPage({ allowed: /./ })
    const seen = await page.evaluate(async (url) => {
      const remote = globalThis.petstore.connectSandbox(url)
      await remote.settings.change({ plan: 'pro' })
      const refused = await remote.ban('nobody').catch((error) => `${error.name} ${error.code}`)
      return { plan: (await remote.settings.show()).plan, refused }
    }, sandbox.controlUrl)
    expect(seen).toEqual({ plan: 'pro', refused: 'ControlError not_found' })
  })

  it('refuses options that need a disk, a port or Prism', async () => {
    const page = await openPage()
    const refusals = await page.evaluate(() =>
      Promise.all(
        [
          { port: 4010 },
          { store: './pets.json', mock: ['listPets'] },
          { scenario: './mine.yaml' },
          { restore: new Uint8Array(9) },
        ].map((options: object) =>
          globalThis.petstore.createSandbox(options).then(
            () => 'opened',
            (error) => `${error.code}: ${error.message}`,
          ),
        ),
      ),
    )
    expect(refusals).toEqual([
      'INVALID_OPTIONS: port "4010": needs a port, which is not available in a browser; remove the option',
      expect.stringMatching(/^INVALID_OPTIONS: store "\.\/pets\.json": needs a disk.*\nmock .*: needs Prism/),
      expect.stringMatching(/^INVALID_OPTIONS: scenario "\.\/mine\.yaml": the file cannot be read/),
      expect.stringMatching(/^INVALID_OPTIONS: restore: cannot be read .*; remove it to start over$/),
    ])
  })
})
