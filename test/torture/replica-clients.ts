import { type HeardPet, QuotaHistory, SpaceHistory } from './history.js'
import type { Trial } from './trial.js'
import { type Heard, request, Wire } from './wire.js'

/** Pets in a space when clients move on to the next: one page of a list has them all. */
const FULL = 60
/** What the free plan allows in a minute. The clock stands. */
const QUOTA = 60
/** Includes the pets that a space starts with. */
const PAGE = 100

/** The outcome of the request is unknown. */
const UNKNOWN = new Set(['closed', 'cut', 'refused'])

/** Where a replica is reached. */
export interface Seat {
  readonly port: number
}

/** Clients of all replicas, who take down what they send and hear. */
export class ReplicaClients {
  readonly #trial: Trial
  readonly seeds: ReadonlySet<string>
  /** All spaces so far, by name. */
  readonly spaces = new Map<string, SpaceHistory>()
  readonly quotas = new Map<string, QuotaHistory>()
  requests = 0
  /** Number of requests by outcome. */
  readonly outcomes = new Map<string, number>()
  readonly #mark: string
  #names = 0
  #isOver = false

  /** @param mark part of the names of its spaces and pets, which makes them unique */
  constructor(trial: Trial, seeds: ReadonlySet<string>, mark = 'all') {
    this.#mark = mark
    this.#trial = trial
    this.seeds = seeds
  }

  stop(): void {
    this.#isOver = true
  }

  /** Resolves once `count` pets are acknowledged. */
  async untilAcknowledged(count: number): Promise<void> {
    while (this.acknowledged < count) await new Promise((resolve) => setTimeout(resolve, 10))
  }

  get acknowledged(): number {
    return [...this.spaces.values()].reduce((sum, { acknowledged }) => sum + acknowledged, 0)
  }

  /** One client more, who uses these replicas until all are stopped. */
  async use(seats: readonly Seat[]): Promise<void> {
    const wires = new Map<number, Wire>()
    while (!this.#isOver) {
      try {
        // Each of its requests goes to any of them.
        await this.#act((...parts) => this.#ask(wires, this.#trial.oneOf(seats).port, ...parts))
      } catch (error) {
        this.#trial.lose(String(error))
      }
    }
    for (const wire of wires.values()) wire.close()
  }

