import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { PAGE_FILES, servePageFile } from '../../src/control/pages.js'
import { startSandbox } from '../../src/index.js'
import { pagesDirectory } from '../../src/system/package-files.js'

const ask = (headers: Record<string, string>) => new Request('http://localhost/', { headers })
const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer())

describe.each(Object.entries(PAGE_FILES))('%s', (_path, page) => {
  const plain = () => gunzipSync(readFileSync(`${pagesDirectory}/${page.file}.gz`))

  it('is compressed for clients that accept it', async () => {
    for (const accepted of ['gzip, deflate, br', 'br;q=0, GZIP;q=0.5']) {
      const gz = servePageFile(page, ask({ 'accept-encoding': accepted }))
      expect(gz.headers.get('content-encoding')).toBe('gzip')
      expect(Object.fromEntries(gz.headers)).toMatchObject({
        vary: 'Accept-Encoding',
        'x-content-type-options': 'nosniff',
      })
      expect(gunzipSync(await bytes(gz)).equals(plain())).toBe(true)
    }
    for (const headers of [{}, { 'accept-encoding': 'br, gzip;q=0' }]) {
      const whole = servePageFile(page, ask(headers))
      expect(whole.headers.get('content-encoding')).toBeNull()
      expect((await bytes(whole)).equals(plain())).toBe(true)
    }
  })

  it('is not sent again while it is unchanged', async () => {
    const headers = { 'accept-encoding': 'gzip' }
    const first = servePageFile(page, ask(headers))
    const tag = first.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[^"]+"$/)
    const again = servePageFile(page, ask({ ...headers, 'if-none-match': `"other", ${tag}` }))
    expect([again.status, (await bytes(again)).length, again.headers.get('etag')]).toEqual([304, 0, tag])
    expect(again.headers.get('content-security-policy')).toBe(first.headers.get('content-security-policy'))
    // Another encoding is another representation.
    expect(servePageFile(page, ask({ 'if-none-match': tag })).status).toBe(200)
  })
})

describe('the pages', () => {
  it.each(['/', '/docs'])('lets %s load from its own server only', async (path) => {
    await using sandbox = await startSandbox()
    const policy = (await fetch(sandbox.controlUrl + path)).headers.get('Content-Security-Policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toMatch(/unsafe-eval|https?:|\*/)
  })

  it.each(['/state', '/nothing', '/openapi.yaml', '/docs/spec.md', '/assets/dashboard.js'])(
    'has browsers not guess the type of %s',
    async (path) => {
      await using sandbox = await startSandbox()
      const { headers } = await fetch(sandbox.controlUrl + path)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    },
  )

  it('redirects browsers at the bare address, but no other client', async () => {
    await using sandbox = await startSandbox()
    const root = new URL('/', sandbox.baseUrl)
    const context = (accept: string) => fetch(root, { redirect: 'manual', headers: { Accept: accept } })
    const browser = await context('text/html,application/xhtml+xml,*/*;q=0.8')
    expect([browser.status, browser.headers.get('Location')]).toEqual([302, '/__sandbox/'])
    expect((await context('*/*')).status).toBe(404)
    expect((await sandbox.requests()).length).toBe(1)
  })

  it('are served without the control token, which they prompt for', async () => {
    await using sandbox = await startSandbox({ controlToken: 'secret' })
    expect((await fetch(sandbox.controlUrl)).url).toBe(`${sandbox.controlUrl}/`)
    expect((await fetch(`${sandbox.controlUrl}/`)).status).toBe(200)
    expect((await fetch(`${sandbox.controlUrl}/assets/dashboard.js`)).status).toBe(200)
    expect((await fetch(`${sandbox.controlUrl}/openapi.json`)).status).toBe(401)
    expect((await fetch(`${sandbox.controlUrl}/state`)).status).toBe(401)
  })
})
