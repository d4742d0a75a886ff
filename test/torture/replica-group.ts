import { freePort, HAS_REDIS, RedisServer } from '../support/redis-server.js'
import { TcpProxy } from '../support/tcp-proxy.js'
import type { Server } from './server.js'
import type { Trial } from './trial.js'
import { ask } from './wire.js'

/** The clock stands, so that a quota is one; bans would hide it. */
export const REPLICA_FLAGS: readonly string[] = [
  '--seed',
  '1',
  '--now',
  '2026-03-01T10:00:00Z',
  '--freeze',
  '--ban-after',
  'never',
  '--max-spaces',
  '100000',
  '--max-store',
  '1GiB',
]

/** How long a disturbance may last in its effects: a hung Redis is noticed after 4 s, a killed replica counts as living for 5 s. */
export const CALM_MS = 60_000

/** One of the replicas: a process, and its own network to Redis. */
export class ReplicaSeat {
  readonly proxy: TcpProxy
  server: Server
  readonly #start: () => Promise<Server>

  constructor(proxy: TcpProxy, server: Server, start: () => Promise<Server>) {
    this.proxy = proxy
    this.server = server
    this.#start = start
  }

  get port(): number {
    return this.server.port
  }

  async startAgain(): Promise<void> {
    this.server = await this.#start()
  }
}

/** Replicas of one group on a Redis of its own, each behind a network of its own. */
export class ReplicaGroup {
  readonly redis: RedisServer
  readonly seats: readonly ReplicaSeat[]

  private constructor(redis: RedisServer, seats: readonly ReplicaSeat[]) {
    this.redis = redis
    this.seats = seats
  }

  /** @returns undefined, and a note, on a machine without redis-server */
  static async start(
    trial: Trial,
    count: number,
    flags: readonly string[],
    { keepsPorts = false }: { readonly keepsPorts?: boolean } = {},
  ): Promise<ReplicaGroup | undefined> {
    if (!HAS_REDIS) {
      trial.note('left out: redis-server is not installed')
      return undefined
    }
    const redis = await RedisServer.start()
    trial.afterwards(() => redis.end())
    const seats: ReplicaSeat[] = []
    for (let seat = 0; seat < count; seat++) {
      const proxy = await TcpProxy.open(redis.port)
      trial.afterwards(() => proxy.close())
      const port = keepsPorts ? await freePort() : 0
      const redisFlags = ['--port', String(port), '--redis', `redis://127.0.0.1:${proxy.port}`]
      const start = () => trial.serve(trial.folder(), [...redisFlags, ...flags])
      seats.push(new ReplicaSeat(proxy, await start(), start))
    }
    const group = new ReplicaGroup(redis, seats)
    await group.untilHealthy()
    return group
  }

  /** Resolves when every replica says that it is well. Rejects if one does not become so. */
  async untilHealthy(): Promise<void> {
    for (const { port, server } of this.seats) await untilHealthy(port, server)
  }
}

async function untilHealthy(port: number, server: Server): Promise<void> {
  const giveUpAt = performance.now() + CALM_MS
  for (;;) {
    const heard = await ask(port, 'GET', '/__sandbox/health').catch(() => 'closed' as const)
    if (typeof heard !== 'string' && heard.status === 200) return
    if (performance.now() > giveUpAt) {
      const said = typeof heard === 'string' ? heard : heard.body
      throw new Error(`a replica has not become well within ${CALM_MS} ms: ${said}\n${server.said}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
