import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { LEFT_OUT, readScale } from '../../src/simulate/simulation.js'
import { Timeline } from '../../src/simulate/timeline.js'
import { harEntry, harText, ncsaLine, type Sent, simulate } from './traffic.js'

const AT = Date.parse('2026-03-01T10:00:00Z')
const SECOND = 1000

/** Requests of one key, one every second. */
function everySecond(count: number, sent: Omit<Sent, 'at'> = { key: 'sandbox' }): readonly Sent[] {
  return Array.from({ length: count }, (_, second) => ({ at: AT + second * SECOND, ...sent }))
}

describe('a simulation', () => {
  it('reports for each key what every plan would have done, the cheapest plan, and how far traffic could grow', async () => {
    const burst = Array.from({ length: 75 }, (_, index) => ({ at: AT + index, key: 'sandbox-pro' }))
    const report = await simulate(harText([...burst, ...everySecond(40, { key: 'sandbox' })]))
    expect(report).toMatchObject({ requests: 115, peakMinute: 75, peakDay: 75, cheapest: 'pro', headRoom: 4 })
    // Ten come early; the tenth causes the ban.
    const free = { plan: 'free', refusals: 15, refused: { minute: 10, day: 0, ban: 5 }, upTo: 0.8 }
    expect(report.keys).toMatchObject([
      { key: 'sandbox-pro', requests: 75, peakMinute: 75, cheapest: 'pro', headRoom: 4, plans: [free, {}, {}, {}] },
      { key: 'sandbox', peakMinute: 40, cheapest: 'free', headRoom: 1.5 },
    ])
  })

  it('refuses nothing up to the reported factor, and something above it', async () => {
    const text = harText(everySecond(40))
    const { scale, plans } = await simulate(text, { scale: [1, 1.5, 2, 7.5, 8] })
    expect(plans.map(({ upTo }) => upTo)).toEqual([1.5, 7.5, 25, 250])
    const refusals = scale.map(({ factor, plans: [free, pro] }) => [factor, free?.refusals, pro?.refusals].join(' '))
    expect(refusals).toEqual(['1 0 0', '1.5 0 0', '2 20 0', '7.5 240 0', '8 260 20'])
  })

  it('judges named senders separately, from a log and from an archive', async () => {
    await using sandbox = await createSandbox({ storm: { rate: 1, retryAfter: '10s' } })
    for (const sender of ['w1', 'w2', 'w1']) {
      const headers = { authorization: `Bearer ${sandbox.key('pro', { sender })}` }
      await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers })
    }
    for (const recorded of [await sandbox.requests(), await sandbox.requests.har()]) {
      const { conduct } = await simulate(JSON.stringify(recorded))
      expect(conduct.violations).toMatchObject([{ rule: 'early-retry', key: 'sandbox-pro', sender: 'w1', count: 1 }])
    }
  })

  it('reports the figures that conduct reports in the sandbox itself', async () => {
    // The clock runs: when a response ended decides what its client knew.
    await using sandbox = await createSandbox({ now: '2026-03-01T10:00:00Z' })
    const space = sandbox.space('checkout')
    const ask = (key: string, path = '/pets', init: RequestInit = {}) =>
      sandbox.fetch(sandbox.baseUrl + path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } })
    for (let i = 0; i < 75; i++) await ask('sandbox')
    await ask('sandbox-pro', '/pets?limit=0&colour=red')
    await ask('nobody')
    await ask('sandbox', '/pets', { headers: { prefer: 'code=503' } })
    await ask('sandbox-limited')
    await sandbox.clock.advance('1h')
    await ask('sandbox-pro', '/pets', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    await ask('sandbox-pro', '/nope')
    await sandbox.clock.reset()
    await ask('sandbox-pro', '/pets/1')
    const conduct = await sandbox.conduct()
    const har = JSON.stringify(await sandbox.requests.har(), undefined, 1)
    const log = (await sandbox.requests()).map((exchange) => JSON.stringify(exchange)).join('\n')
    await ask(space.key('free'))
    for (const text of [har, log]) {
      const report = await simulate(text, { senders: conduct.senders })
      const { requests, peakMinute, peakDay, cheapest, plans } = conduct.whatIf
      expect(report).toMatchObject({
        ...{ requests, peakMinute, peakDay, cheapest },
        plans: plans.map(({ plan, refusals, refused }) => ({ plan, refusals, refused })),
        input: { leftOut: { keyless: 1, madeUp: 1, alwaysRefused: 1 } },
      })
      const rules = (findings: readonly { rule: string; key: string; count: number }[]) =>
        findings.map(({ rule, key, count }) => `${rule} ${key} ${count}`).sort()
      const found = ({ violations, warnings }: typeof report.conduct) => rules([...violations, ...warnings])
      expect(found(report.conduct)).toEqual(rules([...conduct.violations, ...conduct.warnings]))
    }
    const own = await simulate(JSON.stringify(await space.requests.har()))
    expect(own.keys.map(({ key }) => key)).toEqual(['sandbox-free~checkout'])
  })

  it('leaves out requests to other services, and counts them', async () => {
    const entries = [
      harEntry({ at: AT, key: 'sandbox' }),
      harEntry({ at: AT, key: 'sandbox', target: '/v2/pets' }),
      harEntry({ at: AT, key: 'sandbox', target: '/v1pets' }),
      harEntry({ at: AT, method: 'OPTIONS', status: 204, headers: { 'Access-Control-Request-Method': 'GET' } }),
      { ...harEntry({ at: AT, key: 'sandbox' }), _fromCache: 'disk' },
      harEntry({ at: AT, status: 401 }),
    ]
    const { requests, input } = await simulate(JSON.stringify({ log: { entries } }))
    expect(requests).toBe(1)
    expect(input.leftOut).toEqual({ elsewhere: 2, preflight: 1, unsent: 1, keyless: 1 })
    expect(Object.keys(LEFT_OUT)).toEqual(expect.arrayContaining(Object.keys(input.leftOut)))
    expect(input.elsewhere).toEqual([
      { name: 'api.example/v2', requests: 1 },
      { name: 'api.example/v1pets', requests: 1 },
    ])
    const text = harText([{ at: AT }, { at: AT }]).replace('api.example', 'other.example')
    expect((await simulate(text)).input.hosts).toHaveLength(2)
    const ofOne = { requests: 1, input: { leftOut: { elsewhere: 1 } } }
    expect(await simulate(text, { host: 'other.example' })).toMatchObject(ofOne)
  })

  it('shows where a secret key was first seen, not the key', async () => {
    const sent = ['s3cr3t-one', 's3cr3t-two', 's3cr3t-one', 'sandbox-pro'].map((key) => ({ at: AT, key }))
    const report = await simulate(harText(sent))
    const keys = report.keys.map(({ key, first, isHidden, requests }) => [key, first, isHidden, requests].join())
    expect(keys).toEqual(['key 1,1,true,2', 'key 2,2,true,1', 'sandbox-pro,4,false,1'])
    expect(JSON.stringify(report)).not.toContain('s3cr3t')
  })

  it.each([
    ['one', undefined, ['all']],
    ['a header', 'X-Client', ['shop', '(none)']],
    ['a query parameter', 'tenant', ['a b', '(none)']],
    ['a header that holds a secret', 'X-Api-Key', ['key 1', '(none)']],
  ])('tells keys apart by %s', async (_what, keyField = 'one', keys) => {
    const headers = { 'x-client': 'shop', 'x-api-key': 'S3CRET' }
    const one = { at: AT, key: 'a', target: '/v1/pets?tenant=a%20b', headers }
    const text = harText([one, { at: AT, key: 'b' }])
    expect((await simulate(text, { keyField })).keys.map(({ key }) => key)).toEqual(keys)
  })

  it('judges clients by the responses that they got, and names the lines', async () => {
    const limited = { status: 429, reply: { 'Retry-After': '30' } }
    const sent: readonly Sent[] = [
      { at: AT, key: 'sandbox', ...limited },
      { at: AT + 10 * SECOND, key: 'sandbox' },
      { at: AT + 31 * SECOND, key: 'sandbox' },
      { at: AT + 40 * SECOND, key: 'sandbox', target: '/v1/pets?limit=500' },
    ]
    const entries = sent.map((one) => JSON.stringify(harEntry(one))).join(',\n')
    const { conduct } = await simulate(`{"log":{"entries":[\n${entries}\n]}}`)
    expect(conduct.violations).toMatchObject([
      { rule: 'early-retry', exchanges: [3] },
      { rule: 'invalid-request', exchanges: [5], message: expect.stringContaining('limit') },
    ])
    // An access log has no Retry-After.
    const log = await simulate(sent.map((one) => ncsaLine(one)).join('\n'))
    expect(log.conduct.violations).toMatchObject([{ rule: 'invalid-request', exchanges: [4] }])
  })

  it('judges the log of serve without headers', async () => {
    const place = { space: '', method: 'GET', path: '/v1/pets', query: '' }
    const sent = { event: 'exchange', at: new Date(AT).toISOString(), ...place }
    const line = (facts: object) => JSON.stringify({ ...sent, ended: 'sent', reason: null, fault: null, ...facts })
    const lines = [
      line({ key: 'none', status: 401 }),
      line({ key: 'sandbox', status: 429, reason: 'quota-minute' }),
      line({ key: 'sandbox', status: 200, path: '/v1/pets/1' }),
      line({ key: 'sandbox', status: null, ended: null }),
    ]
    const { conduct, input, requests } = await simulate(`{"event":"ready"}\n${lines.join('\n')}`)
    expect({ requests, leftOut: input.leftOut }).toEqual({ requests: 2, leftOut: { keyless: 1, underWay: 1 } })
    expect(conduct.violations).toMatchObject([{ rule: 'unauthenticated', key: 'none', exchanges: [2] }])
    expect(conduct.warnings).toMatchObject([{ rule: 'deprecated-operation', exchanges: [4] }])
  })

  it('counts requests of keys beyond the limit', async () => {
    const lines = Array.from({ length: 10_005 }, (_, index) => ncsaLine({ at: AT + index, key: `user${index}` }))
    const { keys, input, requests } = await simulate(lines.join('\n'))
    expect([keys.length, requests, input.leftOut]).toEqual([10_000, 10_000, { furtherKeys: 5 }])
  })
})

describe('a scale', () => {
  it.each([
    ['3', [3]],
    ['1..4', [1, 2, 3, 4]],
    ['1..10', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ['1..100', [1, 12, 23, 34, 45, 56, 67, 78, 89, 100]],
    ['1..1.5', [1, 1.5]],
    ['2..2', [2]],
  ])('%s is tried at %j', (text, factors) => expect(readScale(text)).toEqual(factors))

  it.each(['', '0', '-1', '3..1', '1..', '1..2..3', '1001', 'x3', '1e3'])('is not %j', (text) =>
    expect(readScale(text)).toBeUndefined(),
  )
})

it('a timeline keeps peaks in a bounded number of cells', () => {
  const timeline = new Timeline()
  for (let minute = 0; minute < 400 * 1440; minute++) timeline.add('a', AT + minute * 60_000, minute % 7)
  const peaks = timeline.of('a').map(([, most]) => most)
  expect(peaks.length).toBeLessThanOrEqual(720)
  expect(Math.max(...peaks)).toBe(6)
  expect(timeline.of('b')).toEqual([])
})
