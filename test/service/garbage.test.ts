import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startSandbox } from '../../src/index.js'
import fc from '../support/fast-check.js'
import { transports } from '../support/transports.js'

const method = fc.oneof(
  fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
  fc.stringMatching(/^[A-Z]{3,8}$/).filter((name) => !['CONNECT', 'TRACE', 'TRACK'].includes(name)),
)

const pathPart = fc.oneof(
  fc.constantFrom(
    'v1',
    'pets',
    'store',
    'orders',
    '1',
    '..',
    '.',
    '',
    '%',
    '%00',
    '%2e%2e',
    '__proto__',
    'constructor',
  ),
  fc.string(),
)

const target = fc
  .tuple(fc.array(pathPart, { maxLength: 5 }), fc.option(fc.string(), { nil: undefined }))
  .map(([parts, query]) => `/${parts.join('/')}${query === undefined ? '' : `?${query}`}`)

const body = fc.oneof(
  fc.json(),
  fc.string(),
  fc.constantFrom('{"__proto__":{"polluted":true}}', '{"name":"a","categoryId":1e999999999}', '\u0000', '[]', '{'),
  fc
    .record({ name: fc.anything(), categoryId: fc.anything(), status: fc.anything() })
    .map((value) => String(JSON.stringify(value) ?? '')),
)

const contentType = fc.oneof(
  fc.constant('application/json'),
  fc.constantFrom('', 'text/plain', 'a/b; c=d', 'application/json; charset=x'),
)
const prefer = fc.option(
  fc.oneof(fc.constantFrom('code=429', 'code=', 'code="', 'code=1', ',;=,'), fc.stringMatching(/^[ -~]{0,20}$/)),
  { nil: undefined },
)

const request = fc.record({ method, target, body, contentType, prefer })

describe.each(transports)('whatever a client sends, %s', (_name, openSandbox) => {
  it('is answered, with the rate-limit headers, and as an Error unless it is right', async () => {
    const sandbox = await openSandbox({ rateLimit: false, anyKey: true })
    await fc.assert(
      fc.asyncProperty(request, async ({ method, target, body, contentType, prefer }) => {
        let path: string
        try {
          const url = new URL(`http://sandbox${target}`)
          path = url.pathname + url.search
        } catch {
          return
        }
        if (path.startsWith('/__sandbox')) return
        const seen = await sandbox.call(path, {
          method,
          headers: { 'content-type': contentType, ...(prefer === undefined ? {} : { prefer }) },
          ...(method === 'GET' || method === 'HEAD' ? {} : { body }),
        })
        expect([seen.limit, seen.remaining, seen.reset].every(Number.isInteger)).toBe(true)
        if (seen.status >= 400 && method !== 'HEAD') {
          expect(seen.json).toEqual({ code: expect.any(String), message: expect.any(String), status: seen.status })
        }
        if (seen.status >= 500) expect(seen.reason).toBe('forced')
      }),
      { numRuns: 300 },
    )
    expect(sandbox.warnings).toEqual([])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('whatever bytes come in', () => {
  it('are answered in the Error shape or closed, and the next client is served', async () => {
    await using sandbox = await startSandbox()
    const port = Number(new URL(sandbox.baseUrl).port)
    const send = (bytes: Uint8Array) =>
      new Promise<string>((resolve) => {
        const socket = connect(port, '127.0.0.1')
        let got = ''
        socket.on('data', (chunk) => {
          got += chunk
        })
        socket.on('error', () => resolve(got))
        socket.on('close', () => resolve(got))
        socket.end(bytes)
      })
    const line = fc.constantFrom(
      'GET /v1/pets HTTP/1.1\r\n',
      'POST /v1/pets HTTP/1.1\r\n',
      'GET ',
      'Host: a\r\n',
      '\r\n',
      'Content-Length: -1\r\n',
      'Transfer-Encoding: chunked\r\n',
      '5\r\nhello\r\n',
    )
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.oneof(line, fc.string()), { maxLength: 8 }).map((parts) => new TextEncoder().encode(parts.join(''))),
    )
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        const got = await send(sent)
        if (got === '') return
        expect(got).toMatch(/^HTTP\/1\.1 [245]\d\d /)
        expect(got).toMatch(/\r\nX-RateLimit-Limit: \d+\r\n/)
      }),
      { numRuns: 200 },
    )
    expect((await fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })).status).toBe(200)
  })
})
