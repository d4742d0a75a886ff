import { flood } from '../flood.js'
import type { Experiment } from '../trial.js'
import { request } from '../wire.js'

/** More than this many times the work of an early request would be work that grows with their number. */
const MOST_GROWTH = 4

/** A client that never waits, under a ban that comes very late: each refusal costs the same, and the ban comes exactly then. */
export const banHammered: Experiment = {
  counts: 'requests that came too early',
  async run(trial) {
    const banAfter = trial.size(20_000, 5000)
    const flags = ['--in-memory', '--log-limit', '0', '--limits', '1/min', '--freeze', '--ban-after', String(banAfter)]
    const server = await trial.serve(trial.folder(), [...flags, '--ban-status', '403'])
    const one = request('GET', '/v1/pets/1').toString()
    // One request within the quota, the first refused one, all early ones, and the one that brings the ban.
    const total = 1 + 1 + (banAfter - 1) + 1
    const part = Math.floor(total / 10)
    const times: number[] = []
    let sent = 0
    // One after the other on one connection, so that each request is known to have been sent after the response before it.
    const next = () => {
      if (sent % part === 0) times.push(server.cpuTime() ?? 0)
      return sent++ < total ? one : undefined
    }
    const { statuses } = await flood(server.port, 1, next, 1)
    const counts = Object.fromEntries(statuses)
    const isExact = counts['200'] === 1 && counts['429'] === banAfter && counts['403'] === 1
    trial.check(isExact, () => `of ${total} requests: ${JSON.stringify(counts)}`)
    trial.survive(total - 1)
    const took = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    // The first part is the slowest of a warm-up.
    const [, early = 0] = took
    const late = took[8] ?? 0
    if (late > MOST_GROWTH * early + 50)
      trial.lose(`the ninth ${part} took ${late} ms of its time, the second ${early} ms`)
    trial.note(`the second tenth ${early} ms of processor time, the ninth ${late} ms`)
  },
}
