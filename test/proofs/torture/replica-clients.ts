import { setTimeout as passes } from 'node:timers/promises'
import { parseJson } from '../../../src/contract/json.js'
import { Client, type Heard, type RequestParts, statusOf } from './client.js'
import { History, holdPet, type Pet } from './history.js'
import type { ReplicaSeat } from './replicas.js'
import type { Trial } from './trial.js'

/** The clock stands, so that a quota is one; bans would hide it. */
export const REPLICA_FLAGS = [
  ...['--seed', '1', '--now', '2026-03-01T10:00:00Z', '--freeze', '--ban-after', 'never'],
  ...['--max-spaces', '100000', '--max-store', '1GiB'],
]
/** Pets in a space when clients move on to the next: one page of a list has them all. */
const FULL = 60
/** What the free plan allows in a minute. The clock stands. */
const QUOTA = 60

type Ask = (method: string, path: string, parts?: RequestParts) => Promise<Heard>
type Responded = Exclude<Heard, string>

/** The responses of one quota, which grants each of its requests once. */
class QuotaHistory {
  readonly name: string
  readonly #trial: Trial
  /** By the remaining requests in the response. */
  readonly #granted = new Set<number>()
  refused = 0
  /** Requests without a response, which may have been charged. */
  unknown = 0

  constructor(trial: Trial, name: string) {
    this.#trial = trial
    this.name = name
  }

  grant(remaining: number): void {
    if (this.#granted.has(remaining)) this.#trial.lose(`quota ${this.name}: granted twice with ${remaining} remaining`)
    this.#granted.add(remaining)
  }

  /** As many 200s as the quota has, less those whose response was lost. */
  hold(): void {
    const { refused, unknown } = this
    const granted = this.#granted.size
    const isWhole = refused === 0 || granted + unknown >= QUOTA
    const what = `quota ${this.name}: ${granted} of ${QUOTA} granted, ${refused} refused, ${unknown} unknown`
    this.#trial.check(granted <= QUOTA && isWhole, () => what)
  }
}

/** Clients of all replicas, who take down what they send and hear. */
export class ReplicaClients {
  readonly #trial: Trial
  readonly seeds: readonly Pet[]
  /** All spaces so far, by name. */
  readonly spaces = new Map<string, History>()
  readonly quotas: QuotaHistory[] = []
  /** Number of requests by outcome. */
  readonly outcomes = new Map<string, number>()
  #names = 0
  #isOver = false

  constructor(trial: Trial, seeds: readonly Pet[]) {
    this.#trial = trial
    this.seeds = seeds
  }

  stop(): void {
    this.#isOver = true
  }

  /** One client more, whose requests go to any of these replicas until all are stopped. */
  async use(seats: readonly ReplicaSeat[]): Promise<void> {
    const clients = seats.map(({ server }) => new Client(server.port))
    const ask: Ask = async (...parts) => {
      const heard = await this.#trial.oneOf(clients).ask(...parts)
      const outcome = String(statusOf(heard))
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1)
      if (typeof heard !== 'string' && heard.status !== 503) return heard
      // Nobody waits for a replica in a loop without pause.
      await passes(20)
      // The outcome is unknown after a 503, as without a response.
      return 'closed'
    }
    while (!this.#isOver) await this.#act(ask).catch((error: unknown) => this.#trial.lose(String(error)))
    for (const client of clients) client.close()
  }

  #act(ask: Ask): Promise<void> {
    const choice = this.#trial.integer(0, 100)
    if (choice < 40) return this.#addPet(ask)
    if (choice < 60) return this.#listPets(ask)
    if (choice < 75) return this.#getPet(ask)
    if (choice < 93) return this.#spendQuota(ask)
    if (choice < 95) return this.#steerAndRead(ask)
    return this.#callVerb(ask)
  }

  /** To the last space, until it is full. */
  async #addPet(ask: Ask): Promise<void> {
    let [space, history] = [...this.spaces].at(-1) ?? []
    if (space === undefined || history === undefined || history.size >= FULL) {
      space = `pets-${this.spaces.size + 1}`
      history = new History(this.#trial, this.seeds, space)
      this.spaces.set(space, history)
    }
    const isLong = this.#trial.integer(0, 60) === 0
    const number = ++this.#names
    const name = `pet ${number} 🐕${isLong ? 'x'.repeat(this.#trial.integer(1000, 60_000)) : ''}`
    const pet = { name, categoryId: number, ...(number % 3 === 0 ? { status: 'sold' } : {}) }
    const path = this.#trial.integer(0, 5) === 0 ? `/__sandbox/resources/pets?space=${space}` : '/v1/pets'
    const heard = await history.add(pet, (body) => ask('POST', path, { key: `sandbox-enterprise~${space}`, body }))
    if (typeof heard !== 'string' && heard.status >= 300)
      this.#trial.lose(`adding a pet: ${heard.status} ${heard.body}`)
  }

