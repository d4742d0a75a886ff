import { expect, it } from 'vitest'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import type { Spaces } from '../../src/core/spaces.js'
import fc from '../support/fast-check.js'
import { serviceRequest } from '../support/service-request.js'
import { runs } from '../support/test-seed.js'
import { applyStep, openMachine, START } from './machine.js'
import { ModelSpace, type Switches, type Used } from './model.js'

const CALLERS = ['sandbox', 'sandbox', 'sandbox', 'sandbox-free', 'sandbox-pro', 'sandbox-limited', 'sandbox-banned']
const callers = fc.constantFrom(...CALLERS)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const length = fc.constantFrom(0, 1, 999, 1000, 59_999, 60_000, 60_001, 300_000, 86_399_999, 86_400_000)
const seconds = fc.constantFrom(1, 30, 60, 61, 300, 86_400)
const plans = fc.constantFrom('free', 'pro', 'business', 'enterprise')
const plain = { noNullPrototype: true }

const LIMITS: readonly (Used | undefined)[] = [
  { perMinute: 3 },
  { perMinute: 2, perDay: 7 },
  { perDay: 5 },
  { perMinute: 0 },
  undefined,
]

/** Something that is done, with as many of a hundred steps as its weight. */
function act<const Name extends string, T extends object = object>(
  weight: number,
  name: Name,
  parts: { [K in keyof T]: fc.Arbitrary<T[K]> } = {} as never,
) {
  return { weight, arbitrary: fc.record(parts).map((input) => ({ do: name, ...(input as T) })) }
}

/** One step of a run, as plain data. Times are lengths from what the clock shows. */
const anyAct = fc.oneof(
  act(60, 'request', {
    key: maybe(fc.constantFrom(...CALLERS, 'sandbox-revoked', 'nobody-knows-it')),
    address: fc.constantFrom('10.0.0.1', '::1'),
    isKnown: fc.boolean(),
  }),
  act(6, 'burst', { key: callers, times: fc.integer({ min: 2, max: 25 }) }),
  act(8, 'settings', {
    switches: fc.oneof<fc.Arbitrary<Partial<Switches>>[]>(
      fc.constantFrom(...LIMITS).map((limits) => ({ limits })),
      fc.record({ plan: plans }),
      fc.record({ rateLimit: fc.boolean() }),
      fc.record({ banAfter: fc.constantFrom(1, 2, 3, 5, 10, 'never' as const) }),
      fc.record({ banDuration: fc.constantFrom(1000, 60_000, 300_000) }),
      fc.record({ banStatus: fc.constantFrom(429, 403, 401) }),
      fc.record({ retryAfter: fc.constantFrom('seconds' as const, 'http-date' as const, 'none' as const) }),
    ),
  }),
  act(8, 'clock', { by: maybe(fc.oneof(length, fc.constantFrom(-1, -60_000, 9e15))), frozen: maybe(fc.boolean()) }),
  act(3, 'real-time'),
  act(1, 'reset'),
  act(2, 'save'),
  act(3, 'restore'),
  act(3, 'scenario', {
    by: maybe(fc.oneof(length, fc.constantFrom(-1, -500, -1000, -30_000, -60_000, -3_600_000))),
    used: fc.dictionary(
      callers,
      fc.constantFrom<Used>({ perMinute: 59 }, { perMinute: 60, perDay: 1000 }, { perDay: 999 }, { perMinute: 1000 }),
      { maxKeys: 2, ...plain },
    ),
    bans: fc.dictionary(callers, fc.constantFrom(1000, 60_000), { maxKeys: 1, ...plain }),
  }),
  act(1, 'ban', { key: callers, seconds: maybe(seconds) }),
  act(1, 'unban', { key: callers }),
  act(2, 'plan', { key: callers, plan: plans }),
  act(5, 'storm', {
    for: fc.constantFrom(500, 10_000),
    every: maybe(fc.constantFrom(10_000, 60_000)),
    wait: fc.constantFrom(1, 1000, 1500, 90_000),
  }),
)

