import { describe, expect, it, onTestFinished } from 'vitest'
import { conductReport } from '../../src/conduct/conduct-report.js'
import type { Conduct } from '../../src/conduct/conduct-view.js'
import { PLAN_NAMES, type PlanName } from '../../src/domain/keys.js'
import type { ServiceRequest } from '../../src/domain/messages.js'
import { randomStream } from '../../src/domain/random.js'
import { DAY_MS, type EpochMs, MINUTE_MS } from '../../src/domain/time.js'
import { openSandboxCore } from '../../src/sandbox-core.js'
import { embeddedOptions } from '../support/embedded-options.js'

const MIDNIGHT = Date.parse('2026-03-01T00:00:00Z')

interface Call {
  readonly at: EpochMs
  readonly key: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
}

/** One day of a few clients: a request now and then, and bursts, some of which no plan but the largest lets pass. */
function recordedDay(seed: number, keys: readonly string[]): readonly Call[] {
  const chance = randomStream(`day:${seed}`)
  const upTo = (limit: number) => Math.floor(chance.next() * limit)
  const targets = ['/v1/pets', '/v1/pets?limit=5', '/v1/pets/1', '/v1/store/orders', '/v1/pets?limit=x', '/v1/nothing']
  const calls: Call[] = []
  for (const key of keys) {
    const call = (at: EpochMs) => calls.push({ at, key, target: targets[upTo(targets.length)] ?? '/v1/pets' })
    for (let at = MIDNIGHT + upTo(MINUTE_MS); at < MIDNIGHT + DAY_MS; at += upTo(4 * MINUTE_MS)) call(at)
    for (let burst = 0; burst < 25; burst++) {
      const begin = MIDNIGHT + upTo(DAY_MS)
      const isLarge = burst % 8 === 0
      const size = isLarge ? 1100 + upTo(500) : 20 + upTo(200)
      const within = 1 + upTo(!isLarge && burst % 3 === 0 ? 10 * MINUTE_MS : MINUTE_MS)
      for (let i = 0; i < size; i++) call(begin + upTo(within))
    }
    // What is asked for is no traffic that a plan would have to bear.
    for (let i = 0; i < 20; i++) {
      calls.push({ at: MIDNIGHT + upTo(DAY_MS), key, target: '/v1/pets', headers: { prefer: 'code=429' } })
    }
  }
  return calls.sort((a, b) => a.at - b.at)
}

interface Replay {
  readonly conduct: Conduct
  /** What was really refused, by key and cause. */
  readonly refused: ReadonlyMap<string, { minute: number; day: number; ban: number }>
}

/** Sends a day's calls to a sandbox on whose plan all keys are, its clock moved from call to call. */
async function replay(day: readonly Call[], plan: PlanName, banAfter: number | 'never'): Promise<Replay> {
  const keys = [...new Set(day.map(({ key }) => key))]
  const refused = new Map(keys.map((key) => [key, { minute: 0, day: 0, ban: 0 }]))
  const options = embeddedOptions({ apiKey: keys.map((key) => `${key}=key-of-${key}:${plan}`), banAfter, logLimit: 0 })
  const core = await openSandboxCore(options, {
    onExchange({ key, reason }) {
      const causes = refused.get(key)
      if (causes === undefined) return
      if (reason === 'quota-minute') causes.minute++
      if (reason === 'quota-day') causes.day++
      if (reason === 'ban') causes.ban++
    },
  })
  onTestFinished(() => core.close())
  const { default: space } = core.spaces
  for (const { at, key, target, headers = {} } of day) {
    space.setClock({ kind: 'frozen', at }, at)
    const request: ServiceRequest = {
      method: 'GET',
      target,
      headers: { ...headers, authorization: `Bearer key-of-${key}` },
      rawHeaders: [],
      body: undefined,
      address: 'test',
      connection: 0,
      heardUpTo: 0,
    }
    const { exchange } = await core.service(request)
    if (exchange !== undefined) {
      const { space, id, position } = exchange
      core.ended([{ space, id, position, how: 'sent', durationMs: 0, waitingMs: 0, bodyMs: 0, connection: 0 }])
    }
  }
  return { conduct: conductReport(space), refused }
}

describe.each([
  ['one key', ['solo']],
  ['several keys', ['web', 'worker']],
])('one recorded day of %s', (_name, keys) => {
  describe.each([10, 'never'] as const)('with bans after %s', (banAfter) => {
    it('would have been refused by each plan exactly as often as it is there', async () => {
      const day = recordedDay(1, keys)
      const onEnterprise = await replay(day, 'enterprise', banAfter)
      const { conduct } = onEnterprise
      expect(conduct.whatIf.requests).toBe(day.filter(({ headers }) => headers === undefined).length)
      for (const [index, plan] of PLAN_NAMES.entries()) {
        const { refused } = plan === 'enterprise' ? onEnterprise : await replay(day, plan, banAfter)
        for (const { key, plans } of conduct.keys)
          expect(plans[index]).toMatchObject({ plan, refused: refused.get(key) })
        const sum = (cause: 'minute' | 'day' | 'ban') => [...refused.values()].reduce((all, one) => all + one[cause], 0)
        const causes = { minute: sum('minute'), day: sum('day'), ban: sum('ban') }
        expect(conduct.whatIf.plans[index]).toMatchObject({
          refusals: causes.minute + causes.day + causes.ban,
          refused: causes,
        })
        // A day that nobody refuses would prove nothing.
        if (plan === 'free') expect([causes.minute > 0, causes.day > 0]).toEqual([true, true])
        if (plan !== 'enterprise') expect(causes.minute).toBeGreaterThan(0)
        if (plan !== 'enterprise' && banAfter !== 'never') expect(causes.ban).toBeGreaterThan(0)
      }
    })
  })
})
