import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  CALM_MS,
  pets,
  REPLICA_FLAGS,
  ReplicaClients,
  ReplicaGroup,
  type ReplicaSeat,
  sameEverywhere,
} from '../replicas.js'
import type { Experiment } from '../trial.js'

const REPLICAS = 3
const CLIENTS = 12
/** The folder of redis-server's append-only file. */
const KEPT = 'appendonlydir'

/** Redis comes back with less than it had acknowledged, as after a failover: replicas say so, and agree on what there is. */
export const replicasLostEnd: Experiment = {
  counts: 'pets and responses checked against those acknowledged before the loss',
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
      const before = seats.map(lossesTold)
      rmSync(join(redis.folder, KEPT), { recursive: true })
      cpSync(copy, join(redis.folder, KEPT), { recursive: true })
      await redis.startAgain()
      // A replica is well until it has read on, and then until it has said so.
      for (const [index, seat] of seats.entries())
        trial.check(
          await tellsMoreThan(seat, before[index] ?? 0),
          () => `replica ${index} has not said that the log lost something: ${seat.server.said}`,
        )
      await group.untilHealthy()
      for (const { port } of seats) {
        for (const [space, history] of clients.spaces)
          history.hold(await pets(port, space), seeds, keptAt, `port ${port}`)
      }
      await sameEverywhere(trial, seats, clients)
    }
    trial.note(`Redis came back with less ${losses} times`)
  },
}

/** How often a replica has said that the log lost something. */
function lossesTold({ server }: ReplicaSeat): number {
  return server.lines.filter((line) => line.includes('Rejoining the group')).length
}

/** Waits until it has said so more often than before. @returns whether it has, while one may wait */
async function tellsMoreThan(seat: ReplicaSeat, before: number): Promise<boolean> {
  const giveUpAt = performance.now() + CALM_MS
  while (lossesTold(seat) <= before) {
    if (performance.now() > giveUpAt) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}
