import { freePort, HAS_REDIS, RedisServer } from '../../support/redis-server.js'
import { TcpProxy } from '../../support/tcp-proxy.js'
import { ask } from './client.js'
import { pets } from './history.js'
import type { ReplicaClients } from './replica-clients.js'
import type { Server, Trial } from './trial.js'

/** How long a disturbance may last in its effects: a hung Redis is noticed after 4 s, a killed replica counts as living for 5 s. */
const CALM_MS = 60_000

/** One of the replicas: a process, and its own network to Redis. */
export interface ReplicaSeat {
  readonly proxy: TcpProxy
  server: Server
  startAgain(): Promise<void>
}

/** Replicas of one group on a Redis of its own, each behind a network of its own. */
export interface ReplicaGroup {
  readonly redis: RedisServer
  readonly seats: readonly ReplicaSeat[]
}

/** @returns undefined, and a note, on a machine without redis-server */
export async function startReplicas(
  trial: Trial,
  count: number,
  flags: readonly string[],
): Promise<ReplicaGroup | undefined> {
  if (!HAS_REDIS) {
    trial.note('left out: redis-server is not installed')
    return undefined
  }
  const redis = await RedisServer.start()
  trial.afterwards(() => redis.end())
  const seats: ReplicaSeat[] = []
  for (let i = 0; i < count; i++) {
    const proxy = await TcpProxy.open(redis.port)
    trial.afterwards(() => proxy.close())
    const place = ['--port', String(await freePort()), '--redis', `redis://127.0.0.1:${proxy.port}`]
    const start = () => trial.serve(trial.folder(), [...place, ...flags])
    const seat = {
      proxy,
      server: await start(),
      async startAgain() {
        seat.server = await start()
      },
    }
    seats.push(seat)
  }
  await untilHealthy(seats)
  return { redis, seats }
}

/** Resolves when every replica reports that it is healthy. Rejects if one does not become so. */
export async function untilHealthy(seats: readonly ReplicaSeat[]): Promise<void> {
  for (const { server } of seats) {
    const giveUpAt = performance.now() + CALM_MS
    for (;;) {
      const heard = await ask(server.port, 'GET', '/__sandbox/health').catch(() => 'closed' as const)
      if (typeof heard !== 'string' && heard.status === 200) break
      if (performance.now() > giveUpAt)
        throw new Error(`a replica is not healthy after ${CALM_MS} ms: ${JSON.stringify(heard)}\n${server.said}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** After all disturbances, every replica has the acknowledged state, and all agree. */
export async function audit(trial: Trial, seats: readonly ReplicaSeat[], clients: ReplicaClients): Promise<void> {
  const ports = seats.map(({ server }) => server.port)
  let acknowledged = 0
  for (const [space, history] of clients.spaces) {
    acknowledged += history.acknowledged.length
    const askedAt = performance.now()
    for (const port of ports) history.hold((await pets(port, space)) ?? clients.seeds, askedAt, `port ${port}`)
    history.holdOrder()
  }
  for (const quota of clients.quotas) quota.hold()
  const names = [...clients.spaces.keys(), ...clients.quotas.map(({ name }) => name)].slice(-20)
  const targets = names.flatMap((name) => ['state', 'requests', 'conduct', 'pets'].map((of) => `${of}?space=${name}`))
  for (const target of ['spaces', ...targets]) {
    const said = (await Promise.all(ports.map((port) => say(port, target)))).map(withoutProcess)
    trial.check(new Set(said).size === 1, () => `GET ${target}: replicas say ${said.join('\nand ')}`)
  }
  await holdDigests(trial, ports)
  trial.note(`${acknowledged} acknowledged pets, each once on each of ${seats.length} replicas`)
}

/** Each replica has a command line of its own. */
function withoutProcess(text: string): string {
  if (!text.startsWith('{')) return text
  const { process: _, ...shared } = JSON.parse(text)
  return JSON.stringify(shared)
}

/** All replicas hold the same, to the last byte, at the same position. */
async function holdDigests(trial: Trial, ports: readonly number[]): Promise<void> {
  const giveUpAt = performance.now() + CALM_MS
  for (;;) {
    const own: { readonly position: number; readonly digest: string }[] = []
    for (const port of ports) {
      const replicas: readonly { isThis: boolean; position: number; digest: string }[] = JSON.parse(
        // A digest writes the whole state.
        await say(port, 'replicas?digest=true', 180_000),
      )
      for (const { isThis, position, digest } of replicas) if (isThis) own.push({ position, digest })
    }
    const isCalm = new Set(own.map(({ position }) => position)).size === 1
    if (!isCalm && performance.now() < giveUpAt) continue
    const isEqual = isCalm && own.length === ports.length && new Set(own.map(({ digest }) => digest)).size === 1
    return trial.check(isEqual, () => `digests differ: ${JSON.stringify(own)}`)
  }
}

async function say(port: number, target: string, timeoutMs?: number): Promise<string> {
  const heard = await ask(port, 'GET', `/__sandbox/${target}`, timeoutMs === undefined ? {} : { timeoutMs })
  const text = typeof heard === 'string' ? heard : heard.body
  // The duration of unfinished exchanges of a killed replica grows between the reads.
  return text.replaceAll(/("ended":null,"durationMs":)[\d.]+/g, '$1…')
}