  async #ask(
    wires: Map<number, Wire>,
    port: number,
    method: string,
    target: string,
    parts: Parameters<typeof request>[2],
  ): Promise<Heard | 'refused'> {
    this.requests++
    const heard = await this.#send(wires, port, request(method, target, parts), method)
    const outcome = typeof heard === 'string' ? heard : String(heard.status)
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1)
    // Nobody waits for a replica in a loop without pause.
    if (UNKNOWN.has(outcome) || outcome === '503') await new Promise((resolve) => setTimeout(resolve, 20))
    return heard
  }

  async #send(wires: Map<number, Wire>, port: number, bytes: Buffer, method: string): Promise<Heard | 'refused'> {
    const wire = wires.get(port) ?? (await Wire.open(port).catch(() => undefined))
    if (wire === undefined) return 'refused'
    wires.set(port, wire)
    wire.send(bytes)
    const heard = await wire.answer(method).catch(async (error: unknown) => {
      // A late response would be taken for the next one.
      wire.close()
      wires.delete(port)
      throw new Error(`${error}, to ${bytes.toString().split('\r\n')[0]}`)
    })
    const isOver = typeof heard === 'string' || heard.headers.get('connection') === 'close'
    if (isOver) {
      wire.close()
      wires.delete(port)
    }
    return heard
  }

  async #act(ask: Ask): Promise<void> {
    const choice = this.#trial.integer(0, 100)
    if (choice < 40) return this.#addPet(ask, this.#currentSpace())
    if (choice < 60) return this.#listPets(ask, this.#anySpace())
    if (choice < 75) return this.#getPet(ask, this.#anySpace())
    if (choice < 93) return this.#spendQuota(ask)
    if (choice < 95) return this.#steerAndRead(ask)
    return this.#moveAbout(ask, this.#anySpace())
  }

  async #addPet(ask: Ask, space: string): Promise<void> {
    const isLong = this.#trial.integer(0, 60) === 0
    const number = ++this.#names
    const pet = {
      name: `${this.#mark} ${number} 🐕${isLong ? 'x'.repeat(this.#trial.integer(1000, 60_000)) : ''}`,
      categoryId: number,
      ...(number % 3 === 0 ? { status: 'sold' } : {}),
    }
    const acknowledge = this.#historyOf(space).send(pet)
    const byVerb = this.#trial.integer(0, 5) === 0
    const heard = byVerb
      ? await ask('POST', `/__sandbox/pets?space=${space}`, { body: JSON.stringify(pet) })
      : await ask('POST', '/v1/pets', { key: `sandbox-enterprise~${space}`, body: JSON.stringify(pet) })
    if (typeof heard === 'string' || heard.status === 503) return
    if (heard.status !== (byVerb ? 200 : 201))
      return this.#trial.lose(`adding a pet is answered ${heard.status} ${heard.body}`)
    acknowledge(JSON.parse(heard.body) as HeardPet)
  }

  async #listPets(ask: Ask, space: string): Promise<void> {
    const history = this.#historyOf(space)
    const askedAt = performance.now()
    const byVerb = this.#trial.integer(0, 3) === 0
    const heard = byVerb
      ? await ask('GET', `/__sandbox/pets?space=${space}`, {})
      : await ask('GET', `/v1/pets?limit=${PAGE}`, { key: `sandbox-enterprise~${space}` })
    if (typeof heard === 'string' || heard.status === 503) return
    // It has not been opened yet.
    const isEmpty = byVerb && heard.status === 404
    if (heard.status !== 200 && !isEmpty) return this.#trial.lose(`a list is answered ${heard.status} ${heard.body}`)
    const list = isEmpty ? [] : (JSON.parse(heard.body) as HeardPet[])
    history.hold(list, this.seeds, askedAt, byVerb ? 'the list of the control plane' : 'a list')
  }

  async #getPet(ask: Ask, space: string): Promise<void> {
    const pet = this.#historyOf(space).oneAcknowledged()
    if (pet === undefined) return
    const heard = await ask('GET', `/v1/pets/${pet.id}`, { key: `sandbox-enterprise~${space}` })
    if (typeof heard === 'string' || heard.status === 503) return
    const { name, categoryId, status } = (heard.status === 200 ? JSON.parse(heard.body) : {}) as Partial<HeardPet>
    this.#trial.check(
      JSON.stringify([name, categoryId, status ?? null]) === pet.text,
      () => `pet ${pet.id} of "${space}" is ${heard.status} ${heard.body}, acknowledged was ${pet.text}`,
    )
  }

  async #spendQuota(ask: Ask): Promise<void> {
    const name = this.#currentQuota()
    const quota = this.#quotaOf(name)
    const heard = await ask('GET', '/v1/pets?limit=1', { key: `sandbox-free~${name}` })
    if (typeof heard === 'string' || heard.status === 503) quota.unknown++
    else if (heard.status === 200) quota.grant(Number(heard.headers.get('x-ratelimit-remaining')))
    else if (heard.status === 429) quota.refused++
    else this.#trial.lose(`a request within a quota is answered ${heard.status} ${heard.body}`)
  }

  /** A change through one replica is visible through any other. */
  async #steerAndRead(ask: Ask): Promise<void> {
    const space = `own-${this.#mark}-${++this.#names}`
    const pet = JSON.stringify({ name: 'to be forgotten', categoryId: 1 })
    const added = await ask('POST', '/v1/pets', { key: `sandbox-enterprise~${space}`, body: pet })
    const moved = await ask('POST', `/__sandbox/clock/advance?space=${space}`, { body: '{"by":"90s"}' })
    const shown = await ask('GET', `/__sandbox/clock?space=${space}`, {})
    if (isAnswered(moved) && isAnswered(shown)) {
      const [told, read] = [moved, shown].map(({ body }) => (JSON.parse(body) as { now?: string }).now)
      this.#trial.check(told !== undefined && told === read, () => `the clock was moved to ${told} and reads ${read}`)
    }
    const reset = await ask('POST', `/__sandbox/reset?space=${space}`, {})
    const listed = await ask('GET', `/__sandbox/pets?space=${space}`, {})
    // An adding that was given up may come after all, but not after the list was read.
    if (!isAnswered(added) || !isAnswered(reset) || !isAnswered(listed)) return
    const ids = (JSON.parse(listed.body) as HeardPet[]).map(({ id }) => String(id))
    this.#trial.check(
      ids.length === this.seeds.size && ids.every((id) => this.seeds.has(id)),
      () => `a space that was reset has the pets ${ids.join()}`,
    )
  }

  /** Other verbs, which every replica applies in the same order. */
  async #moveAbout(ask: Ask, space: string): Promise<void> {
    const verbs: readonly (readonly [string, string, string])[] = [
      ['PUT', 'faults', '["getPet:503@0.5%"]'],
      ['DELETE', 'faults', ''],
      ['PATCH', 'settings', '{"senders":3}'],
      ['PUT', 'snapshots/one', ''],
      ['PATCH', 'keys/sandbox-free', '{"plan":"free"}'],
      ['PUT', 'keys/sandbox-pro/ban', '{"for":"1h"}'],
    ]
    const [method, target, body] = this.#trial.oneOf(verbs)
    const parts = body === '' ? {} : { body }
    const heard = await ask(method, `/__sandbox/${target}?space=${space}`, parts)
    if (typeof heard === 'string' || heard.status === 503 || heard.status === 404) return
    this.#trial.check(heard.status < 300, () => `${method} ${target} ${body} is answered ${heard.status} ${heard.body}`)
  }

  /** The space that pets are added to now. */
  #currentSpace(): string {
    const last = [...this.spaces].at(-1)
    if (last !== undefined && last[1].size < FULL) return last[0]
    return this.#open()
  }

  #anySpace(): string {
    const names = [...this.spaces.keys()]
    // Late ones more often: that is where something happens.
    const from = this.#trial.integer(0, 3) === 0 ? 0 : Math.max(0, names.length - 3)
    return names[this.#trial.integer(from, names.length + 1)] ?? this.#currentSpace()
  }

  #open(): string {
    const name = `pets-${this.#mark}-${this.spaces.size + 1}`
    this.spaces.set(name, new SpaceHistory(this.#trial, name))
    return name
  }

  #historyOf(space: string): SpaceHistory {
    const history = this.spaces.get(space)
    if (history === undefined) throw new Error(`unknown space "${space}"`)
    return history
  }

  #currentQuota(): string {
    const last = [...this.quotas].at(-1)
    if (last !== undefined && last[1].refused < QUOTA) return last[0]
    const name = `quota-${this.#mark}-${this.quotas.size + 1}`
    this.quotas.set(name, new QuotaHistory(this.#trial, name, QUOTA))
    return name
  }

  #quotaOf(name: string): QuotaHistory {
    const quota = this.quotas.get(name)
    if (quota === undefined) throw new Error(`unknown quota "${name}"`)
    return quota
  }
}

type Ask = (method: string, target: string, parts: Parameters<typeof request>[2]) => Promise<Heard | 'refused'>

function isAnswered(heard: Heard | 'refused'): heard is Exclude<Heard, string> {
  return typeof heard !== 'string' && heard.status < 300
}
