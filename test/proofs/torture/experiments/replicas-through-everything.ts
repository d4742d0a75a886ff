import { setTimeout as pause } from 'node:timers/promises'
import { pets } from '../history.js'
import { REPLICA_FLAGS, ReplicaClients } from '../replica-clients.js'
import { audit, type ReplicaGroup, type ReplicaSeat, startReplicas, untilHealthy } from '../replicas.js'
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
      const cut = proxy.cutInResponseTo('EVAL', trial.integer(0, 12))
      await Promise.race([cut, pause(1000)])
      await pause(trial.integer(0, 500))
      proxy.restore()
    },
  }

/** Three replicas and 24 clients, while all that can happen to processes, to Redis and to the network does happen. */
export const replicasThroughEverything: Experiment = {
  counts: 'lists, pets and quotas checked against acknowledged ones',
  timeoutMs: 30 * 60_000,
  async run(trial) {
    const group = await startReplicas(trial, REPLICAS, REPLICA_FLAGS)
    if (group === undefined) return
    const { seats } = group
    const clients = new ReplicaClients(trial, (await pets(seats[0]?.server.port ?? 0)) ?? [])
    const users = Array.from({ length: CLIENTS }, () => clients.use(seats))
    const endAt = performance.now() + trial.size(20 * 60_000, 25_000)
    const kinds = Object.keys(DISTURBANCES)
    const happened: string[] = []
    while (performance.now() < endAt) {
      // Each once, before chance decides.
      const what = kinds[happened.length] ?? trial.oneOf(kinds)
      happened.push(what)
      await DISTURBANCES[what]?.(trial, group, trial.oneOf(seats))
      await pause(trial.integer(0, 1500))
    }
    await untilHealthy(seats)
    clients.stop()
    await Promise.all(users)
    await untilHealthy(seats)
    await audit(trial, seats, clients)
    const outcomes = [...clients.outcomes].toSorted().map(([what, count]) => `${count} ${what}`)
    trial.note(`requests: ${outcomes.join(', ')}; ${clients.spaces.size} spaces, ${clients.quotas.length} quotas`)
    trial.note(kinds.map((kind) => `${kind} ${happened.filter((what) => what === kind).length}`).join(', '))
  },
}
