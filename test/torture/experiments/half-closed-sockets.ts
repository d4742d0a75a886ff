import { UNLIMITED } from '../ledger.js'
import type { Server } from '../server.js'
import type { Experiment, Trial } from '../trial.js'
import { ask, request, statusOf, Wire } from '../wire.js'

const WHOLE_READ = request('GET', '/v1/pets/1')
const WHOLE_WRITE = request('POST', '/v1/pets', { body: '{"name":"half","categoryId":1}' })

/** Clients that close their half, or all, at every point of a request. */
export const halfClosedSockets: Experiment = {
  counts: 'connections closed half or wholly by the client',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED, '--latency', '0ms..30ms'])
    const rounds = trial.size(400, 60)
    for (let round = 0; round < rounds; round++) {
      const way = trial.oneOf(WAYS)
      await way(trial, server)
    }
    const status = statusOf(await ask(server.port, 'GET', '/v1/pets'))
    trial.check(status === 200, () => `afterwards a newcomer is answered ${status}`)
  },
}

type Way = (trial: Trial, server: Server) => Promise<void>

/** A whole request and then an end: it is answered. */
const endAfterRequest: Way = async (trial, { port }) => {
  const isWrite = trial.integer(0, 2) === 0
  const wire = await Wire.open(port)
  wire.socket.end(isWrite ? WHOLE_WRITE : WHOLE_READ)
  const status = statusOf(await wire.answer())
  trial.check(status === (isWrite ? 201 : 200), () => `after its client's end a request is answered ${status}`)
  wire.close()
}

/** Several requests and then an end: all are answered. */
const endAfterSeveral: Way = async (trial, { port }) => {
  const wire = await Wire.open(port)
  wire.socket.end(Buffer.concat([WHOLE_READ, WHOLE_WRITE, WHOLE_READ]))
  const statuses = [await wire.answer(), await wire.answer(), await wire.answer()].map(statusOf)
  trial.check(String(statuses) === '200,201,200', () => `of three requests before an end are answered ${statuses}`)
  wire.close()
}

/** A part of a request and then an end: told as bad, or closed; nothing hangs. */
const endInRequest: Way = async (trial, { port }) => {
  const bytes = trial.oneOf([WHOLE_READ, WHOLE_WRITE])
  const length = trial.integer(0, bytes.length)
  const wire = await Wire.open(port)
  wire.socket.end(bytes.subarray(0, length))
  const answer = await wire.rest()
  const isRight = answer === '' || /^HTTP\/1\.1 400 /.test(answer)
  trial.check(isRight, () => `${length} bytes and an end are answered ${answer.slice(0, 60)}`)
  wire.close()
}

/** A reset at any point: nobody waits for anything, and it serves on. */
const reset: Way = async (trial, { port }) => {
  const bytes = trial.oneOf([WHOLE_READ, WHOLE_WRITE])
  const wire = await Wire.open(port)
  await new Promise<void>((resolve) =>
    wire.socket.write(bytes.subarray(0, trial.integer(1, bytes.length + 1)), () => resolve()),
  )
  wire.socket.resetAndDestroy()
  trial.survive()
}

const WAYS: readonly Way[] = [endAfterRequest, endAfterSeveral, endInRequest, reset]
