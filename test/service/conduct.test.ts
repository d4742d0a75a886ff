import { describe, expect, it } from 'vitest'
import type { Conduct, ConductRule, Finding } from '../../src/conduct/conduct-view.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { type TestSandbox, transports } from '../support/transports.js'

async function conductOf(sandbox: TestSandbox, space = ''): Promise<Conduct> {
  return (await sandbox.control('GET', `/conduct?space=${space}`)).json as unknown as Conduct
}

async function findings(sandbox: TestSandbox, rule?: ConductRule): Promise<readonly Finding[]> {
  const { violations, warnings } = await conductOf(sandbox)
  return [...violations, ...warnings].filter((finding) => rule === undefined || finding.rule === rule)
}

/** Rules broken, each with how often. */
async function broken(sandbox: TestSandbox): Promise<Partial<Record<ConductRule, number>>> {
  const counts: Partial<Record<ConductRule, number>> = {}
  for (const { rule, count } of await findings(sandbox)) counts[rule] = (counts[rule] ?? 0) + count
  return counts
}

/**
 * A sandbox whose clients end each connection when they have read the response, so
 * that the next request is known to come after it. A pool may send it over another one.
 */
function oneByOne(sandbox: TestSandbox): TestSandbox {
  const call: TestSandbox['call'] = (path, options = {}) =>
    sandbox.call(path, { ...options, headers: { connection: 'close', ...options.headers } })
  return {
    ...sandbox,
    call,
    get: (path, key = 'sandbox') => call(`/v1${path}`, { key }),
    post: (path, body, key = 'sandbox') => call(`/v1${path}`, { key, method: 'POST', body }),
  }
}

async function repeat(count: number, act: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) await act()
}

