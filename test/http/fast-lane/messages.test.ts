import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MAX_PLAIN_HEAD_BYTES, type PlainHead, readPlainRequest } from '../../../src/http/fast-lane/messages.js'
import fc from '../../support/fast-check.js'

const GET = 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer sandbox\r\n\r\n'
const POST = 'POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'

function read(text: string, before?: PlainHead) {
  return readPlainRequest(Buffer.from(text, 'latin1'), before, MAX_PLAIN_HEAD_BYTES)
}

describe('a plain request', () => {
  it('is read with its header fields, by name and as received', () => {
    expect(read(GET)).toMatchObject({
      head: {
        method: 'GET',
        target: '/v1/pets',
        headers: { host: 'a', authorization: 'Bearer sandbox' },
        rawHeaders: ['Host', 'a', 'Authorization', 'Bearer sandbox'],
      },
      body: undefined,
    })
  })

  it('is read with its body', () => {
    expect(read(POST)).toMatchObject({ head: { method: 'POST' }, body: Buffer.from('{}') })
  })

  it('keeps the connection open with and without Connection: keep-alive', () => {
    expect(read(GET.replace('\r\n\r\n', '\r\nConnection: Keep-Alive\r\n\r\n'))).toBeDefined()
  })

  it('reuses the head, or the fields, of the previous request if they are the same', () => {
    const before = read(GET)?.head
    expect(read(GET, before)?.head).toBe(before)
    const another = read(GET.replace('/pets', '/pets/1'), before)?.head
    expect(another).toMatchObject({ target: '/v1/pets/1' })
    expect(another?.headers).toBe(before?.headers)
    expect(read(POST, before)?.head).toEqual(read(POST)?.head)
  })
})

describe('requests for node:http', () => {
  it.each([
    ['a part of a head', GET.slice(0, -2)],
    ['a part of a body', POST.slice(0, -1)],
    ['a body of chunks', POST.replace('Content-Length: 2', 'Transfer-Encoding: chunked')],
    ['a body without a length', POST.replace('Content-Length: 2\r\n', '')],
    ['a body of a GET', POST.replace('POST', 'GET')],
    ['two lengths', POST.replace('Content-Length', 'Content-Length: 2\r\nContent-Length')],
    ['the absolute form', GET.replace('/v1', 'http://a/v1')],
    ['no Host', GET.replace('Host: a\r\n', '')],
    ['a last request', GET.replace('Host', 'Connection: close\r\nHost')],
    ['an upgrade', GET.replace('Host', 'Connection: Upgrade\r\nUpgrade: websocket\r\nHost')],
    ['an expectation', POST.replace('Host', 'Expect: 100-continue\r\nHost')],
    ['a repeated field', GET.replace('Host', 'X-A: 1\r\nx-a: 2\r\nHost')],
    ['a list of fields', GET.replace('Host', 'Set-Cookie: a=1\r\nHost')],
    ['a name on Object.prototype', GET.replace('Host', 'Constructor: 1\r\nHost')],
    ['a folded field', GET.replace('Host: a', 'Host: a\r\n b')],
    ['a bare line feed', GET.replace('Host: a\r\n', 'Host: a\n')],
    ['a blank before the colon', GET.replace('Host:', 'Host :')],
    ['non-ASCII text', GET.replace('sandbox', 'sandb\xf6x')],
    ['a control character', GET.replace('sandbox', 'sand\x01box')],
    ['a long head', GET.replace('Host', `X-A: ${'a'.repeat(9000)}\r\nHost`)],
    ['many fields', GET.replace('Host', `${Array.from({ length: 100 }, (_, i) => `X-${i}: 1\r\n`).join('')}Host`)],
  ])('is %s', (_what, text) => {
    expect(read(text)).toBeUndefined()
    expect(read(text, read(GET)?.head)).toBeUndefined()
    expect(read(text, read(POST)?.head)).toBeUndefined()
  })
})

