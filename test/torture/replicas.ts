import { freePort, HAS_REDIS, RedisServer } from '../support/redis-server.js'
import { TcpProxy } from '../support/tcp-proxy.js'
import type { Server, Trial } from './trial.js'
import { ask, type Heard, request, Wire } from './wire.js'

/** A sent pet and its response. */
interface SentPet {
  readonly text: string
  /** Time in this process, in milliseconds. */
  readonly sentAt: number
  acknowledged: { readonly at: number; readonly id: string } | undefined
}

export interface HeardPet {
  readonly id: number
  readonly name: string
  readonly categoryId: number
  readonly status?: string
}

/**
 * What clients have sent and heard of one space, and whether that can be true: one
 * sandbox that does one thing after the other must have been able to say it.
 */
export class SpaceHistory {
  readonly #trial: Trial
  readonly #space: string
  /** By name, which no two pets share. */
  readonly #pets = new Map<string, SentPet>()

  constructor(trial: Trial, space: string) {
    this.#trial = trial
    this.#space = space
  }

  get size(): number {
    return this.#pets.size
  }

  get acknowledged(): number {
    return [...this.#pets.values()].filter(({ acknowledged }) => acknowledged !== undefined).length
  }

  /** @returns a function to call with the acknowledged pet */
  send(pet: Omit<HeardPet, 'id'>): (response: HeardPet) => void {
    const sent: SentPet = { text: textOf(pet), sentAt: performance.now(), acknowledged: undefined }
    this.#pets.set(pet.name, sent)
    return (response) => {
      sent.acknowledged = { at: performance.now(), id: String(response.id) }
      if (textOf(response) !== sent.text) this.#lose(`201 says ${JSON.stringify(response)}, sent was ${sent.text}`)
    }
  }

  /** An acknowledged pet; undefined before the first. */
  oneAcknowledged(): { readonly id: string; readonly text: string } | undefined {
    const all = [...this.#pets.values()]
    const { text, acknowledged } = this.#trial.oneOf(all.length === 0 ? [undefined] : all) ?? {}
    return text === undefined || acknowledged === undefined ? undefined : { id: acknowledged.id, text }
  }

  /**
   * Checks a list of all pets against those acknowledged before its request.
   *
   * @param askedAt pets acknowledged before must be in the list
   */
  hold(list: readonly HeardPet[], seeds: ReadonlySet<string>, askedAt: number, where: string): void {
    const now = performance.now()
    const seen = new Map<string, string>()
    for (const pet of list) {
      const id = String(pet.id)
      const sent = this.#pets.get(pet.name)
      if (sent === undefined && seeds.has(id)) continue
      if (sent === undefined) this.#lose(`${where} has the pet ${JSON.stringify(pet)}, which nobody sent`)
      else if (seen.has(pet.name)) this.#lose(`${where} has the pet "${pet.name}" twice: ${seen.get(pet.name)}, ${id}`)
      else if (sent.text !== textOf(pet) || sent.sentAt > now) this.#lose(`${where} has ${JSON.stringify(pet)}`)
      else if (sent.acknowledged !== undefined && sent.acknowledged.id !== id) {
        this.#lose(`${where} has the pet "${pet.name}" as ${id}, acknowledged was ${sent.acknowledged.id}`)
      }
      seen.set(pet.name, id)
    }
    for (const [name, { acknowledged }] of this.#pets) {
      if (acknowledged !== undefined && acknowledged.at < askedAt && !seen.has(name)) {
        this.#lose(`${where} misses the pet "${name}", acknowledged ${Math.round(askedAt - acknowledged.at)} ms before`)
      }
    }
    this.#trial.survive()
  }

  /** Checks that a pet sent after the response to another has the higher id. */
  holdOrder(): void {
    const all = [...this.#pets.values()].flatMap(({ sentAt, acknowledged }) =>
      acknowledged === undefined ? [] : [{ sentAt, ...acknowledged }],
    )
    const bySending = all.toSorted((a, b) => a.sentAt - b.sentAt)
    const byResponse = all.toSorted((a, b) => a.at - b.at)
    let highest = 0
    let answered = 0
    for (const { sentAt, id } of bySending) {
      for (let next = byResponse[answered]; next !== undefined && next.at < sentAt; next = byResponse[++answered]) {
        highest = Math.max(highest, Number(next.id))
      }
      if (Number(id) <= highest) this.#lose(`the pet ${id} was sent after ${highest} was acknowledged`)
    }
  }

  #lose(what: string): void {
    this.#trial.lose(`space "${this.#space}": ${what}`)
  }
}

/** The responses of one quota, which grants each of its requests once. */
export class QuotaHistory {
  readonly #trial: Trial
  readonly #name: string
  readonly #limit: number
  /** By the remaining requests in the response. */
  readonly #granted = new Set<number>()
  refused = 0
  /** Requests without a response, which may have been charged. */
  unknown = 0

  constructor(trial: Trial, name: string, limit: number) {
    this.#trial = trial
    this.#name = name
    this.#limit = limit
  }

