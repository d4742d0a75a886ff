import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as passes } from 'node:timers/promises'
import { ask, statusOf } from '../client.js'
import { UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'

/** With a response of about 7 kB. */
const HEAD = 'GET /v1/pets?limit=100 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sandbox\r\n'

/** More would mean that unread responses pile up. */
const MOST_MIB = 300

/** Clients that send many requests and read nothing for a while. Responses do not pile up in memory. */
export const slowReaders: Experiment = {
  counts: 'requests with responses that are read late',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED])
    const before = server.memory()
    const readers = trial.size(40, 10)
    const requests = trial.size(1500, 300)
    const all = `${`${HEAD}\r\n`.repeat(requests - 1)}${HEAD}Connection: close\r\n\r\n`
    const sockets = Array.from({ length: readers }, () => connect({ port: server.port, host: '127.0.0.1' }))
    for (const socket of sockets) {
      await once(socket, 'connect')
      socket.write(all)
    }
    let held = 0
    for (let look = 0; look < trial.size(10, 3); look++) {
      await passes(200)
      held = Math.max(held, server.memory())
      const status = statusOf(await ask(server.port, 'GET', '/v1/pets'))
      if (status !== 200) trial.lose(`beside slow readers an ordinary request is answered ${status}`)
    }
    for (const socket of sockets) {
      const whole = (await text(socket)).match(/HTTP\/1\.1 200 OK\r\n[^[]*\r\n\r\n\[\{[^[\]]*\}\]/g)?.length ?? 0
      trial.survive(whole)
      if (whole < requests) trial.lose(`a slow reader got ${whole} of ${requests} responses`)
    }
    if (held > MOST_MIB) trial.lose(`it held ${held} MiB for unread responses`)
    trial.note(`${readers} readers; memory ${before} MiB, at most ${held} MiB while nobody read`)
  },
}
