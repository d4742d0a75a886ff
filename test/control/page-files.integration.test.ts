import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { PAGE_FILES, servePageFile } from '../../src/control/pages.js'
import { pagesDirectory } from '../../src/system/package-files.js'

const ask = (headers: Record<string, string>) => new Request('http://localhost/', { headers })
const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer())

describe.each(Object.entries(PAGE_FILES))('%s', (_path, page) => {
  const plain = () => readFileSync(`${pagesDirectory}/${page.file}`)

  it('is compressed for clients that accept it', async () => {
    const br = servePageFile(page, ask({ 'accept-encoding': 'gzip, deflate, br' }))
    expect(br.headers.get('content-encoding')).toBe('br')
    expect(brotliDecompressSync(await bytes(br))).toEqual(plain())
    const gz = servePageFile(page, ask({ 'accept-encoding': 'gzip;q=0.5, br;q=0' }))
    expect(gz.headers.get('content-encoding')).toBe('gzip')
    expect(gunzipSync(await bytes(gz))).toEqual(plain())
    const whole = servePageFile(page, ask({}))
    expect(whole.headers.get('content-encoding')).toBeNull()
    expect(await bytes(whole)).toEqual(plain())
  })

  it('is not sent again while it is unchanged', async () => {
    const headers = { 'accept-encoding': 'br' }
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
