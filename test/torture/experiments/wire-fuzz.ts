import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as passes } from 'node:timers/promises'
import { ask, statusOf } from '../client.js'
import { UNLIMITED } from '../ledger.js'
import type { Experiment, Server, Trial } from '../trial.js'

/** Bytes, and the statuses that they must be answered with, in this order. */
interface Part {
  readonly what: string
  readonly sent: string
  readonly statuses: readonly number[]
}

const KEYED = 'Host: 127.0.0.1\r\nAuthorization: Bearer sandbox\r\n'
const TYPED = `${KEYED}Content-Type: application/json\r\n`
const PET = '{"name":"fuzzed","categoryId":1}'
const SIZE = PET.length.toString(16)
const GET_PET = `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}\r\n`
const withBody = (first: string, body: string) =>
  `${first} HTTP/1.1\r\n${TYPED}Content-Length: ${body.length}\r\n\r\n${body}`

/** After any of these more may come on the connection. */
const REQUESTS: readonly Part[] = [
  { what: 'get', sent: GET_PET, statuses: [200] },
  { what: 'list', sent: `GET /v1/pets?limit=100 HTTP/1.1\r\n${KEYED}\r\n`, statuses: [200] },
  { what: 'head', sent: `HEAD /v1/pets HTTP/1.1\r\n${KEYED}\r\n`, statuses: [200] },
  { what: 'post', sent: withBody('POST /v1/pets', PET), statuses: [201] },
  { what: 'no pet', sent: withBody('POST /v1/pets', '{'), statuses: [400] },
  { what: 'nowhere', sent: `GET /v1/nowhere HTTP/1.1\r\n${KEYED}\r\n`, statuses: [404] },
  { what: 'health', sent: `GET /__sandbox/health HTTP/1.1\r\n${KEYED}\r\n`, statuses: [200] },
  { what: 'keys', sent: `GET /__sandbox/keys HTTP/1.1\r\n${KEYED}\r\n`, statuses: [200] },
  { what: 'a verb', sent: withBody('PATCH /__sandbox/settings', '{}'), statuses: [200] },
  {
    what: 'chunks',
    sent: `POST /v1/pets HTTP/1.1\r\n${TYPED}Transfer-Encoding: chunked\r\n\r\n${SIZE}\r\n${PET}\r\n0\r\n\r\n`,
    statuses: [201],
  },
  {
    what: '100-continue',
    sent: `POST /v1/pets HTTP/1.1\r\n${TYPED}Expect: 100-continue\r\nContent-Length: ${PET.length}\r\n\r\n${PET}`,
    statuses: [100, 201],
  },
]

/** After any of these the connection ends. */
const ENDINGS: readonly Part[] = [
  { what: 'CONNECT', sent: `CONNECT x:1 HTTP/1.1\r\n${KEYED}\r\n`, statuses: [400] },
  { what: 'a bare CONNECT', sent: 'CONNECT x:1 HTTP/1.1\r\n\r\n', statuses: [400] },
  { what: 'no HTTP', sent: 'hello\r\n\r\n', statuses: [400] },
  { what: 'a bad header', sent: `GET /v1/pets HTTP/1.1\r\n${KEYED}bad header\r\n\r\n`, statuses: [400] },
  { what: 'no Host', sent: 'GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer sandbox\r\n\r\n', statuses: [400] },
  { what: 'a huge head', sent: `GET /v1/pets HTTP/1.1\r\n${KEYED}X: ${'x'.repeat(20_000)}\r\n\r\n`, statuses: [431] },
  {
    what: 'a bad chunk',
    sent: `POST /v1/pets HTTP/1.1\r\n${TYPED}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    statuses: [400],
  },
  {
    what: 'a bad chunk of a verb',
    sent: `PUT /__sandbox/clock HTTP/1.1\r\n${TYPED}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    statuses: [400],
  },
  { what: 'a close', sent: `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}Connection: close\r\n\r\n`, statuses: [200] },
  { what: 'HTTP/1.0', sent: `GET /v1/pets/1 HTTP/1.0\r\n${KEYED}\r\n`, statuses: [200] },
  { what: 'a broken response', sent: `GET /v1/store/orders HTTP/1.1\r\n${KEYED}\r\n`, statuses: [200] },
  { what: 'nothing', sent: '', statuses: [] },
]

const UPGRADES: readonly string[] = ['websocket', 'h2c', 'TLS/1.0', 'x'.repeat(100)]