const step = fc.record({
  passes: fc.oneof(
    { weight: 50, arbitrary: fc.integer({ min: 0, max: 1500 }) },
    { weight: 40, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: length },
    { weight: 4, arbitrary: fc.integer({ min: -3000, max: -1 }) },
  ),
  space: fc.constantFrom('' as const, '' as const, 'a' as const),
  act: anyAct,
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A machine and two models of its spaces, led through the same steps. */
class Pair {
  readonly #machine: Spaces = openMachine({ contract: packagedContract(), sandbox: { logLimit: 0 } })
  readonly #models = { '': new ModelSpace(), a: new ModelSpace() }
  #wall = START
  #position = 0
  /** Compared responses and refusals. */
  compared = 0

  constructor() {
    // What takes something away opens no space.
    this.#verb('a', 'settings.change', {})
  }

  take({ passes, space, act }: Step): void {
    this.#wall += passes
    const wall = this.#wall
    const model = this.#models[space]
    const verb = (name: string, input: object = {}) => this.#verb(space, name, input)
    const told = (isDone: boolean, wasDone: boolean) => {
      this.compared++
      expect(isDone).toBe(wasDone)
    }
    switch (act.do) {
      case 'request':
        this.#ask(space, act.key, act.address, act.isKnown)
        break
      case 'burst':
        for (let i = 0; i < act.times; i++) this.#ask(space, act.key, '::1', true)
        break
      case 'settings':
        model.change(act.switches)
        told(true, verb('settings.change', inputOf(act.switches)))
        break
      case 'clock': {
        const to = act.by === undefined ? undefined : model.now(wall) + act.by
        // An instant that cannot be written is rejected before the clock.
        if (to !== undefined && (to > LAST_DATE || to < 0)) return
        const now = to === undefined ? {} : { now: new Date(to).toISOString() }
        const frozen = act.frozen === undefined ? {} : { frozen: act.frozen }
        told(model.setClock(wall, to, act.frozen), verb('clock.set', { ...now, ...frozen }))
        break
      }
      case 'real-time':
        model.realTime(wall)
        told(true, verb('clock.reset'))
        break
      case 'reset':
        model.reset()
        told(true, verb('reset'))
        break
      case 'save':
        model.save(wall)
        told(true, verb('snapshots.save', { name: 'one' }))
        break
      case 'restore':
        told(model.restore(wall), verb('snapshots.restore', { name: 'one' }))
        break
      case 'scenario': {
        const to = act.by === undefined ? undefined : model.now(wall) + act.by
        if (to !== undefined && (to > LAST_DATE || to < 0)) return
        const isDone = model.apply(wall, to, act.used, act.bans)
        const ban = Object.fromEntries(Object.entries(act.bans).map(([key, duration]) => [key, `${duration}ms`]))
        const now = to === undefined ? {} : { now: new Date(to).toISOString() }
        told(isDone, verb('scenario.apply', { scenario: { ...now, used: act.used, ban } }))
        break
      }
      case 'ban': {
        const duration = act.seconds === undefined ? {} : { for: `${act.seconds}s` }
        const isDone = model.ban(wall, act.key, act.seconds === undefined ? undefined : act.seconds * 1000)
        told(isDone, verb('keys.ban', { key: act.key, ...duration }))
        break
      }
      case 'unban':
        model.unban(act.key)
        told(true, verb('keys.unban', { key: act.key }))
        break
      case 'plan':
        model.movePlan(act.key, act.plan)
        told(true, verb('keys.change', { key: act.key, plan: act.plan }))
        break
      case 'storm': {
        if (act.every !== undefined && act.every < act.for) return
        model.startStorm(wall, act.for, act.every, act.wait)
        const every = act.every === undefined ? {} : { every: `${act.every}ms` }
        told(
          true,
          verb('storm.start', { storm: { rate: 1, for: `${act.for}ms`, ...every, retryAfter: `${act.wait}ms` } }),
        )
        break
      }
    }
  }

  #ask(space: '' | 'a', key: string | undefined, address: string, isKnown: boolean): void {
    // Without a valid key, a request has no space.
    const isValid = key !== undefined && key !== 'nobody-knows-it'
    const place = isValid ? space : ''
    const mark = place === '' ? '' : `~${place}`
    const outcome = applyStep(this.#machine, {
      command: {
        kind: 'request',
        request: serviceRequest({
          target: isKnown ? '/v1/store/orders' : '/v1/nothing',
          headers: key === undefined ? {} : { authorization: `Bearer ${key}${mark}` },
          address,
          deliveredUpTo: this.#position,
        }),
      },
      instant: { now: this.#wall, position: ++this.#position },
    })
    if (outcome.kind !== 'reply') throw new Error('A request has a reply.')
    const { status, headers } = outcome.reply
    const told = Object.fromEntries(headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]]] : [])))
    const model = this.#models[place].request(this.#wall, key, address, isKnown ? 200 : 404)
    const decided = Object.keys(model.headers).map((name) => [name, told[name]])
    this.compared++
    expect({ status, headers: Object.fromEntries(decided) }).toEqual(model)
  }

  /** @returns whether it was done */
  #verb(space: string, verb: string, input: object): boolean {
    const outcome = applyStep(this.#machine, {
      command: { kind: 'verb', space, verb, input },
      instant: { now: this.#wall, position: ++this.#position },
    })
    return outcome.kind === 'output'
  }
}

const LAST_DATE = Date.parse('9999-12-31T23:59:59.999Z')

/** Settings as they are written: null takes away what may be missing, durations are text. */
function inputOf(switches: Partial<Switches>): object {
  return Object.fromEntries(
    Object.entries(switches).map(([name, value]) => [name, name === 'banDuration' ? `${value}ms` : (value ?? null)]),
  )
}

// No response is ever read here, so no request is early: conduct-evidence.test.ts tests early requests and the bans that
// they bring.
it('agrees with an independent model of quotas, bans and the clock over 100,000 steps', () => {
  let compared = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1200, size: 'max' }), (steps) => {
      const pair = new Pair()
      for (const one of steps) pair.take(one)
      compared += pair.compared
    }),
    // Unbiased, a run has 600 steps on average.
    { numRuns: runs(200), unbiased: true },
  )
  expect(compared).toBeGreaterThan(runs(100_000))
})
