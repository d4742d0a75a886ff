import { beforeAll, describe, expect, it } from 'vitest'
import type { Refused } from '../../src/conduct/what-if.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { PLAN_NAMES, type PlanName } from '../../src/domain/keys.js'
import type { Reply } from '../../src/domain/messages.js'
import type { SimulationReport } from '../../src/simulate/report.js'
import { Chance } from '../machine/chance.js'
import { openMachine } from '../machine/machine.js'
import { serviceRequest } from '../support/service-request.js'
import { harEntry, ncsaLine, type Sent, simulate } from './traffic.js'

const DAY = Date.parse('2026-03-02T00:00:00Z')
const REQUESTS = 50_000
/** Requests of each key, in thousandths; `nightly` sends all of them within an hour. */
const SHARES = { shop: 600, search: 250, admin: 140, cron: 8, nightly: 2 } as const
type KeyName = keyof typeof SHARES
const KEYS = Object.keys(SHARES) as KeyName[]
const TARGETS = ['/v1/pets?limit=1', '/v1/pets/1', '/v1/nope']
const REASONS: Readonly<Record<string, keyof Refused>> = { 'quota-minute': 'minute', 'quota-day': 'day', ban: 'ban' }

/** A day of five keys with its peaks, to the second, as in an access log. */
function day(): readonly (Sent & { readonly key: KeyName; readonly target: string })[] {
  const chance = new Chance('a day')
  const sent = KEYS.flatMap((key) =>
    Array.from({ length: (REQUESTS * SHARES[key]) / 1000 }, () => {
      // Two chances make the noon busy; a burst comes now and then.
      const second = chance.percent(10)
        ? 1800 * chance.integer(0, 48)
        : Math.floor((chance.integer(0, 86_400) + chance.integer(0, 86_400)) / 2)
      const at = DAY + 1000 * (key === 'nightly' ? second % 3600 : second)
      return { at, key, target: chance.oneOf(TARGETS) }
    }),
  )
  return sent.sort((one, other) => one.at - other.at)
}

/** Refusals of a sandbox by key and cause, with each key on the plan, in its own space. */
function refusedBySandbox(plan: PlanName, sent: ReturnType<typeof day>): Readonly<Record<string, Refused>> {
  const machine = openMachine({ contract: packagedContract(), sandbox: { logLimit: 1 } })
  const refused = Object.fromEntries(KEYS.map((key) => [key, { minute: 0, day: 0, ban: 0 }]))
  let position = 0
  for (const { at, key, target } of sent) {
    const headers = { authorization: `Bearer sandbox-${plan}~${key}` }
    const request = serviceRequest({
      target,
      headers,
      address: '127.0.0.1',
      // Each response has been read before the next request is sent.
      deliveredUpTo: position,
    })
    const {
      status,
      headers: answered,
      exchange,
    } = machine.apply({ kind: 'request', request }, { now: at, position: ++position }) as Reply
    if (exchange !== undefined) {
      const ended = { ...exchange, how: 'sent', durationMs: 0, waitingMs: 0, bodyMs: 0, connection: 0 } as const
      machine.apply({ kind: 'ended', exchanges: [ended] }, { now: at, position: ++position })
    }
    if (status !== 429) continue
    const cause = REASONS[String(answered[answered.indexOf('X-Sandbox-Reason') + 1])]
    const counts = refused[key]
    if (cause === undefined || counts === undefined) throw new Error(`${key} was refused for no reason that is known.`)
    counts[cause]++
  }
  return refused
}

/** Lines, some thousand at a time. */
async function* inBatches(lines: Iterable<string>): AsyncGenerator<Buffer> {
  let batch: string[] = []
  for (const line of lines) {
    batch.push(line)
    if (batch.length < 5000) continue
    yield Buffer.from(batch.join(''))
    batch = []
  }
  yield Buffer.from(batch.join(''))
}

function* archive(sent: ReturnType<typeof day>): Generator<string> {
  yield '{"log":{"version":"1.2","entries":[\n'
  for (const [index, one] of sent.entries())
    yield `${index === 0 ? '' : ',\n'}${JSON.stringify(harEntry({ ...one, headers: { 'X-Client': one.key } }))}`
  yield '\n]}}\n'
}

function* accessLog(sent: ReturnType<typeof day>): Generator<string> {
  for (const one of sent) yield `${ncsaLine(one, 120)}\n`
}

describe(`a day of ${KEYS.length} keys and ${REQUESTS} requests`, () => {
  const sent = day()
  let reports: readonly SimulationReport[] = []

  beforeAll(async () => {
    reports = [
      await simulate(inBatches(archive(sent)), { keyField: 'x-client' }),
      await simulate(inBatches(accessLog(sent))),
    ]
  })

  it('is read whole from an archive and from an access log', () => {
    for (const report of reports) {
      expect(report).toMatchObject({ requests: REQUESTS, input: { bad: { count: 0 }, outOfOrder: 0, missing: null } })
    }
    // There is something to be compared.
    const { plans = [] } = reports[0] ?? {}
    const [free, pro] = plans.map(({ refused }) => Object.values(refused).map((count) => count > 0))
    expect([free, pro]).toEqual([
      [true, true, true],
      [false, true, true],
    ])
  })

  it.each(PLAN_NAMES)('is refused on the plan %s as a sandbox refuses it', (plan) => {
    const expected = refusedBySandbox(plan, sent)
    for (const { keys } of reports) {
      const found = keys.map(({ key, plans }) => [key, plans.find((fate) => fate.plan === plan)?.refused])
      expect(Object.fromEntries(found)).toEqual(expected)
    }
  })
})
