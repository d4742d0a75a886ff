import type { SandboxOptions } from '../options/options.js'
import type { Environment } from '../system/environment.js'
import { openWorkerServer, type WorkerServer } from './worker-server.js'

/** The servers of a worker, each started when the first test asks for it. */
export class WorkerServers {
  readonly #env: Environment
  readonly #servers = new Map<string, Promise<WorkerServer>>()

  /** @param env as for openWorkerServer */
  constructor(env: Environment) {
    this.#env = env
  }

  /** The server with these options, shared by everyone who asks for the same. */
  open(options: SandboxOptions): Promise<WorkerServer> {
    const wanted = JSON.stringify(options)
    const server = this.#servers.get(wanted) ?? openWorkerServer(options, this.#env)
    this.#servers.set(wanted, server)
    return server
  }

  /** Closes those that could be started. */
  async close(): Promise<void> {
    const servers = await Promise.allSettled(this.#servers.values())
    await Promise.all(servers.map((server) => (server.status === 'fulfilled' ? server.value.close() : undefined)))
  }
}
