import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { PAGE_FILES, servePageFile } from '../../src/control/pages.js'
import { pagesDirectory } from '../../src/system/package-files.js'

const ask = (headers: Record<string, string>) => new Request('http://localhost/', { headers })
const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer())

describe.each(Object.entries(PAGE_FILES))('%s', (_path, page) => {
  const plain = () => readFileSync(`${pagesDirectory}/${page.file}`)

  it('is compressed for clients that accept it', async () => {
    for (const accepted of ['gzip, deflate, br', 'br;q=0, GZIP;q=0.5']) {
      const gz = servePageFile(page, ask({ 'accept-encoding': accepted }))
      expect(gz.headers.get('content-encoding')).toBe('gzip')
      expect(gunzipSync(await bytes(gz))).toEqual(plain())
    }
    for (const headers of [{}, { 'accept-encoding': 'br, gzip;q=0' }]) {
      const whole = servePageFile(page, ask(headers))
      expect(whole.headers.get('content-encoding')).toBeNull()
      expect(await bytes(whole)).toEqual(plain())
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
