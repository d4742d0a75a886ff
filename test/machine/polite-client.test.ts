import { expect, it } from 'vitest'
import { VIOLATIONS, WARNINGS } from '../../src/conduct/conduct-view.js'
import { viewFindings } from '../../src/conduct/finding-views.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import type { VerbInput, VerbName } from '../../src/control/verb-map.js'
import { VERBS } from '../../src/control/verbs.js'
import type { Machine } from '../../src/core/machine.js'
import { MINUTE_MS, readRetryAfter, SECOND_MS } from '../../src/domain/time.js'
import fc from '../support/fast-check.js'
import { serviceRequest } from '../support/service-request.js'
import { runs } from '../support/test-seed.js'
import { applyStep, openMachine, START } from './machine.js'

const KEY = 'sandbox'

/** Inputs that a verb is tried with (default: without input); none for those that only the edge does. */
const INPUTS: {
  readonly [Name in VerbName as Record<never, never> extends VerbInput<Name> ? never : Name]: readonly VerbInput<Name>[]
} & { readonly [Name in VerbName]?: readonly VerbInput<Name>[] } = {
  'overrides.clear': [{}, { what: 'ban', name: KEY }, { what: 'clock' }, { what: 'storm' }],
  'settings.change': [
    { limits: '1/min,3/day' },
    { limits: null },
    { plan: 'enterprise' },
    { plan: 'free' },
    { rateLimit: false },
    { rateLimit: true },
    { retryAfter: 'http-date' },
    { retryAfter: 'seconds' },
    { banAfter: 1 },
    { senders: 3 },
    { senders: null },
  ],
  'clock.set': [{ frozen: true }, { frozen: false }, { now: new Date(START + 90 * MINUTE_MS) }],
  'clock.advance': [{ by: '1s' }, { by: '30s' }, { by: '2m' }, { by: '24h' }],
  'keys.add': [{ key: 'another' }, { key: KEY }],
  'keys.change': [
    { key: KEY, plan: 'business' },
    { key: KEY, plan: 'free' },
  ],
  'keys.remove': [{ key: KEY }],
  'keys.ban': [{ key: KEY }, { key: KEY, for: '10s' }, { key: KEY, for: '1h' }],
  'keys.unban': [{ key: KEY }],
  'storm.start': [{ rate: 1, retryAfter: '2s' }, { rate: 1, for: '10s', retryAfter: '40s' }, { rate: 0.5 }],
  'faults.set': [{ rules: ['listPets:503,retry-after=30s'] }, { rules: ['*:429,retry-after=90s@50%'] }, { rules: [] }],
  'faults.add': [{ rule: 'listPets:500*3' }],
  'scenario.apply': [{ scenario: { name: 'banned' } }, { scenario: { name: 'storm' } }],
  'pets.add': [{ name: 'Rex', categoryId: 1 }],
  'pets.set': [{ id: 1, name: 'Rex' }],
  'pets.remove': [{ id: 2 }],
  'records.list': [{ resource: 'pets' }],
  'records.add': [{ resource: 'pets', record: { name: 'Rex', categoryId: 1 } }],
  'records.set': [{ resource: 'pets', id: 1, change: { name: 'Rex' } }],
  'records.remove': [{ resource: 'pets', id: 2 }],
  'snapshots.list': [],
  'snapshots.save': [],
  'snapshots.restore': [],
  'snapshots.remove': [],
  'requests.replay': [],
  'spaces.copy': [],
  'spaces.remove': [{ name: 'none' }],
  shutdown: [],
}