describe.each(transports)('conduct, %s', (_name, open) => {
  const openSandbox = async (options: SandboxOptions = {}) => oneByOne(await open(options))

  it('is flawless at the start, and for a client that keeps the rules', async () => {
    const sandbox = await openSandbox()
    await sandbox.get('/pets')
    await sandbox.post('/pets', { name: 'Rex', categoryId: 1, status: 'sold' })
    expect(await conductOf(sandbox)).toMatchObject({
      space: '',
      requests: 2,
      violations: [],
      warnings: [],
      whatIf: { requests: 2, peakMinute: 2, peakDay: 2, cheapest: 'free' },
      keys: [{ key: 'sandbox', plan: 'free', requests: 2 }],
    })
  })

  it.each(['truncated-body', 'malformed-chunk'])('does not count a HEAD as failed by %s', async (fault) => {
    const sandbox = await openSandbox({ fault: `listPets:${fault}` })
    await repeat(5, async () => {
      const { status, text } = await sandbox.call('/v1/pets', { method: 'HEAD' })
      expect([status, text]).toEqual([200, ''])
    })
    expect(await broken(sandbox)).toEqual({})
  })

  it('names the rule, key, operation and exchanges of a violation, and how long after the response it came', async () => {
    const sandbox = await openSandbox({ limits: '1/min' })
    await repeat(2, () => sandbox.get('/pets'))
    await sandbox.advance('59940ms')
    await sandbox.get('/pets')
    const at = '2026-03-01T12:00:59.940Z'
    expect((await conductOf(sandbox)).violations).toEqual([
      {
        rule: 'early-retry',
        key: 'sandbox',
        sender: '',
        operation: 'listPets',
        message:
          'GET /v1/pets was retried too early. Response 2 (12:00:00.000) was 429 with Retry-After: 60; the next request came 59.9 s later. Wait as long as Retry-After says; pause queues until then. If 2 clients share this key or a proxy is in between, use --senders 2.',
        request: { method: 'GET', path: '/v1/pets', query: '' },
        disobeyed: { exchange: 2, at: '2026-03-01T12:00:00.000Z', status: 429, retryAfter: '60', laterMs: 59_940 },
        count: 1,
        clients: expect.any(Array),
        countByClient: expect.any(Object),
        exchanges: [3],
        firstAt: at,
        lastAt: at,
        otherwise: { senders: 2 },
      },
    ])
  })

  it('holds a client to a Retry-After, also one in HTTP-date or of a forced response', async () => {
    const stormy = await openSandbox({ storm: '1', retryAfter: 'http-date', banAfter: 'never' })
    await repeat(2, () => stormy.get('/pets'))
    expect(await broken(stormy)).toEqual({ 'early-retry': 1 })
    const forced = await openSandbox()
    await repeat(2, () => forced.call('/v1/pets', { headers: { prefer: 'code=429' } }))
    await forced.get('/pets?limit=1')
    expect(await broken(forced)).toEqual({ 'early-retry': 1 })
  })

  it.each([403, 401] as const)('sees a ban that is answered with %i', async (banStatus) => {
    const sandbox = await openSandbox({ banStatus })
    await repeat(2, () => sandbox.get('/pets', 'sandbox-banned'))
    expect(await broken(sandbox)).toEqual({ 'request-while-banned': 1, 'early-retry': 1 })
  })

  it.each([
    ['a bad parameter', '/v1/pets?limit=1000', {}, /^listPets: limit must be .* from 1 to 100 \(it is 1000\)\.$/],
    ['a bad body', '/v1/pets', { method: 'POST', body: { name: 'Rex' } }, /categoryId/],
    ['a body of another type', '/v1/pets', { method: 'POST', body: 'x', headers: { 'content-type': 'a/b' } }, /json/],
    ['a body that is too large', '/v1/pets', { method: 'POST', body: ' '.repeat(1024 * 1024 + 1) }, /MiB/],
    ['a code that cannot be forced', '/v1/pets', { headers: { prefer: 'code=418' } }, /code="418"/],
    ['a path parameter that breaks the contract, and not a pet that is not there', '/v1/pets/abc', {}, /petId/],
  ])('names %s', async (_what, path, options, message) => {
    const sandbox = await openSandbox()
    await sandbox.get('/pets/4711')
    await sandbox.call(path, options)
    const named = { key: 'sandbox', count: 1, message: expect.stringMatching(message) }
    expect(await findings(sandbox, 'invalid-request')).toMatchObject([named])
  })

  it('does not blame a client for forced responses, nor for a preflight', async () => {
    const sandbox = await openSandbox({ fault: ['createPet:400', 'listPets:415'] })
    await sandbox.get('/pets')
    await sandbox.post('/pets', {})
    await sandbox.call('/v1/store/orders', { headers: { prefer: 'code=401' } })
    expect(await broken(sandbox)).toEqual({})
    const headers = { origin: 'http://localhost:3000', 'access-control-request-method': 'GET' }
    await sandbox.call('/v1/animals', { method: 'OPTIONS', key: null, headers })
    expect(await conductOf(sandbox)).toMatchObject({ requests: 3, violations: [], warnings: [] })
  })

  it('names requests without a valid key, also those that were refused for their number', async () => {
    const sandbox = await openSandbox()
    await repeat(61, () => sandbox.get('/pets', null))
    await sandbox.get('/pets', 'somebody-elses')
    await sandbox.get('/pets', 'sandbox-revoked')
    expect(await findings(sandbox, 'unauthenticated')).toMatchObject([
      { key: 'none', count: 61 },
      { key: 'unknown', count: 1 },
      { key: 'sandbox-revoked', count: 1 },
    ])
  })

  it('names what the contract does not have', async () => {
    const sandbox = await openSandbox()
    await sandbox.get('/animals')
    await sandbox.call('/v1/pets', { method: 'DELETE' })
    await sandbox.call('/pets', { key: null })
    const missing = 'is not in the contract:'
    expect(await findings(sandbox)).toMatchObject([
      { key: 'sandbox', operation: null, message: `GET /v1/animals ${missing} unknown path.` },
      { key: 'sandbox', message: expect.stringContaining(`DELETE /v1/pets ${missing} the path supports GET`) },
      { key: 'none', message: `GET /pets ${missing} the service is under /v1.` },
    ])
    expect(await broken(sandbox)).toEqual({ 'undocumented-endpoint': 3 })
  })

  it('warns of what had better not be built upon', async () => {
    const sandbox = await openSandbox()
    await sandbox.get('/pets/1')
    await sandbox.get('/store/orders')
    await sandbox.get('/pets?page=2&size=5')
    await sandbox.post('/pets', { name: 'Rex', categoryId: 1, colour: 'red' })
    const once = { 'deprecated-operation': 1, 'undocumented-shape': 1, 'unknown-field': 1 }
    expect(await broken(sandbox)).toEqual({ ...once, 'unknown-parameter': 2 })
    expect(await findings(sandbox, 'unknown-field')).toMatchObject([
      { operation: 'createPet', message: 'createPet has no field "colour"; it is ignored.' },
    ])
  })

  it('outlives the log, belongs to its space, and ends with a reset', async () => {
    const sandbox = await openSandbox({ logLimit: 0 })
    await sandbox.get('/animals')
    await sandbox.get('/pets/1', 'sandbox~other')
    await sandbox.control('DELETE', '/requests')
    expect(await broken(sandbox)).toEqual({ 'undocumented-endpoint': 1 })
    expect(await conductOf(sandbox, 'other')).toMatchObject({ space: 'other', requests: 1, violations: [] })
    await sandbox.control('POST', '/reset')
    expect(await conductOf(sandbox)).toMatchObject({ requests: 0, violations: [], keys: [] })
  })

  it('counts requests for quota in what-if, but no responses of a switch', async () => {
    const sandbox = await openSandbox({ fault: ['createPet:500'] })
    await sandbox.get('/pets')
    await sandbox.get('/animals')
    await sandbox.post('/pets', { name: 'Rex', categoryId: 1 })
    await sandbox.call('/v1/pets', { headers: { prefer: 'code=503' } })
    await sandbox.get('/pets', 'sandbox-limited')
    await sandbox.get('/pets', null)
    expect((await conductOf(sandbox)).whatIf).toMatchObject({ requests: 2, peakMinute: 2 })
  })

  it('reports what each plan would have refused, for all keys together and for each', async () => {
    const sandbox = await openSandbox({ limits: '100000/min' })
    await repeat(62, () => sandbox.get('/pets'))
    await repeat(3, () => sandbox.get('/pets', 'sandbox-pro'))
    const { whatIf, keys } = await conductOf(sandbox)
    const [free, pro] = [{ plan: 'free', perMinute: 60, refusals: 2 }, { refusals: 0 }]
    expect(whatIf).toMatchObject({ requests: 65, peakMinute: 62, cheapest: 'pro', plans: [free, pro, {}, {}] })
    expect(keys).toMatchObject([
      { key: 'sandbox', plan: 'free', requests: 62, cheapest: 'pro' },
      { key: 'sandbox-pro', plan: 'pro', requests: 3, cheapest: 'free' },
    ])
  })
})
