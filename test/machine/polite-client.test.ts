import { expect, it } from 'vitest'
import { VIOLATIONS, WARNINGS } from '../../src/conduct/conduct-view.js'
import { viewFindings } from '../../src/conduct/finding-views.js'
import type { Machine } from '../../src/core/machine.js'
import { readRetryAfter, SECOND_MS } from '../../src/domain/time.js'
import fc from '../support/fast-check.js'
import { serviceRequest } from '../support/service-request.js'
import { runs, TEST_SEED } from '../support/test-seed.js'
import { Commands } from './commands.js'
import { applyStep, openMachine, START } from './machine.js'

const KEY = 'sandbox'

const commands = new Commands(TEST_SEED)
/** Verbs of its own space; a copy of another space brings waits that it was never told of. */
const verbs = Array.from({ length: 1000 }, () => commands.verb()).filter(
  ({ space, verb }) => space === '' && !verb.startsWith('spaces.'),
)

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant('send' as const) },
  {
    weight: 3,
    arbitrary: fc.record({ pass: fc.constantFrom(0, 300, 5 * SECOND_MS, 70 * SECOND_MS, 400 * SECOND_MS) }),
  },
  { weight: 3, arbitrary: fc.constantFrom(...verbs) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Verbs that end the wait for a reason. */
const ENDS: Readonly<Record<string, string>> = {
  'keys.unban': 'ban',
  'storm.stop': 'storm',
  'faults.clear': 'fault',
  reset: '',
  'snapshots.restore': '',
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

  constructor(waitsBy: 'clock' | 'real time') {
    this.#waitsBy = waitsBy
    const sandbox = { limits: '2/min,8/day', seed: 1, banAfter: 3 } as const
    this.#machine = openMachine({ sandbox })
  }

  apply(step: Step): void {
    if (step === 'send') this.#send()
    else if ('pass' in step) this.#wall += step.pass
    else {
      const { kind } = applyStep(this.#machine, { command: step, instant: this.#instant() })
      const ended = ENDS[step.verb]
      if (kind === 'output' && (ended === '' || ended === this.#reason)) this.#readyAt = Number.NEGATIVE_INFINITY
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
