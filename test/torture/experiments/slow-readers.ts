import { setTimeout as passes } from 'node:timers/promises'
import { UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, request, statusOf, Wire } from '../wire.js'

/** A response of about 7 kB. */
const TARGET = '/v1/pets?limit=100'

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
    const one = request('GET', TARGET)
    const all = Buffer.concat(Array.from({ length: requests }, () => one))
    const wires = await Promise.all(Array.from({ length: readers }, () => Wire.open(server.port)))
    for (const wire of wires) {
      wire.socket.pause()
      wire.send(all)
    }
    let held = 0
    for (let look = 0; look < trial.size(10, 3); look++) {
      await passes(200)
      held = Math.max(held, server.memory())
      const status = statusOf(await ask(server.port, 'GET', '/v1/pets'))
      if (status !== 200) trial.lose(`beside slow readers an ordinary request is answered ${status}`)
    }
    for (const wire of wires) {
      wire.socket.resume()
      for (let i = 0; i < requests; i++) {
        const status = statusOf(await wire.response())
        trial.check(status === 200, () => `response ${i} to a slow reader is ${status}`)
        if (typeof status === 'string') break
      }
      wire.close()
    }
    if (held > MOST_MIB) trial.lose(`it held ${held} MiB for unread responses`)
    trial.note(`${readers} readers; memory ${before} MiB, at most ${held} MiB while nobody read`)
  },
}