  get granted(): number {
    return this.#granted.size
  }

  grant(remaining: number): void {
    if (this.#granted.has(remaining)) this.#trial.lose(`quota ${this.#name}: granted twice with ${remaining} remaining`)
    this.#granted.add(remaining)
  }

  /** As many 200s as the quota has, less those whose response was lost. */
  hold(): void {
    const { granted, refused, unknown } = this
    const most = this.#limit
    const isWhole = refused === 0 || granted + unknown >= most
    this.#trial.check(
      granted <= most && isWhole,
      () => `quota ${this.#name}: ${granted} of ${most} granted, ${refused} refused, ${unknown} unknown`,
    )
  }
}

function textOf({ name, categoryId, status }: Omit<HeardPet, 'id'>): string {
  return JSON.stringify([name, categoryId, status ?? null])
}

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
const CALM_MS = 60_000

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
    const heard = await wire.response(method).catch(async (error: unknown) => {
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

/** After all disturbances, every replica has the acknowledged state, and all agree. */
export async function audit(trial: Trial, seats: readonly Seat[], clients: ReplicaClients): Promise<void> {
  let acknowledged = 0
  for (const [space, history] of clients.spaces) {
    acknowledged += history.acknowledged
    const askedAt = performance.now()
    for (const { port } of seats) history.hold(await pets(port, space), clients.seeds, askedAt, `port ${port}`)
    history.holdOrder()
  }
  for (const quota of clients.quotas.values()) quota.hold()
  await sameEverywhere(trial, seats, clients)
  await sameDigests(trial, seats)
  trial.note(`${acknowledged} acknowledged pets, each once on each of ${seats.length} replicas`)
}

/** Removes the duration of unfinished exchanges of a killed replica, which grows between the reads. */
function withoutRunningTime(text: string): string {
  return text.replaceAll(/("ended":null,"durationMs":)[\d.]+/g, '$1…')
}

/** All replicas say the same of what clients did last. */
async function sameEverywhere(trial: Trial, seats: readonly Seat[], clients: ReplicaClients): Promise<void> {
  const names = [...clients.spaces.keys(), ...clients.quotas.keys()].slice(-20)
  const same = [
    '/spaces',
    ...names.flatMap((name) => ['state', 'requests', 'conduct', 'pets'].map((what) => `/${what}?space=${name}`)),
  ]
  for (const target of same) {
    const [said, ...others] = await Promise.all(
      seats.map(async ({ port }) => withoutRunningTime(await say(port, target))),
    )
    for (const other of others)
      trial.check(other === said, () => `GET ${target}: replicas say ${difference(said ?? '', other)}`)
  }
}

/** Where two texts part. */
function difference(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return `${JSON.stringify(one.slice(at - 60, at + 60))} and ${JSON.stringify(other.slice(at - 60, at + 60))}`
}

/** A digest writes the whole state. */
const DIGEST_MS = 180_000

/** All replicas hold the same, to the last byte, at the same position. */
async function sameDigests(trial: Trial, seats: readonly Seat[]): Promise<void> {
  const giveUpAt = performance.now() + CALM_MS
  for (;;) {
    const all: Digested[] = []
    for (const { port } of seats) all.push(await digestOf(port))
    const isCalm = new Set(all.map(({ position }) => position)).size === 1
    if (!isCalm && performance.now() < giveUpAt) continue
    const digests = new Set(all.map(({ digest }) => digest))
    trial.check(isCalm && digests.size === 1, () => `digests differ: ${JSON.stringify(all)}`)
    if (isCalm && digests.size === 1)
      trial.note(`equal digests on ${seats.length} replicas at position ${all[0]?.position}`)
    return
  }
}

interface Digested {
  readonly position: number
  readonly digest: string
}

async function digestOf(port: number): Promise<Digested> {
  const replicas = JSON.parse(
    (await say(port, '/replicas?digest=true', DIGEST_MS)).slice('200 '.length),
  ) as readonly (Digested & {
    readonly isThis: boolean
  })[]
  const own = replicas.find(({ isThis }) => isThis)
  if (own === undefined) throw new Error(`the replica at port ${port} does not know itself`)
  const { position, digest } = own
  return { position, digest }
}

/** All pets of a space; empty if the space is not open. */
export async function pets(port: number, space: string): Promise<readonly HeardPet[]> {
  const heard = await ask(port, 'GET', `/__sandbox/pets${space === '' ? '' : `?space=${space}`}`)
  if (typeof heard === 'string' || (heard.status !== 200 && heard.status !== 404)) {
    throw new Error(`the pets of "${space}" cannot be listed: ${typeof heard === 'string' ? heard : heard.body}`)
  }
  return heard.status === 404 ? [] : (JSON.parse(heard.body) as HeardPet[])
}

async function say(port: number, target: string, patienceMs?: number): Promise<string> {
  const heard = await ask(port, 'GET', `/__sandbox${target}`, patienceMs === undefined ? {} : { patienceMs })
  return typeof heard === 'string' ? heard : `${heard.status} ${heard.body}`
}
