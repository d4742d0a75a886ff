import { mkdirSync, writeFileSync } from 'node:fs'
import { request as send } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveSite } from '../../src/http/static-site.js'
import { temporaryFolder } from '../support/temporary-files.js'

interface Answer {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

async function open() {
  const above = temporaryFolder()
  const folder = join(above, 'site')
  mkdirSync(join(folder, 'inside'), { recursive: true })
  writeFileSync(join(above, 'secret.txt'), 'not for you')
  writeFileSync(join(folder, 'index.html'), '<h1>Hello</h1>')
  writeFileSync(join(folder, 'inside/index.html'), '<h1>Inside</h1>')
  writeFileSync(join(folder, 'sw.js'), '// a worker')
  const site = await serveSite(folder, 0, "default-src 'none'")
  onTestFinished(() => site.stop())
  const ask = (path: string, { method = 'GET', host = `127.0.0.1:${site.port}`, headers = {} } = {}) =>
    new Promise<Answer>((resolve, reject) => {
      // Not fetch, which would make `..` of a path nothing.
      const options = { port: site.port, host: '127.0.0.1', path, method, headers: { host, ...headers } }
      const request = send(options, async (response) => {
        const body = (await response.toArray()).join('')
        resolve({ status: response.statusCode, headers: response.headers, body })
      })
      request.on('error', reject)
      request.end()
    })
  return { site, ask }
}

describe('a served folder', () => {
  it('is sent with media types, a policy, and revalidation', async () => {
    const { ask } = await open()
    const page = await ask('/')
    expect(page).toMatchObject({
      status: 200,
      body: '<h1>Hello</h1>',
      headers: {
        'content-type': 'text/html;charset=utf-8',
        'content-security-policy': "default-src 'none'",
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
      },
    })
    expect((await ask('/inside/')).body).toBe('<h1>Inside</h1>')
    const worker = await ask('/sw.js')
    expect(worker).toMatchObject({ body: '// a worker', headers: { 'content-type': 'text/javascript' } })
    expect((await ask('/sw.js', { headers: { 'if-none-match': String(worker.headers.etag) } })).status).toBe(304)
  })

  it('does not expose files outside of it', async () => {
    const { ask } = await open()
    for (const path of ['/../secret.txt', '/%2e%2e/secret.txt', '/inside/../../secret.txt', '/missing', '/%00'])
      expect((await ask(path)).status, path).toBe(404)
    expect(await ask('/', { method: 'POST' })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  it('is refused for other hosts, to prevent DNS rebinding', async () => {
    const { ask } = await open()
    expect((await ask('/', { host: 'evil.example' })).status).toBe(403)
    expect((await ask('/', { host: 'localhost:4020' })).status).toBe(200)
  })
})
