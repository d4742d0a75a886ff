import { describe, expect, it } from 'vitest'
import { type AppliedScenario, findResource, LARGE_ID } from '../../../src/cli/conform/resource.js'
import type { Expectation, Job } from '../../../src/cli/conform/scenarios.js'
import {
  type Evidence,
  judgeRun,
  judgeWaits,
  measurePauses,
  type SeenExchange,
} from '../../../src/cli/conform/verdict.js'
import { packagedContract } from '../../../src/contract/packaged-contract.js'

const EXPECTED: Expectation = { key: 'sandbox', ends: 'success', delivers: ['fault'], largeId: false, ignores: [] }
const PETS = findResource(packagedContract(), undefined)
const SUCCESS = { kind: 'exited', code: 0 } as const

function judge(
  exchanges: readonly Partial<SeenExchange>[],
  expected: Partial<Expectation>,
  { job = 'read', ...given }: Partial<Evidence> & { readonly job?: Job } = {},
) {
  const expectation = { ...EXPECTED, ...expected }
  const scenario: AppliedScenario = { name: 'one', description: '', expectation, switches: {}, job, resource: PETS }
  const seen = exchanges.map(exchange)
  const evidence: Evidence = {
    ending: SUCCESS,
    exchanges: seen,
    violations: [],
    repeats: [],
    created: 0,
    ...given,
  }
  const { outcome, reason } = judgeRun(scenario, evidence)
  return [outcome, reason]
}

const exchange = (given: Partial<SeenExchange>, index: number): SeenExchange => ({
  ...{ id: index + 1, at: at(0), method: 'GET', path: '/v1/pets', query: '', operation: 'listPets' },
  ...{ status: 200, reason: null, fault: null, ended: 'sent', durationMs: 1, ...given },
})

const at = (ms: number) => new Date(Date.UTC(2026, 2, 1, 12) + ms).toISOString()
const refused = (ms: number) => ({ at: at(ms), status: 503, reason: 'fault' as const })

describe('the verdict on a client', () => {
  it.each([
    ['failed', 'idle', [2, 99, 500]],
    ['passed', 'idle', [0, 100, 0, 100]],
    ['passed', 'idle', []],
    ['untested', 'busy', [399, 100]],
    ['failed', 'busy', [99, 0, 101]],
    ['passed', 'busy', [400, 0]],
  ])('is %s on a machine that is %s after waits of %j ms, if 100 ms are required', (outcome, load, retries) => {
    expect(judgeWaits(retries, 100, load === 'busy').outcome).toBe(outcome)
  })

  it('takes the waits before retries, without the first where a request is repeated again', () => {
    const first = [50, 60].map((waitMs, index) => ({ exchange: index + 3, times: 1, waitMs }))
    expect(measurePauses([...first, { exchange: 5, times: 2, waitMs: 100 }])).toEqual([100])
    expect(measurePauses(first)).toEqual([50, 60])
  })

  it('counts how often one request was sent after its refusals, if that is limited', () => {
    const seen = [1, 2, 3, 4].map((ms) => refused(ms))
    const repeats = [3, 4].map((exchange, index) => ({ exchange, times: index + 1, waitMs: 0 }))
    const limited = (attempts: number) =>
      judge(seen, { attempts, ends: 'any' }, { repeats, ending: { kind: 'exited', code: 1 } })
    expect(limited(2)).toEqual(['failed', expect.stringContaining('GET /v1/pets was sent 3 times, at most 2 expected')])
    expect(limited(3)[0]).toBe('passed')
  })

  it.each([
    ['did not read the list', 'read', { ...refused(0), ended: 'sent' }],
    ['did not read the list', 'read', { ...refused(0), status: 200, ended: 'cut' }],
    ['created no record', 'create', { ...refused(0), status: 200 }],
    ['received no response', 'create', { ...refused(0), status: null, ended: 'cut' }],
  ] as const)('fails a success without proof: %s', (reason, job, exchange) => {
    const created = reason === 'received no response' ? 1 : 0
    for (const ends of ['success', 'any'] as const)
      expect(judge([exchange], { ends }, { job, created })).toEqual(['failed', expect.stringContaining(reason)])
  })
  it('fails a success whose record was refused, unless the operation is removed or the client got it later', () => {
    const get = (given: Partial<SeenExchange>) => ({ operation: 'getPet', path: '/v1/pets/1', ...given })
    const ended = (...gets: readonly Partial<SeenExchange>[]) => judge([{}, ...gets.map(get)], { delivers: ['getPet'] })
    expect(ended(refused(1))).toEqual(['failed', 'The command ended with 0, but did not get the record.'])
    expect(ended(refused(1), {})[0]).toBe('passed')
    expect(ended({ status: 410, reason: 'sunset' })[0]).toBe('passed')
  })

  it('fails a client that gets another record than the one with the large id', () => {
    const got = (id: unknown) =>
      judge([{}, { operation: 'getPet', path: `/v1/pets/${id}` }], { largeId: true, delivers: ['getPet'] })
    expect(got(1)).toEqual(['failed', `The client requested /v1/pets/1, but the first record has the id ${LARGE_ID}.`])
    expect(got(LARGE_ID)[0]).toBe('passed')
  })
})
