import type { RedisServer } from '../../support/redis-server.js'

const LOOK_MS = 100

/** What a group of replicas has in Redis. */
export class GroupInRedis {
  readonly #redis: RedisServer
  readonly #group: string

  constructor(redis: RedisServer, group: string) {
    this.#redis = redis
    this.#group = group
  }

  /** Entries that were ever appended, those cut off since among them. */
  appended(): number {
    const facts = this.#redis.ask('XINFO', 'STREAM', this.#key('log')).split('\n')
    return Number(facts[facts.indexOf('entries-added') + 1])
  }

  /** Entries that are there. */
  entries(): number {
    return Number(this.#redis.ask('XLEN', this.#key('log')))
  }

  /** What a key takes of Redis' memory, all of it counted. */
  bytesOf(what: 'log' | 'checkpoint'): number {
    return Number(this.#redis.ask('MEMORY', 'USAGE', this.#key(what), 'SAMPLES', '0'))
  }

  /** Waits until there is a checkpoint: the first answer of who founds a group comes before. Rejects if that takes too long. */
  async checkpoint(patienceMs: number): Promise<void> {
    const giveUpAt = performance.now() + patienceMs
    while (this.#redis.ask('HEXISTS', this.#key('checkpoint'), 'id') === '0') {
      if (performance.now() > giveUpAt)
        throw new Error(`The group "${this.#group}" has no checkpoint after ${patienceMs / 1000} s.`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }

  #key(what: 'log' | 'checkpoint'): string {
    return `petstore-sandbox:{${this.#group}}:${what}`
  }
}
