import { describe, expect, it } from 'vitest'
import type { HandlerResult } from '../../src/domain/messages.js'
import { type RandomStream, randomStream } from '../../src/domain/random.js'
import { MINUTE_MS } from '../../src/domain/time.js'
import fc from '../support/fast-check.js'
import { Scene } from './scene.js'

/** Sends one request at a time. Waits by the space's clock or in real time, the earlier of both. */
interface Sender {
  /** The request in flight. */
  awaited: { readonly position: number; readonly response: HandlerResult } | undefined
  /** Its response was sent. */
  isSent: boolean
  readyAt: number
  readyWall: number
  failures: number
}

const PATHS = ['/pets', '/pets?limit=1', '/pets?limit=2']

/** Clients that follow the rules, with random responses and network failures. */
class Crew {
  readonly scene: Scene
  readonly #chance: RandomStream
  readonly #senders: Sender[]
  readonly #isFailing: boolean

  constructor(members: number, stated: number, seed: number, isFailing: boolean) {
    this.scene = new Scene(stated)
    this.#chance = randomStream(`crew ${seed}`)
    this.#isFailing = isFailing
    const sender = { awaited: undefined, isSent: false, readyAt: 0, readyWall: 0, failures: 0 }
    this.#senders = Array.from({ length: members }, () => ({ ...sender }))
  }

  step(): void {
    const { scene } = this
    const passing = this.#oneOf([0, 1, 7, 30, 100, 900, 3000])
    // Sometimes only one of the clocks moves.
    const how = this.#upTo(4)
    scene.pass(how === 0 ? 0 : passing, how === 1 ? 0 : passing)
    const sender = this.#oneOf(this.#senders)
    if (sender.awaited === undefined) this.#send(sender)
    else if (sender.isSent) this.#receive(sender, sender.awaited.response)
    else this.#end(sender, sender.awaited.position)
  }

  #send(sender: Sender): void {
    const { scene } = this
    if (scene.now < sender.readyAt && scene.wall < sender.readyWall) return
    const response = this.#response()
    const position = scene.sends(response, {
      path: this.#oneOf(PATHS),
      connection: this.#upTo(4),
      deliveredUpTo: this.#upTo(scene.position + 1),
    })
    sender.awaited = { position, response }
    sender.isSent = false
  }

  #end(sender: Sender, position: number): void {
    const end = this.#oneOf(['sent', 'sent', 'sent', 'sent', 'cut', 'left'] as const)
    const isBroken = sender.awaited?.response.fault !== undefined
    this.scene.ends(position, isBroken ? 'cut' : end)
    if (isBroken || end === 'sent') sender.isSent = true
    else sender.awaited = undefined
  }

  #receive(sender: Sender, { status, headers, retryAt, fault }: HandlerResult): void {
    const { scene } = this
    sender.awaited = undefined
    // A client's timers fire a little early.
    const early = this.#upTo(50)
    if (headers !== undefined) {
      sender.readyAt = (retryAt ?? 0) - early
      sender.readyWall = scene.wall + Number(headers[1]) * 1000 - early
    } else if (status >= 429 || fault !== undefined) {
      const backoff = 100 * 2 ** Math.min(sender.failures++, 6)
      sender.readyAt = scene.now + backoff
      sender.readyWall = scene.wall + backoff
    } else sender.failures = 0
  }

  #response(): HandlerResult {
    const { scene } = this
    const wait = this.#oneOf([400, 1000, 7000, MINUTE_MS])
    const reset: HandlerResult = { status: 200, body: '', fault: 'connection-reset', reason: 'fault' }
    return this.#oneOf([
      ...(this.#isFailing ? [] : [scene.served, scene.served]),
      scene.refusal(wait),
      scene.refusal(wait, 'ban'),
      scene.refusal(wait, 'fault', 503),
      scene.failure,
      { status: 429, body: '', reason: 'storm' },
      reset,
    ])
  }

  #upTo(limit: number): number {
    return Math.floor(this.#chance.next() * limit)
  }

  #oneOf<T>(items: readonly T[]): T {
    const item = items[this.#upTo(items.length)]
    if (item === undefined) throw new RangeError('an empty list')
    return item
  }
}

it('senders that keep the rules are never blamed, even if they share connections and lose responses', () => {
  const crews = [fc.integer({ min: 1, max: 9 }), fc.nat(3), fc.nat(), fc.boolean()] as const
  const property = fc.property(...crews, (members, spare, seed, isFailing) => {
    const crew = new Crew(members, members + spare, seed, isFailing)
    for (let i = 0; i < 600; i++) crew.step()
    expect(crew.scene.violations).toEqual([])
  })
  fc.assert(property, { numRuns: 300 })
})

