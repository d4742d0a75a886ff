import { execFileSync, spawnSync } from 'node:child_process'

/** A host, as seen from the network that it has to others. */
interface Host {
  readonly namespace: string
  /** Where it is reached by clients. */
  readonly address: string
  /** Its address for Redis, in the network between the hosts. */
  readonly redis: string
}

/**
 * Hosts with networks of their own, and one network between them where Redis and the
 * clients are: private namespaces of this machine. Each host has two
 * links to it, one to Redis and one to its clients.
 */
export class Hosts {
  /** The namespace between them. */
  readonly name: string
  readonly #count: number

  constructor(name: string, count: number) {
    this.name = name
    this.#count = count
  }

  static arePossible(): boolean {
    const name = `torture-${process.pid}-try`
    const made = spawnSync('ip', ['netns', 'add', name]).status === 0
    if (made) ip('netns', 'delete', name)
    return made
  }

  static create(count: number): Hosts {
    const hosts = new Hosts(`torture-${process.pid}`, count)
    ip('netns', 'add', hosts.name)
    ip('-n', hosts.name, 'link', 'set', 'lo', 'up')
    for (const [index, { namespace }] of hosts.all.entries()) {
      ip('netns', 'add', namespace)
      ip('-n', namespace, 'link', 'set', 'lo', 'up')
      hosts.#join(namespace, `redis${index}`, `10.77.${10 + index}`)
      hosts.#join(namespace, `users${index}`, `10.77.${20 + index}`)
    }
    return hosts
  }

  get all(): readonly Host[] {
    return Array.from({ length: this.#count }, (_, index) => ({
      namespace: `${this.name}-${index}`,
      address: `10.77.${20 + index}.2`,
      redis: `10.77.${10 + index}.1`,
    }))
  }

  /** Takes away what a host reaches Redis by, or gives it back. */
  linkToRedis(index: number, state: 'up' | 'down'): void {
    ip('link', 'set', `redis${index}`, state)
  }

  remove(): void {
    for (const { namespace } of this.all) ip('netns', 'delete', namespace)
    ip('netns', 'delete', this.name)
  }

  /** A cable: its end here has the address .1, its end at the host .2. */
  #join(namespace: string, cable: string, net: string): void {
    const peer = ['type', 'veth', 'peer', 'name', cable, 'netns', namespace]
    ip('-n', this.name, 'link', 'add', cable, ...peer)
    ip('-n', this.name, 'address', 'add', `${net}.1/30`, 'dev', cable)
    ip('-n', namespace, 'address', 'add', `${net}.2/30`, 'dev', cable)
    ip('-n', this.name, 'link', 'set', cable, 'up')
    ip('-n', namespace, 'link', 'set', cable, 'up')
  }
}

function ip(...words: readonly string[]): void {
  execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'pipe'] })
}
