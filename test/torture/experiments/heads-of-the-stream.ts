import { UNLIMITED } from '../ledger.js'
import type { Server } from '../server.js'
import type { Experiment, Trial } from '../trial.js'
import { request, statusOf, Wire } from '../wire.js'

const IN_A_ROW = 100
/** Ten times was what it took when each was followed for good. */
const MOST_TIMES = 3

/** The stream of exchanges, asked for by its head or given up at once: nobody goes on following it. */
export const headsOfTheStream: Experiment = {
  counts: 'heads of the stream',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED])
    // The first of them warms up.
    await costOfRequests(trial, server)
    const before = await costOfRequests(trial, server)
    const wire = await Wire.open(server.port)
    for (let sent = 0; sent < trial.size(5000, 2000); sent += IN_A_ROW) {
      wire.send(Buffer.concat(Array.from({ length: IN_A_ROW }, () => request('HEAD', '/__sandbox/requests/stream'))))
      for (let i = 0; i < IN_A_ROW; i++) {
        const status = statusOf(await wire.answer('HEAD'))
        trial.check(status === 200, () => `a head of the stream is ${status}`)
      }
    }
    wire.close()
    const after = await costOfRequests(trial, server)
    if (after > MOST_TIMES * before) trial.lose(`a request cost ${before} ms/1000 before, ${after} after`)
    trial.note(`1000 requests cost ${before} ms of processor before, ${after} ms after`)
  },
}

/** Milliseconds of processor time that 1,000 requests take. */
async function costOfRequests(trial: Trial, server: Server): Promise<number> {
  const wire = await Wire.open(server.port)
  const startedAt = server.cpuTime() ?? 0
  const rounds = trial.size(40, 20)
  for (let round = 0; round < rounds; round++) {
    wire.send(Buffer.concat(Array.from({ length: IN_A_ROW }, () => request('GET', '/v1/pets/1'))))
    for (let i = 0; i < IN_A_ROW; i++) await wire.answer()
  }
  wire.close()
  return Math.round((((server.cpuTime() ?? 0) - startedAt) * 1000) / (rounds * IN_A_ROW))
}
