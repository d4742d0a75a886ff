import { flood } from '../flood.js'
import type { Experiment } from '../trial.js'
import { ask, request } from '../wire.js'

/** More than this many times the work of an early request would be work that grows with their number. */
const MOST_GROWTH = 4

/** A client that never waits, under a ban that comes very late: each refusal costs the same, and the ban comes exactly then. */
export const banHammered: Experiment = {
  counts: 'requests that came too early',
  async run(trial) {
    const banAfter = trial.size(100_000, 5000)
    const flags = ['--in-memory', '--log-limit', '0', '--limits', '1/min', '--freeze', '--ban-after', String(banAfter)]
    const server = await trial.serve(trial.folder(), flags)
    const one = request('GET', '/v1/pets/1').toString()
    const hammer = async (count: number) => {
      let left = count
      const { statuses } = await flood(server.port, 1, () => (left-- > 0 ? one : undefined))
      const refused = statuses.get('429') ?? 0
      trial.survive(refused)
      if (refused !== count) trial.lose(`of ${count} requests: ${JSON.stringify([...statuses])}`)
    }
    // The one that is in the quota, and the one that is told to wait.
    await ask(server.port, 'GET', '/v1/pets')
    await ask(server.port, 'GET', '/v1/pets')
    // All that are too early but the one too many, in ten parts.
    const part = banAfter / 10
    const times: number[] = []
    for (let i = 0; i < 10; i++) {
      const before = server.cpuTime() ?? 0
      await hammer(i === 9 ? part - 1 : part)
      times.push((server.cpuTime() ?? 0) - before)
    }
    // The first part is the slowest of a warm-up.
    const [, early = 0] = times
    const late = times.at(-1) ?? 0
    if (late > MOST_GROWTH * early + 50)
      trial.lose(`the last ${part} took ${late} ms of its time, the second ${early} ms`)
    const isBanned = async () => {
      const heard = await ask(server.port, 'GET', '/__sandbox/keys')
      const keys: { readonly key: string; readonly ban: unknown }[] =
        typeof heard === 'string' ? [] : JSON.parse(heard.body)
      return keys.find(({ key }) => key === 'sandbox')?.ban !== null
    }
    const bannedBefore = await isBanned()
    await ask(server.port, 'GET', '/v1/pets')
    const bannedAfter = await isBanned()
    trial.check(!bannedBefore && bannedAfter, () => `banned before: ${bannedBefore}, after: ${bannedAfter}`)
    trial.note(`the second tenth ${early} ms of processor time, the last ${late} ms`)
  },
}