  async #listPets(ask: Ask): Promise<void> {
    const [space, history] = this.#anySpace()
    const askedAt = performance.now()
    const byVerb = this.#trial.integer(0, 3) === 0
    const path = byVerb ? `/__sandbox/resources/pets?space=${space}` : '/v1/pets?limit=100'
    const heard = await ask('GET', path, { key: `sandbox-enterprise~${space}` })
    if (typeof heard === 'string') return
    // It has not been opened yet.
    if (byVerb && heard.status === 404) return history?.hold(this.seeds, askedAt, path)
    if (heard.status !== 200) return this.#trial.lose(`a list is answered ${heard.status} ${heard.body}`)
    history?.hold(parseJson(heard.body) as Pet[], askedAt, path, { isPage: !byVerb })
  }

  async #getPet(ask: Ask): Promise<void> {
    const [space, history] = this.#anySpace()
    const acknowledged = history?.acknowledged ?? []
    if (acknowledged.length === 0) return
    const pet = this.#trial.oneOf(acknowledged)
    const heard = await ask('GET', `/v1/pets/${pet.id}`, { key: `sandbox-enterprise~${space}` })
    if (typeof heard !== 'string') holdPet(this.#trial, pet, heard)
  }

  async #spendQuota(ask: Ask): Promise<void> {
    let quota = this.quotas.at(-1)
    if (quota === undefined || quota.refused >= QUOTA) {
      quota = new QuotaHistory(this.#trial, `quota-${this.quotas.length + 1}`)
      this.quotas.push(quota)
    }
    const heard = await ask('GET', '/v1/pets?limit=1', { key: `sandbox-free~${quota.name}` })
    if (typeof heard === 'string') quota.unknown++
    else if (heard.status === 200) quota.grant(Number(heard.headers['x-ratelimit-remaining']))
    else if (heard.status === 429) quota.refused++
    else this.#trial.lose(`a request within a quota is answered ${heard.status} ${heard.body}`)
  }

  /** A change through one replica is visible through any other. */
  async #steerAndRead(ask: Ask): Promise<void> {
    const space = `own-${++this.#names}`
    const pet = JSON.stringify({ name: 'to be forgotten', categoryId: 1 })
    const verb = (method: string, what: string, parts?: RequestParts) =>
      ask(method, `/__sandbox/${what}?space=${space}`, parts)
    const added = await ask('POST', '/v1/pets', { key: `sandbox-enterprise~${space}`, body: pet })
    const moved = await verb('POST', 'clock/advance', { body: '{"by":"90s"}' })
    const shown = await verb('GET', 'clock')
    if (hasSucceeded(moved) && hasSucceeded(shown)) {
      const [told, read] = [moved, shown].map(({ body }) => JSON.parse(body).now)
      this.#trial.check(told !== undefined && told === read, () => `the clock was moved to ${told} and reads ${read}`)
    }
    const reset = await verb('POST', 'reset')
    const listed = await verb('GET', 'pets')
    // An adding that was given up may come after all, but not after the list was read.
    if (hasSucceeded(added) && hasSucceeded(reset) && hasSucceeded(listed))
      new History(this.#trial, this.seeds, space).hold(parseJson(listed.body) as Pet[], 0, 'a space after its reset')
  }

  /** Other verbs, which every replica applies in the same order. */
  async #callVerb(ask: Ask): Promise<void> {
    const [space] = this.#anySpace()
    const [method, target, body] = this.#trial.oneOf([
      ['PUT', 'faults', '["getPet:503@0.5%"]'],
      ['DELETE', 'faults'],
      ['PATCH', 'settings', '{"senders":3}'],
      ['PUT', 'snapshots/one'],
      ['PATCH', 'keys/sandbox-free', '{"plan":"free"}'],
      ['PUT', 'keys/sandbox-pro/ban', '{"for":"1h"}'],
    ] as const)
    const heard = await ask(method, `/__sandbox/${target}?space=${space}`, body === undefined ? {} : { body })
    if (typeof heard === 'string' || heard.status === 404) return
    this.#trial.check(heard.status < 300, () => `${method} ${target} ${body} is answered ${heard.status} ${heard.body}`)
  }

  #anySpace(): [string, History] | [] {
    const all = [...this.spaces]
    // Late ones more often: that is where something happens.
    const from = this.#trial.integer(0, 3) === 0 ? 0 : Math.max(0, all.length - 3)
    return all[this.#trial.integer(from, all.length)] ?? []
  }
}

function hasSucceeded(heard: Heard): heard is Responded {
  return typeof heard !== 'string' && heard.status < 300
}
