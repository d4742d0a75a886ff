import { RedisServer } from '../support/redis-server.js'
import { TcpProxy } from '../support/tcp-proxy.js'
import { Hosts } from './hosts.js'
import { audit, pets } from './replica-audit.js'
import { ReplicaClients } from './replica-clients.js'
import { REPLICA_FLAGS, untilHealthy } from './replica-group.js'
import type { Server } from './server.js'
import { Trial } from './trial.js'
import { ask, statusOf } from './wire.js'

/** The result, as sent to the experiment. */
export interface OnHosts {
  readonly survived: number
  readonly losses: readonly string[]
  readonly notes: readonly string[]
}

const CLIENTS_EACH = 8
/** The key that requests here have unless they say otherwise. */
const TOKEN = ['--control-token', 'sandbox']
const FLAGS = [...TOKEN, ...REPLICA_FLAGS]

/** Runs in the network between the hosts. */
const [seed = '', extent, name = '', count] = process.argv.slice(2)
const trial = new Trial(seed, extent === 'short')
await useHosts(new Hosts(name, Number(count))).catch((error: unknown) => trial.lose(String(error)))
await trial.end()
const { survived, losses, notes } = trial
process.stdout.write(JSON.stringify({ survived, losses, notes } satisfies OnHosts))

async function useHosts(hosts: Hosts): Promise<void> {
  // The namespace is private, so any address will do.
  const redis = await RedisServer.start('--bind', '0.0.0.0', '--protected-mode', 'no')
  trial.afterwards(() => redis.end())
  const seats: { readonly port: number; readonly server: Server }[] = []
  for (const { namespace, address, redis: host } of hosts.all) {
    const flags = ['--redis', `redis://${host}:${redis.port}`, ...FLAGS]
    const server = await trial.serve(trial.folder(), flags, { host: { namespace, address } })
    const way = await TcpProxy.open(server.port, address)
    trial.afterwards(() => way.close())
    seats.push({ port: way.port, server })
  }
  for (const { port, server } of seats) await untilHealthy(port, server)
  const seeds = await pets(seats[0]?.port ?? 0, '')
  const clients = new ReplicaClients(trial, new Set(seeds.map(({ id }) => String(id))))
  const users = seats.flatMap((seat) => Array.from({ length: CLIENTS_EACH }, () => clients.use([seat])))
  let added = 0
  const rounds = trial.size(20, 1)
  for (let round = 0; round < rounds; round++) {
    const lost = trial.integer(0, seats.length)
    hosts.linkToRedis(lost, 'down')
    await until(async () => (await healthOf(seats[lost]?.port)) === 503)
    const before = clients.acknowledged
    // The others keep serving.
    await until(async () => clients.acknowledged > before + 20)
    for (const [index, { port }] of seats.entries()) {
      const health = await healthOf(port)
      trial.check(
        health === (index === lost ? 503 : 200),
        () => `host ${index} says ${health} while ${lost} is cut off`,
      )
    }
    added += clients.acknowledged - before
    hosts.linkToRedis(lost, 'up')
    for (const { port, server } of seats) await untilHealthy(port, server)
  }
  clients.stop()
  await Promise.all(users)
  await audit(trial, seats, clients)
  const outcomes = [...clients.outcomes].toSorted().map(([what, times]) => `${times} ${what}`)
  trial.note(`a host cut off ${rounds} times, ${added} pets added by the others; ${outcomes.join(', ')}`)
}

async function healthOf(port = 0): Promise<number | string> {
  return statusOf(await ask(port, 'GET', '/__sandbox/health').catch(() => 'closed' as const))
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 60_000
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`not within a minute: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
