import { setTimeout as passes } from 'node:timers/promises'
import { UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, request, statusOf, Wire } from '../wire.js'

const PETS = 100
const NAME = 'x'.repeat(540_000)
/** More than the pets themselves take is a pile of lists that nobody reads. */
const MOST_MIB = 200
/** 30 s, and what may pass until somebody looks. */
const CUT_WITHIN_MS = 60_000

/** Lists of 54 MB that nobody reads: they are not held in memory, and the connection is cut after 30 s. */
export const stalledReaders: Experiment = {
  counts: 'readers that take nothing',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED])
    for (let i = 0; i < PETS; i++) {
      const status = statusOf(await ask(server.port, 'POST', '/v1/pets', { body: `{"name":"${NAME}","categoryId":1}` }))
      if (status !== 201) trial.lose(`a pet with a long name is answered ${status}`)
    }
    const before = server.memory()
    const readers: Wire[] = []
    for (let i = 0; i < trial.size(40, 20); i++) {
      const wire = await Wire.open(server.port)
      wire.socket.pause()
      wire.send(request('GET', trial.oneOf([`/v1/pets?limit=${PETS}`, `/__sandbox/pets?limit=${PETS}`])))
      readers.push(wire)
      const status = statusOf(await ask(server.port, 'GET', '/v1/pets?limit=1'))
      trial.check(status === 200, () => `beside readers that take nothing an ordinary request is answered ${status}`)
    }
    await passes(1000)
    const held = server.memory() - before
    if (held > MOST_MIB) trial.lose(`it held ${held} MiB more for lists that nobody read`)
    trial.note(`${readers.length} lists of 54 MB; ${before} MiB with the pets alone, ${held} MiB more for the readers`)
    if (!trial.isShort) await areCut(trial, readers)
    for (const wire of readers) wire.close()
  },
}

async function areCut(trial: Parameters<Experiment['run']>[0], readers: readonly Wire[]): Promise<void> {
  // Nobody hears of the end of a connection without reading; a write finds it.
  const until = performance.now() + CUT_WITHIN_MS
  while (performance.now() < until && readers.some(({ isOver }) => !isOver)) {
    await passes(1000)
    for (const wire of readers) wire.send('\r\n')
  }
  for (const { isOver } of readers) trial.check(isOver, () => 'a reader that took nothing was not cut')
}
