import { describe, expect, it } from 'vitest'
import fc from '../support/fast-check.js'
import { openSocket, startOnPort } from '../support/raw-http.js'
import { runs } from '../support/test-seed.js'
import { transports } from '../support/transports.js'

const method = fc.oneof(
  fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
  fc.stringMatching(/^[A-Z]{3,8}$/).filter((name) => !['CONNECT', 'TRACE', 'TRACK'].includes(name)),
)

const KNOWN = ['v1', 'pets', 'store', 'orders', '1', '..', '.', '', '%', '%00', '%2e%2e', '__proto__', 'constructor']
const pathPart = fc.oneof(fc.constantFrom(...KNOWN), fc.string())

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

const JSON_TYPE = 'application/json'
const OTHER_TYPES = ['', 'text/plain', 'a/b; c=d', `${JSON_TYPE}; charset=x`]
const contentType = fc.constantFrom(JSON_TYPE, JSON_TYPE, JSON_TYPE, ...OTHER_TYPES)
const prefer = fc.oneof(
  fc.constantFrom(undefined, 'code=429', 'code=', 'code="', 'code=1', ',;=,'),
  fc.stringMatching(/^[ -~]{0,20}$/),
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
      { numRuns: runs(500) },
    )
    expect(sandbox.warnings).toEqual([])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('whatever bytes come in', () => {
  it('are answered in the Error shape or closed, and the next client is served', async () => {
    const { port, baseUrl } = await startOnPort()
    const starts = ['GET /v1/pets HTTP/1.1\r\n', 'POST /v1/pets HTTP/1.1\r\n', 'GET ', 'Host: a\r\n', '\r\n']
    const bodies = ['Content-Length: -1\r\n', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n']
    const line = fc.constantFrom(...starts, ...bodies)
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.oneof(line, fc.string()), { maxLength: 8 }).map((parts) => new TextEncoder().encode(parts.join(''))),
    )
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        const socket = await openSocket(port)
        socket.end(sent)
        await new Promise((resolve) => socket.once('close', resolve))
        if (socket.received === '') return
        expect(socket.received).toMatch(/^HTTP\/1\.1 [245]\d\d /)
        expect(socket.received).toMatch(/\r\nX-RateLimit-Limit: \d+\r\n/)
      }),
      { numRuns: runs(500) },
    )
    expect((await fetch(`${baseUrl}/pets`, { headers: { authorization: 'Bearer sandbox' } })).status).toBe(200)
  })
})