/** Anything may be sent, because these responses are not checked. */
const WILD: readonly ((trial: Trial) => string)[] = [
  (trial) => `GET /v1/pets/1 HTTP/1.1\r\n${KEYED}Connection: Upgrade\r\nUpgrade: ${trial.oneOf(UPGRADES)}\r\n\r\n`,
  (trial) => `CONNECT ${'x'.repeat(trial.integer(0, 300))}:1 HTTP/1.${trial.integer(0, 3)}\r\n\r\n`,
  () => `GET /__sandbox/requests/stream HTTP/1.1\r\n${KEYED}\r\n`,
  () => `HEAD /__sandbox/requests/stream HTTP/1.1\r\n${KEYED}\r\n`,
  (trial) => `POST /v1/pets HTTP/1.1\r\n${TYPED}Content-Length: ${trial.integer(0, 100_000)}\r\n\r\n{`,
  (trial) => `PUT /__sandbox/clock HTTP/1.1\r\n${TYPED}Content-Length: ${trial.integer(0, 100_000)}\r\n\r\n{`,
  (trial) => Array.from({ length: trial.integer(1, 60) }, () => String.fromCharCode(trial.integer(0, 256))).join(''),
  (trial) => trial.oneOf(REQUESTS).sent,
  (trial) => trial.oneOf(ENDINGS).sent,
]

const AT_ONCE = 16

/** Pipelines of all kinds of requests, cut anywhere. All responses come in order, and clients that leave do no harm. */
export const wireFuzz: Experiment = {
  counts: 'connections',
  async run(trial) {
    const flags = [...UNLIMITED, '--latency', '0ms..3ms', '--fault', 'listOrders:malformed-chunk']
    const server = await trial.serve(trial.folder(), flags)
    let left = trial.size(10_000, 800)
    const fuzzer = async () => {
      while (left-- > 0) await (trial.integer(0, 2) === 0 ? converse(trial, server) : leave(trial, server))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, fuzzer))
    const status = statusOf(await ask(server.port, 'GET', '/v1/pets/1'))
    trial.check(status === 200, () => `afterwards a newcomer is answered ${status}`)
  },
}

/** A pipeline whose every response is awaited. */
async function converse(trial: Trial, { port }: Server): Promise<void> {
  const parts = [...Array.from({ length: trial.integer(0, 6) }, () => trial.oneOf(REQUESTS)), trial.oneOf(ENDINGS)]
  const expected = parts.flatMap(({ statuses }) => statuses)
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  socket.on('data', (piece) => {
    received += piece.toString('latin1')
  })
  socket.on('error', () => {})
  const ended = Promise.race([once(socket, 'end'), once(socket, 'close')])
  await sendInPieces(trial, socket, parts.map(({ sent }) => sent).join(''))
  socket.end()
  await ended.catch(() => {})
  socket.destroy()
  // 102 probes a client that has half-closed its connection, before a response that takes long.
  const got = [...received.matchAll(/HTTP\/1\.1 (?!102)(\d{3}) /g)].map(([, status]) => Number(status))
  const what = parts.map((part) => part.what).join(', ')
  trial.check(String(got) === String(expected), () => `${what} is answered ${got}, not ${expected}`)
}

/** Anything, after which the client leaves without a word. */
async function leave(trial: Trial, { port }: Server): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  const sent = Array.from({ length: trial.integer(1, 6) }, () => trial.oneOf(WILD)(trial)).join('')
  await sendInPieces(trial, socket, sent)
  if (trial.integer(0, 2) === 0) await passes(trial.integer(0, 5))
  const end = trial.integer(0, 3)
  if (end === 0) socket.end()
  if (end === 1) socket.resetAndDestroy()
  else socket.destroy()
  trial.survive()
}

async function sendInPieces(trial: Trial, socket: Socket, sent: string): Promise<void> {
  await once(socket, 'connect')
  socket.setNoDelay(true)
  let rest = Buffer.from(sent, 'latin1')
  for (let pieces = trial.integer(0, 5); pieces > 0 && rest.length > 1; pieces--) {
    const cut = trial.integer(1, rest.length)
    if (!socket.destroyed) socket.write(rest.subarray(0, cut))
    rest = rest.subarray(cut)
    await passes(trial.integer(0, 2))
  }
  if (!socket.destroyed) socket.write(rest)
}
