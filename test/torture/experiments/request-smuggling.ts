import { listed, UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, request, statusOf, Wire } from '../wire.js'

const KEYED = 'Host: 127.0.0.1\r\nAuthorization: Bearer sandbox\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const CANARY = 'smuggled'

/** What a proxy in between may take for a body: it must never be performed as a request of its own. */
const HIDDEN = request('POST', '/v1/pets', { body: `{"name":"${CANARY}","categoryId":1}` }).toString('latin1')

/** Messages with two readings. If server and proxy read them differently, one client's request runs as another's. */
const SHAPES: Readonly<Record<string, string>> = {
  'a length and chunks': `Content-Length: ${HIDDEN.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'chunks and a length': `Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'two lengths': `Content-Length: 0\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  'a list of lengths': `Content-Length: 0, ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  'a length with a sign': `Content-Length: +0\r\n\r\n${HIDDEN}`,
  'a length below zero': `Content-Length: -1\r\n\r\n${HIDDEN}`,
  'a length in hex': `Content-Length: 0x0\r\n\r\n${HIDDEN}`,
  'a length beyond 64 bits': `Content-Length: 18446744073709551616\r\n\r\n${HIDDEN}`,
  'a blank before the colon': `Content-Length : ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  'a tab before the colon': `Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'an unknown coding': `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'chunked in quotes': `Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'chunked, then identity': `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'chunked twice': `Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'a folded header': `X-Fold: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'a lone line feed in the head': `X: a\nContent-Length: ${HIDDEN.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'a lone carriage return in the head': `X: a\rContent-Length: 0\r\n\r\n${HIDDEN}`,
  'a NUL in a header': `X: a\0b\r\n\r\n${HIDDEN}`,
  'a chunk size with a blank': `Transfer-Encoding: chunked\r\n\r\n 0\r\n\r\n${HIDDEN}`,
  'a chunk size in hex notation': `Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n${HIDDEN}`,
  'a chunk size beyond 64 bits': `Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n${HIDDEN}`,
  'a chunk without its end': `Transfer-Encoding: chunked\r\n\r\n1\r\nAB0\r\n\r\n${HIDDEN}`,
  'a lone line feed after a chunk size': `Transfer-Encoding: chunked\r\n\r\n0\n\r\n${HIDDEN}`,
  'a lone line feed in a chunk extension': `Transfer-Encoding: chunked\r\n\r\n0;a\nb\r\n\r\n${HIDDEN}`,
  'a body for a method without one': `Content-Length: ${HIDDEN.length}\r\nTransfer-Encoding: identity\r\n\r\n${HIDDEN}`,
}

/** Ambiguous messages. No hidden request is executed. */
export const requestSmuggling: Experiment = {
  counts: 'ambiguous messages',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED])
    let refused = 0
    for (const method of ['POST', 'GET']) {
      for (const [shape, rest] of Object.entries(SHAPES)) {
        const wire = await Wire.open(server.port)
        wire.socket.end(Buffer.from(`${method} /v1/pets HTTP/1.1\r\n${KEYED}${JSON_TYPE}${rest}`, 'latin1'))
        const got = await wire.rest()
        wire.close()
        if (/^HTTP\/1\.1 400 /.test(got)) refused++
        const created = /\r\n\r\n.*"name":"smuggled"/s.test(got)
        trial.check(!created && got !== '', () => `${method} with ${shape}: ${created ? 'performed' : 'no answer'}`)
      }
    }
    const smuggled = (await listed(server)).filter(({ name }) => name === CANARY).length
    if (smuggled > 0) trial.lose(`${smuggled} hidden requests were performed`)
    const status = statusOf(await ask(server.port, 'GET', '/v1/pets'))
    trial.check(status === 200, () => `afterwards a newcomer is answered ${status}`)
    trial.note(`${refused} refused with 400`)
  },
}
