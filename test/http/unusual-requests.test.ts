import { once } from 'node:events'
import { expect, it } from 'vitest'
import { KEYED, openSocket, startOnPort, statusesIn, turns } from '../support/raw-http.js'

const TYPED = `${KEYED}Content-Type: application/json\r\n`
const PET = '{"name":"unusual","categoryId":1}'
const SIZE = PET.length.toString(16)
const ONE = `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}\r\n`
const post = (headers = '') => `POST /v1/pets HTTP/1.1\r\n${TYPED}${headers}Content-Length: ${PET.length}\r\n\r\n${PET}`
const chunked = (size: string, end = '0\r\n\r\n', headers = '') =>
  `POST /v1/pets HTTP/1.1\r\n${TYPED}${headers}Transfer-Encoding: chunked\r\n\r\n${size}\r\n${PET}\r\n${end}`
const H2C = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n'

/** Right or at least lawful HTTP that few clients send, and the statuses that must come back in this order. */
const UNUSUAL: readonly (readonly [what: string, sent: string, statuses: readonly number[]])[] = [
  ['ten in a row', ONE.repeat(10), Array.from({ length: 10 }, () => 200)],
  ['a read after a write', post() + ONE, [201, 200]],
  ['Expect: 100-continue', post('Expect: 100-continue\r\n'), [100, 201]],
  ['chunks with extensions', chunked(`${SIZE};a=b;c="d"`), [201]],
  ['trailers', chunked(SIZE, '0\r\nX-Sum: 1\r\n\r\n', 'Trailer: X-Sum\r\n') + ONE, [201, 200]],
  [
    'a trailer that says who calls',
    `GET /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nAuthorization: Bearer sandbox\r\n\r\n`,
    [401],
  ],
  ['a folded header', `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}X-Fold: a\r\n b\r\n\r\n`, [400]],
  ['absolute form', `GET http://any.example/v1/pets/1 HTTP/1.1\r\n${KEYED}\r\n`, [200]],
  ['absolute form of the control plane', `GET http://127.0.0.1/__sandbox/keys HTTP/1.1\r\n${KEYED}\r\n`, [200]],
  ['the same for another host', `GET http://evil.example/__sandbox/keys HTTP/1.1\r\n${KEYED}\r\n`, [403]],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${KEYED}\r\n`, [404]],
  ['TRACE', `TRACE /v1/pets HTTP/1.1\r\n${KEYED}\r\n`, [405]],
  ['an unknown method', `BREW /v1/pets HTTP/1.1\r\n${KEYED}\r\n`, [400]],
  ['a wish for h2c', `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}${H2C}\r\n`, [200]],
  ['a wish for h2c with a body', post(H2C), [201]],
  ['HTTP/2 outright', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
  ['HTTP/1.0 that stays', `GET /v1/pets/1 HTTP/1.0\r\n${KEYED}Connection: keep-alive\r\n\r\n${ONE}`, [200, 200]],
  ['HTTP/0.9', 'GET /v1/pets\r\n\r\n', [401]],
  ['HTTP/3.7', `GET /v1/pets HTTP/3.7\r\n${KEYED}\r\n`, [400]],
  ['empty lines first', `\r\n\r\n${ONE}`, [200]],
  ['no Host', 'GET /v1/pets/1 HTTP/1.1\r\nAuthorization: Bearer sandbox\r\n\r\n', [400]],
  ['an empty Host', 'GET /v1/pets/1 HTTP/1.1\r\nHost:\r\nAuthorization: Bearer sandbox\r\n\r\n', [200]],
  ['two keys', `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}Authorization: Bearer other\r\n\r\n`, [200]],
  ['a body with a GET', `GET /v1/pets/1 HTTP/1.1\r\n${TYPED}Content-Length: 5\r\n\r\nhello${ONE}`, [200, 200]],
  [
    'a body to an unknown path',
    `POST /v1/nowhere HTTP/1.1\r\n${TYPED}Content-Length: 5\r\n\r\nhello${ONE}`,
    [404, 200],
  ],
]

/** Each in one piece, and cut in two at five places. */
it.each(UNUSUAL)('answers unusual HTTP in order: %s', async (_what, sent, statuses) => {
  const { port, warnings } = await startOnPort({ rateLimit: false })
  const bytes = Buffer.from(sent, 'latin1')
  for (let part = 0; part < 6; part++) {
    const cut = Math.floor((part * bytes.length) / 6)
    const socket = await openSocket(port)
    const closed = once(socket, 'close')
    socket.write(bytes.subarray(0, cut))
    await turns(2)
    socket.end(bytes.subarray(cut))
    await closed
    expect(statusesIn(socket.received), `cut at ${cut}`).toEqual(statuses)
  }
  expect(warnings).toEqual([])
})
