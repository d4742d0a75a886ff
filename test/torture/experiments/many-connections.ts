import { execFileSync } from 'node:child_process'
import { UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, request, statusOf, Wire } from '../wire.js'

/** Connections that are opened at a time, so that none overflows the queue of the listening socket. */
const AT_A_TIME = 200

/** Files that both sides need beside the connections. */
const OTHER_FILES = 200

/** 10,000 connections at the same time: a third silent, a third in the middle of a request, a third served. */
export const manyConnections: Experiment = {
  counts: 'connections open at the same time',
  async run(trial) {
    // Node raises its own limit to the hard one at its start.
    const limit = Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }))
    const most = Number.isNaN(limit) ? Number.POSITIVE_INFINITY : limit - OTHER_FILES
    const count = Math.min(trial.size(10_000, 1000), most)
    const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED])
    const before = server.memory()
    const wires: Wire[] = []
    trial.afterwards(() => {
      for (const wire of wires) wire.close()
    })
    while (wires.length < count) {
      const some = Array.from({ length: Math.min(AT_A_TIME, count - wires.length) }, () => Wire.open(server.port))
      wires.push(...(await Promise.all(some)))
    }
    const whole = request('GET', '/v1/pets/1')
    for (const [index, wire] of wires.entries()) {
      if (index % 3 === 1) wire.send(whole.subarray(0, 30))
      if (index % 3 === 2) wire.send(whole)
    }
    for (const [index, wire] of wires.entries()) {
      if (index % 3 !== 2) continue
      const status = statusOf(await wire.answer())
      trial.check(status === 200, () => `with ${count} connections one is answered ${status}`)
    }
    const status = statusOf(await ask(server.port, 'GET', '/v1/pets'))
    if (status !== 200) trial.lose(`with ${count} connections a newcomer is answered ${status}`)
    const held = server.memory()
    // The others make up their minds.
    for (const [index, wire] of wires.entries()) {
      if (index % 3 === 0) wire.send(whole)
      if (index % 3 === 1) wire.send(whole.subarray(30))
    }
    for (const [index, wire] of wires.entries()) {
      if (index % 3 === 2) continue
      const late = statusOf(await wire.answer())
      trial.check(late === 200, () => `a connection that was silent for long is answered ${late}`)
    }
    for (const wire of wires) wire.close()
    const after = statusOf(await ask(server.port, 'GET', '/v1/pets'))
    if (after !== 200) trial.lose(`after ${count} connections a newcomer is answered ${after}`)
    trial.note(`${count} of them, hard limit of open files ${limit}; memory ${before} MiB, with them ${held} MiB`)
  },
}