/** The gate runs more. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 2000)

describe('every plain request', () => {
  const pick = (...texts: string[]) => fc.constantFrom(...texts)
  const mostly = (usual: fc.Arbitrary<string>, ...others: fc.Arbitrary<string>[]) =>
    fc.oneof({ weight: 12, arbitrary: usual }, ...others.map((arbitrary) => ({ weight: 1, arbitrary })))
  const printable = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) })
  const anyByte = fc.string({ unit: fc.integer({ min: 0, max: 0xff }).map((code) => String.fromCharCode(code)) })
  const field = fc
    .tuple(
      mostly(
        pick('Accept', 'accept', 'X-Trace', 'Cookie', 'Referer', 'Prefer', 'Content-Type', 'User-Agent', 'If-Match'),
        pick('Connection', 'Set-Cookie', 'Transfer-Encoding', 'Content-Length', 'Host', 'Keep-Alive', 'TE', 'Via'),
        pick('__proto__', 'constructor', 'toString', 'x_y', 'x.y', ''),
      ),
      mostly(pick(': '), pick(':', ':  ', ' : ', ':\t')),
      mostly(printable, anyByte, pick('keep-alive', 'close', 'chunked', '5', ' a ', '')),
      mostly(pick('\r\n'), pick('\n', '\r\n ', '\r')),
    )
    .map((parts) => parts.join(''))
  const request = fc
    .tuple(
      mostly(pick('GET', 'POST'), pick('HEAD', 'PUT', 'get', 'G')),
      mostly(
        printable.map((text) => `/${text.replaceAll(' ', '')}`),
        printable,
        anyByte.map((text) => `/${text}`),
      ),
      mostly(pick('HTTP/1.1'), pick('HTTP/1.0', 'HTTP/1.10', 'http/1.1')),
      fc.uniqueArray(field, { maxLength: 6, selector: (text) => text.slice(0, 4).toLowerCase() }),
      fc.oneof(fc.constant(''), printable, anyByte),
      mostly(pick('right'), pick('none', 'wrong')),
      mostly(pick(''), pick('\r\n', GET, ' ')),
    )
    .map(([method, target, version, fields, body, length, more]) => {
      const isBodied = method !== 'GET'
      const stated = { right: isBodied ? body.length : undefined, none: undefined, wrong: body.length + 1 }[length]
      const lengthField = stated === undefined ? '' : `Content-Length: ${stated}\r\n`
      return `${method} ${target} ${version}\r\nHost: a\r\n${lengthField}${fields.join('')}\r\n${isBodied ? body : ''}${more}`
    })

  it.each([MAX_PLAIN_HEAD_BYTES, 80])(
    'is parsed equally by node:http, as one complete request on an open connection: heads up to %i bytes',
    async (maxHead) => {
      const got: { readonly request: IncomingMessage; readonly body: Buffer; readonly isLast: boolean }[] = []
      const server = createServer({ maxHeaderSize: maxHead }, async (request, response) => {
        const body = Buffer.concat(await request.toArray())
        got.push({ request, body, isLast: !response.shouldKeepAlive })
        response.end()
      })
      server.on('clientError', (_error, socket) => socket.destroy())
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      onTestFinished(() => void server.close())
      const { port } = server.address() as AddressInfo
      let before: PlainHead | undefined
      let plain = 0
      await fc.assert(
        fc.asyncProperty(request, async (text) => {
          const bytes = Buffer.from(text, 'latin1')
          const ours = readPlainRequest(bytes, before, maxHead)
          if (ours === undefined) return
          plain++
          before = ours.head
          got.length = 0
          const socket = connect(port, '127.0.0.1').setNoDelay(true)
          socket.write(bytes)
          await Promise.race([once(socket, 'data'), once(socket, 'close')])
          socket.destroy()
          expect(got).toHaveLength(1)
          const [theirs] = got
          const { method, target, headers, rawHeaders } = ours.head
          expect({ method, target, headers, rawHeaders, body: ours.body ?? Buffer.alloc(0), isLast: false }).toEqual({
            method: theirs?.request.method,
            target: theirs?.request.url,
            headers: theirs?.request.headers,
            rawHeaders: theirs?.request.rawHeaders,
            body: theirs?.body,
            isLast: theirs?.isLast,
          })
        }),
        { numRuns: RUNS, seed: 20261122 },
      )
      expect(plain).toBeGreaterThan(RUNS / 20)
    },
  )
})
