import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pets, sameEverywhere } from '../replica-audit.js'
import { ReplicaClients } from '../replica-clients.js'
import { REPLICA_FLAGS, ReplicaGroup } from '../replica-group.js'
import type { Experiment } from '../trial.js'

const REPLICAS = 3
const CLIENTS = 12
/** Where redis-server keeps what was appended. */
const KEPT = 'appendonlydir'

/** Redis comes back with less than it had acknowledged, as after a failover: replicas say so, and agree on what there is. */
export const replicasLostEnd: Experiment = {
  counts: 'pets and answers held against what was acknowledged before Redis lost its end',
  async run(trial) {
    const group = await ReplicaGroup.start(trial, REPLICAS, REPLICA_FLAGS)
    if (group === undefined) return
    const { redis, seats } = group
    const [first] = seats
    const seeds = new Set((await pets(first?.port ?? 0, '')).map(({ id }) => String(id)))
    const losses = trial.size(12, 2)
    for (let loss = 0; loss < losses; loss++) {
      const copy = join(trial.folder(), KEPT)
      const clients = new ReplicaClients(trial, seeds, `loss-${loss}`)
      const users = Array.from({ length: CLIENTS }, () => clients.use(seats))
      await clients.untilAcknowledged(50)
      const keptAt = performance.now()
      cpSync(join(redis.folder, KEPT), copy, { recursive: true })
      await clients.untilAcknowledged(100)
      await redis.kill()
      clients.stop()
      await Promise.all(users)
      rmSync(join(redis.folder, KEPT), { recursive: true })
      cpSync(copy, join(redis.folder, KEPT), { recursive: true })
      await redis.startAgain()
      await group.untilHealthy()
      for (const { port } of seats) {
        for (const [space, history] of clients.spaces)
          history.hold(await pets(port, space), seeds, keptAt, `port ${port}`)
      }
      await sameEverywhere(trial, seats, clients)
      for (const [index, { server }] of seats.entries()) {
        const times = server.lines.filter((line) => line.includes('The log is not the one that was read')).length
        trial.check(times > 0, () => `replica ${index} has not said that the log lost something: ${server.said}`)
      }
    }
    trial.note(`Redis came back with less ${losses} times`)
  },
}
