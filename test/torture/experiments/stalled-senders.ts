import { setTimeout as passes } from 'node:timers/promises'
import { UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, statusOf, Wire } from '../wire.js'

const MEBIBYTE = 1024 * 1024
/** 64 MiB is the limit of bodies; the rest is what the process takes anyway, and what waits to be collected. */
const MOST_MIB = 350

const KEYED = 'Host: 127.0.0.1\r\nAuthorization: Bearer sandbox\r\n'
const POST = `POST /v1/pets HTTP/1.1\r\n${KEYED}Content-Type: application/json\r\n`
const BYTE_CHUNKS = '1\r\na\r\n'.repeat(100_000)

const LARGE = [`${POST}Content-Length: ${MEBIBYTE}\r\n\r\n`, 'a'.repeat(MEBIBYTE - 1)] as const

/** All but the end of large bodies: in one piece (most, so that together they come to the limit), in single bytes, of the control plane by who may steer and by who may not. */
const UNFINISHED: readonly (readonly [head: string, body: string])[] = [
  ...Array.from({ length: 9 }, () => LARGE),
  [`${POST}Transfer-Encoding: chunked\r\n\r\n`, BYTE_CHUNKS],
  [`PUT /__sandbox/scenario HTTP/1.1\r\n${KEYED}Content-Length: 256000\r\n\r\n`, 'a'.repeat(255_999)],
  [
    'PUT /__sandbox/scenario HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 16000000\r\n\r\n',
    'a'.repeat(15_000_000),
  ],
]

/** Clients that never finish their bodies: what they hold has a limit, and the others are served. */
export const stalledSenders: Experiment = {
  counts: 'requests beside bodies that never end',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED])
    const before = server.memory()
    const wires: Wire[] = []
    for (let i = 0; i < trial.size(400, 120); i++) {
      const [head, body] = trial.oneOf(UNFINISHED)
      const wire = await Wire.open(server.port)
      wires.push(wire)
      wire.send(head)
      const sent = new Promise<void>((resolve) => wire.socket.write(body, () => resolve()))
      // A request refused on its head may find the connection closed.
      await Promise.race([sent, passes(2000)])
      const status = statusOf(await ask(server.port, 'POST', '/v1/pets', { body: '{"name":"beside","categoryId":1}' }))
      trial.check(status === 201, () => `beside bodies that never end, one that does is answered ${status}`)
    }
    const held = server.peakMemory()
    if (held > MOST_MIB) trial.lose(`it held ${held} MiB for bodies that never ended`)
    const answers = wires.map(({ unread }) => /^HTTP\/1\.1 (\d+) /.exec(unread)?.[1] ?? 'none')
    const odd = answers.filter((status) => !['none', '403', '503'].includes(status))
    trial.check(odd.length === 0, () => `bodies that never ended are answered ${odd}`)
    for (const wire of wires) wire.close()
    const count = (status: string) => answers.filter((answer) => answer === status).length
    trial.note(`${wires.length} senders, ${count('503')} answered 503; memory ${before} MiB, at most ${held} MiB`)
  },
}
