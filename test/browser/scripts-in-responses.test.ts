import { createServer } from 'node:http'
import puppeteer from 'puppeteer-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { FIREFOX, HAS_CHROMIUM, HAS_FIREFOX } from '../support/browsers.js'
import { listenLocally } from '../support/listen-locally.js'
import { temporaryFile } from '../support/temporary-files.js'
import { openBrowser } from './browser.js'

const KEY = 'api_key=sandbox'
// Synchronous requests, so that both are sent before the page is loaded.
const SCRIPT = `for (const [method, path] of [['GET', '/v1/pets?ran&${KEY}'], ['PATCH', '/__sandbox/settings']]) {
  const request = new XMLHttpRequest();
  request.open(method, path, false);
  try { request.send(method === 'GET' ? null : '{"sunset":"after"}') } catch {}
}`
const HTML = `<!doctype html><script>${SCRIPT}</script>`
const XHTML = `<html xmlns="http://www.w3.org/1999/xhtml"><head><script><![CDATA[${SCRIPT}]]></script></head></html>`
const SVG = `<svg xmlns="http://www.w3.org/2000/svg"><script><![CDATA[${SCRIPT}]]></script></svg>`

const PAGES: readonly (readonly [type: string | undefined, body: string])[] = [
  ['text/html', HTML],
  ['text/html; charset=utf-16', HTML],
  ['text/plain, text/html', HTML],
  ['application/xhtml+xml', XHTML],
  ['text/xml', XHTML],
  ['image/svg+xml', SVG],
  ['multipart/x-mixed-replace; boundary=b', `--b\r\nContent-Type: text/html\r\n\r\n${HTML}\r\n--b--\r\n`],
  ['nonsense', HTML],
  [undefined, HTML],
  ['', HTML],
]

/** A browser opens each page as a website would send it there. */
const BROWSERS = [
  { name: 'Chromium', has: HAS_CHROMIUM, launch: openBrowser },
  {
    name: 'Firefox',
    has: HAS_FIREFOX,
    launch: () => puppeteer.launch({ browser: 'firefox', executablePath: FIREFOX, headless: true }),
  },
]

describe.each(BROWSERS.filter(({ has }) => has))('scripts in responses of the service, in $name', ({ launch }) => {
  it.each(['a fault', 'a mocked operation', 'a real service'])('do not run, from %s', async (source) => {
    const browser = await launch()
    onTestFinished(() => browser.close())
    for (const [type, body] of PAGES) {
      if (source === 'a mocked operation' && !/^(?:text|application|image)\/[\w+]+$/.test(type ?? '')) continue
      const sandbox = await open(source, type, body)
      const page = await browser.newPage()
      await page.goto(`${sandbox.baseUrl}/page?${KEY}`)
      const paths = (await sandbox.requests()).map(({ path }) => path)
      expect([type, ...paths.filter((path) => path !== '/favicon.ico')]).toEqual([type, '/v1/page'])
      expect(await sandbox.settings.show()).toMatchObject({ sunset: 'auto' })
      await sandbox.close()
    }
  })
})

async function open(source: string, type: string | undefined, body: string) {
  const [info, security] = [{ title: 'Pages', version: '1' }, [{ key: [] }]]
  const securitySchemes = { key: { type: 'apiKey', in: 'query', name: 'api_key' } }
  const content = { [source === 'a mocked operation' ? String(type) : 'text/html']: { example: body } }
  const paths = { '/page': { get: { operationId: 'page', responses: { 200: { description: '', content } } } } }
  const contract = {
    openapi: '3.0.3',
    info,
    servers: [{ url: '/v1' }],
    components: { securitySchemes },
    security,
    paths,
  }
  const spec = temporaryFile('pages.json', JSON.stringify(contract))
  const headers = type === undefined ? {} : { 'Content-Type': type }
  if (source !== 'a real service') {
    const sandbox = await startSandbox({ spec })
    if (source === 'a fault')
      await sandbox.faults.set([{ operation: 'page', fault: 'status', status: 200, body, headers }])
    return sandbox
  }
  const real = createServer((_request, response) => response.writeHead(200, headers).end(body))
  const key = temporaryFile('key', 'real')
  return startSandbox({ spec, upstream: `${await listenLocally(real)}/v1`, upstreamApiKeyFile: key })
}