const verbs = (Object.keys(VERBS) as VerbName[]).flatMap((verb) => {
  const inputs: readonly object[] = INPUTS[verb] ?? [{}]
  return inputs.map((input) => ({ verb, input }))
})

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant('send' as const) },
  {
    weight: 3,
    arbitrary: fc.record({ pass: fc.constantFrom(0, 300, 5 * SECOND_MS, 70 * SECOND_MS, 400 * SECOND_MS) }),
  },
  { weight: 3, arbitrary: fc.constantFrom(...verbs) },
  { weight: 1, arbitrary: fc.constantFrom('save' as const, 'restore' as const) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Verbs that end the wait for a reason. */
const ENDS: { readonly [Name in VerbName]?: string } = {
  'keys.unban': 'ban',
  'storm.stop': 'storm',
  'faults.clear': 'fault',
  reset: '',
}

/** Waits as long as the latest Retry-After says, by one of the clocks; without one twice as long as before. */
class PoliteClient {
  readonly #machine: Machine
  readonly #waitsBy: 'clock' | 'real time'
  #position = 0
  #wall = START
  #readyAt: number = Number.NEGATIVE_INFINITY
  #backoff = 200
  #reason: string | undefined
  #saved: ReturnType<Machine['spaces']['default']['snapshot']> | undefined

  constructor(waitsBy: 'clock' | 'real time') {
    this.#waitsBy = waitsBy
    const sandbox = { limits: '2/min,8/day', seed: 1, banAfter: 3 } as const
    this.#machine = openMachine({ contract: packagedContract(), sandbox })
  }

  apply(step: Step): void {
    if (step === 'send') this.#send()
    else if (step === 'save') this.#saved = this.#machine.spaces.default.snapshot(this.#wall)
    else if (step === 'restore') {
      if (this.#saved === undefined) return
      this.#machine.spaces.default.restoreSnapshot(this.#saved, this.#wall)
      this.#readyAt = Number.NEGATIVE_INFINITY
    } else if ('pass' in step) this.#wall += step.pass
    else applyStep(this.#machine, { command: { kind: 'verb', space: '', ...step }, instant: this.#instant() })
    if (typeof step === 'object' && 'verb' in step) {
      const ended = ENDS[step.verb as VerbName]
      if (ended !== undefined && (ended === '' || ended === this.#reason)) this.#readyAt = Number.NEGATIVE_INFINITY
    }
    // It looks at the clock often enough to see when its wait is over.
    if (this.#now() >= this.#readyAt) this.#readyAt = Number.NEGATIVE_INFINITY
  }

  blamedFor(): readonly string[] {
    const { findings } = this.#machine.spaces.default.conduct
    return viewFindings(findings, [...VIOLATIONS, ...WARNINGS]).flatMap(({ rule, message }) =>
      RULES.includes(rule) ? [message] : [],
    )
  }

  #send(): void {
    if (this.#now() < this.#readyAt) return
    const request = serviceRequest({
      headers: { authorization: `Bearer ${KEY}` },
      connection: 1,
      deliveredUpTo: this.#position,
    })
    const reply = this.#machine.apply({ kind: 'request', request }, this.#instant())
    if ('kind' in reply || reply.exchange === undefined) throw new Error('It was not answered.')
    const ended = { ...reply.exchange, how: 'sent', durationMs: 1, waitingMs: 0, bodyMs: 0, connection: 1 } as const
    this.#machine.apply({ kind: 'ended', exchanges: [ended] }, this.#instant())
    const header = (name: string) => {
      const index = reply.headers.indexOf(name)
      return index === -1 ? undefined : reply.headers[index + 1]
    }
    const told = header('Retry-After')
    this.#reason = header('X-Sandbox-Reason')
    if (told !== undefined) {
      const date = header('Date')
      this.#readyAt = this.#now() + (readRetryAfter(told, date, this.#machine.spaces.default.now(this.#wall)) ?? 0)
    } else if (reply.status >= 500) {
      this.#readyAt = this.#now() + this.#backoff
      this.#backoff *= 2
    } else this.#backoff = 200
  }

  #now(): number {
    return this.#waitsBy === 'clock' ? this.#machine.spaces.default.now(this.#wall) : this.#wall
  }

  #instant() {
    return { now: this.#wall, position: ++this.#position }
  }
}

/** What a client that waits is never blamed for. */
const RULES: readonly string[] = [
  'early-retry',
  'early-retry-likely',
  'no-backoff',
  'no-backoff-likely',
  'request-while-banned',
  'request-while-limited',
]

it.each(['clock', 'real time'] as const)(
  'does not blame a client that waits for its latest Retry-After by the %s, whatever verbs run',
  (waitsBy) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const client = new PoliteClient(waitsBy)
        for (const step of steps) client.apply(step)
        expect(client.blamedFor()).toEqual([])
      }),
      { numRuns: runs(1500) },
    )
  },
)
