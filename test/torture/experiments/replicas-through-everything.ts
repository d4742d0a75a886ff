import { audit, pets, REPLICA_FLAGS, ReplicaClients, ReplicaGroup, type ReplicaSeat } from '../replicas.js'
import type { Experiment, Trial } from '../trial.js'

const REPLICAS = 3
const CLIENTS = 24

/** Disturbances of a group. Each ends on its own. */
const DISTURBANCES: Readonly<Record<string, (trial: Trial, group: ReplicaGroup, seat: ReplicaSeat) => Promise<void>>> =
  {
    'replica killed': async (_trial, _group, seat) => {
      await seat.server.kill()
      await seat.startAgain()
    },
    'replica stopped': async (trial, _group, seat) => {
      const { code } = await seat.server.stop()
      if (code !== 0) trial.lose(`a replica was stopped and ended with ${code}: ${seat.server.said}`)
      await seat.startAgain()
    },
    'Redis killed': async (trial, { redis }) => {
      await redis.kill()
      await pause(trial.integer(0, 1500))
      await redis.startAgain()
    },
    'Redis hung': async (trial, { redis }) => {
      redis.hang()
      await pause(trial.integer(100, 6000))
      redis.goOn()
    },
    'network cut': async (trial, _group, { proxy }) => {
      proxy.cut()
      await pause(trial.integer(0, 3000))
      proxy.restore()
    },
    'network delayed': async (trial, _group, { proxy }) => {
      proxy.delay(trial.integer(5, 300))
      await pause(trial.integer(500, 2000))
      proxy.restore()
    },
    'network silent': async (trial, _group, { proxy }) => {
      proxy.swallow()
      await pause(trial.integer(500, 7000))
      proxy.restore()
    },
    'cut in mid-response': async (trial, _group, { proxy }) => {
      const cut = proxy.cutInResponseTo('EVALSHA', trial.integer(0, 12))
      await Promise.race([cut, pause(1000)])
      await pause(trial.integer(0, 500))
      proxy.restore()
    },
  }

/** Three replicas and 24 clients, while all that can happen to processes, to Redis and to the network does happen. */
export const replicasThroughEverything: Experiment = {
  counts: 'lists, pets and quotas checked against acknowledged ones',
  patienceMs: 30 * 60_000,
  async run(trial) {
    const group = await ReplicaGroup.start(trial, REPLICAS, REPLICA_FLAGS)
    if (group === undefined) return
    const [first] = group.seats
    const seeds = first === undefined ? [] : await pets(first.port, '')
    const clients = new ReplicaClients(trial, new Set(seeds.map(({ id }) => String(id))))
    const users = Array.from({ length: CLIENTS }, () => clients.use(group.seats))
    const happened = await disturb(trial, group, trial.size(20 * 60_000, 25_000))
    await group.untilHealthy()
    clients.stop()
    await Promise.all(users)
    await group.untilHealthy()
    await audit(trial, group.seats, clients)
    const total = [...happened.values()].reduce((sum, count) => sum + count, 0)
    const told = [...happened].map(([what, count]) => `${what} ${count}`).join(', ')
    const outcomes = [...clients.outcomes].toSorted().map(([what, count]) => `${count} ${what}`)
    trial.note(`${clients.requests} requests (${outcomes.join(', ')})`)
    trial.note(`${clients.spaces.size} spaces, ${clients.quotas.size} quotas; ${total} disturbances: ${told}`)
  },
}

async function disturb(trial: Trial, group: ReplicaGroup, forMs: number): Promise<ReadonlyMap<string, number>> {
  const happened = new Map<string, number>()
  const endAt = performance.now() + forMs
  const kinds = Object.keys(DISTURBANCES)
  for (let round = 0; performance.now() < endAt; round++) {
    // Each once, before chance decides.
    const what = kinds[round] ?? trial.oneOf(kinds)
    happened.set(what, (happened.get(what) ?? 0) + 1)
    await DISTURBANCES[what]?.(trial, group, trial.oneOf(group.seats))
    await pause(trial.integer(0, 1500))
  }
  return happened
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