it('one client is never blamed for parallel requests that each keep the rules', () => {
  const property = fc.property(fc.integer({ min: 2, max: 9 }), fc.nat(), (widgets, seed) => {
    const chance = randomStream(`widgets ${seed}`)
    const oneOf = <T>(items: readonly T[]) => items[Math.floor(chance.next() * items.length)] as T
    const scene = new Scene(1)
    const response = () =>
      oneOf([scene.served, scene.failure, ...[400, 1000, 7000].map((wait) => scene.refusal(wait))] as const)
    const send = (deliveredUpTo: number) => {
      const result = response()
      return { result, position: scene.sends(result, { deliveredUpTo }), tries: 0 }
    }
    // All are sent at once, each is repeated until it is served.
    let inFlight = Array.from({ length: widgets }, () => send(0))
    const waiting: { at: number; tries: number }[] = []
    while (inFlight.length + waiting.length > 0) {
      scene.pass(oneOf([0, 1, 20, 300]))
      for (const { result, position, tries } of inFlight) {
        scene.ends(position)
        if (result.status < 400) continue
        const wait = result.retryAt === undefined ? 200 * 2 ** Math.min(tries, 6) : result.retryAt - scene.now
        waiting.push({ at: scene.now + wait + Math.floor(chance.next() * 400), tries: tries + 1 })
      }
      inFlight = []
      waiting.sort((one, other) => one.at - other.at)
      const next = waiting.shift()
      if (next === undefined) continue
      scene.pass(Math.max(0, next.at - scene.now))
      inFlight = [{ ...send(scene.position), tries: next.tries }]
    }
    expect(scene.broken).toEqual({})
  })
  fc.assert(property, { numRuns: 300 })
})

describe('a sender that does not wait', () => {
  type Connections = readonly [what: string, sent: (scene: Scene) => { connection?: number; deliveredUpTo?: number }]
  const patterns: readonly Connections[] = [
    ['on one connection', () => ({ connection: 1 })],
    ['on a new connection each time', (scene) => ({ connection: scene.position + 1, deliveredUpTo: scene.position })],
    ['on a pool of four', (scene) => ({ connection: 1 + (scene.position % 4), deliveredUpTo: 0 })],
    ['in process', (scene) => ({ deliveredUpTo: scene.position })],
  ]

  it.each(patterns)('is found when it retries too early %s', (_way, sent) => {
    const scene = new Scene()
    for (let i = 0; i < 12; i++) {
      scene.pass(20)
      scene.ends(scene.sends(scene.refusal(60_000), sent(scene)))
      scene.ends(scene.sends(scene.served, { ...sent(scene), path: '/pets/1' }))
    }
    expect(scene.violations).toEqual(['early-retry'])
  })

  it.each(patterns)('is found when it retries beside a served request %s', (_way, sent) => {
    const scene = new Scene()
    for (let i = 0; i < 5; i++) {
      scene.pass(20)
      scene.ends(scene.sends(scene.failure, sent(scene)))
      scene.ends(scene.sends(scene.served, { ...sent(scene), path: '/pets?limit=1' }))
    }
    expect(scene.violations).toEqual(['no-backoff'])
  })
})

it('clients that start together behind proxies are never blamed if each waits', () => {
  const property = fc.property(fc.integer({ min: 1, max: 30 }), fc.nat(), (clients, seed) => {
    const chance = randomStream(`proxies ${seed}`)
    const between = (least: number, most: number) => least + Math.floor(chance.next() * (most - least))
    const scene = new Scene()
    const start = scene.now
    /** Ends of responses, with their positions. */
    const ended: { at: number; position: number }[] = []
    // Arrivals at the sandbox. Proxies delay requests and responses by 5 to 200 ms, and 245 ms together.
    const due = Array.from({ length: clients }, () => ({
      at: start + between(5, 200),
      path: `/pets?limit=${between(1, 3)}`,
    }))
    while (scene.now < start + 20_000) {
      const next = due.reduce((one, other) => (other.at < one.at ? other : one))
      scene.pass(next.at - scene.now)
      const deliveredUpTo = ended.findLast(({ at }) => scene.now - at >= 250)?.position ?? 0
      const marks = { deliveredUpTo, sentUpTo: scene.position, headers: { via: '1.1 proxy' } }
      const waitMs = chance.next() < 0.5 ? 0 : between(1, 3) * 1000
      const response = waitMs === 0 ? scene.served : scene.refusal(waitMs)
      scene.ends(scene.sends(response, { path: next.path, ...marks }))
      ended.push({ at: scene.now, position: scene.position })
      next.at += waitMs + between(10, 245) + between(0, 250)
    }
    expect(scene.violations).toEqual([])
  })
  fc.assert(property, { numRuns: 100 })
})
