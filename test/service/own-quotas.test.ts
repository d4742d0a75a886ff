import { expect, it } from 'vitest'
import { temporaryFile } from '../support/temporary-files.js'
import { type TestSandbox, transports } from '../support/transports.js'

const [, [, openSandbox]] = transports as [unknown, (typeof transports)[number]]

function serve(more: object = {}, headers: object = {}, options: object = {}): Promise<TestSandbox> {
  const responses = { 200: { description: '', headers } }
  const paths = { '/a': { get: { responses: { 200: { description: '' } } } }, '/b': { get: { responses } } }
  const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths, ...more }
  return openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)), ...options })
}

const limitsOf = ({ headers }: Pick<Response, 'headers'>) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))
const NOON = Date.UTC(2026, 2, 1, 12) / 1000

it('without x-plans there are no quotas, and no headers but those that are documented', async () => {
  const schema = { type: 'integer' }
  const sandbox = await serve({}, { 'X-RateLimit-Limit': { schema }, 'X-RateLimit-Reset': { schema } })
  for (let request = 0; request < 100; request++) expect((await sandbox.get('/a')).status).toBe(200)
  expect(limitsOf(await sandbox.get('/a'))).toEqual([null, null, null])
  expect(limitsOf(await sandbox.get('/b'))).toEqual(['1000000', null, String(NOON + 60)])
  const { json } = await sandbox.control('GET', '/conduct')
  expect([Object.hasOwn(json, 'whatIf'), json.keys]).toEqual([false, []])
  const refused = { code: 'invalid_request', message: 'The contract has no x-plans. Use --limits.' }
  expect((await sandbox.control('PATCH', '/settings', { plan: 'pro' })).json).toMatchObject(refused)
  expect((await sandbox.control('PATCH', '/keys/sandbox', { plan: 'pro' })).json).toMatchObject(refused)
  await expect(serve({}, {}, { plan: 'pro' })).rejects.toMatchObject({
    message: expect.stringContaining(refused.message),
  })
  const listed = (names: readonly string[]) =>
    names.map((name) => expect.objectContaining({ key: `sandbox${name}`, plan: null, day: null }))
  const own = ['', '-limited', '-banned', '-revoked']
  expect((await sandbox.control('GET', '/keys')).json).toEqual(listed(own))
  expect((await sandbox.control('GET', '/state')).json).toMatchObject({ keys: listed(own) })
})

it('without x-plans, --limits are those of each key and address', async () => {
  const sandbox = await serve({}, {}, { limits: '2/min' })
  for (const key of ['sandbox', null]) {
    const seen = [await sandbox.get('/a', key), await sandbox.get('/a', key), await sandbox.get('/a', key)]
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(limitsOf(seen[0] as Pick<Response, 'headers'>)).toEqual(['2', '1', String(NOON + 60)])
  }
})

it('x-plans may have any names, and a default', async () => {
  const limits = (requestsPerMinute: number) => ({ requestsPerMinute, requestsPerDay: 'custom' })
  const sandbox = await serve({ 'x-plans': { basic: limits(1), gold: limits(3) }, 'x-default-plan': 'gold' })
  const limit = async (key: string | null) => limitsOf(await sandbox.get('/a', key))[0]
  expect([await limit('sandbox'), await limit('sandbox-basic'), await limit(null)]).toEqual(['3', '1', '3'])
  expect((await sandbox.control('GET', '/state')).json).toMatchObject({
    plans: ['basic', 'gold'],
    settings: { plan: 'gold' },
  })
  expect((await sandbox.control('GET', '/conduct')).json).toMatchObject({ whatIf: { cheapest: 'basic' } })
})

it.each([
  [{ 'RateLimit-Remaining': {} }, 'ratelimit-remaining', '1'],
  [{ 'X-Rate-Limit-Reset': { description: 'Seconds until the reset' } }, 'x-rate-limit-reset', '60'],
  [{ 'X-Rate-Limit-Reset': { example: 1760000000 } }, 'x-rate-limit-reset', String(NOON + 60)],
  [
    { 'X-Rate-Limit-Reset': { schema: { type: 'string', format: 'date-time' } } },
    'x-rate-limit-reset',
    '2026-03-01T12:01:00.000Z',
  ],
  [{ 'RateLimit-Reset': { schema: { type: 'string', format: 'duration' } } }, 'ratelimit-reset', 'PT60S'],
  [
    { 'RateLimit-Reset': { schema: { type: 'string', format: 'http-date' } } },
    'ratelimit-reset',
    'Sun, 01 Mar 2026 12:01:00 GMT',
  ],
  [{ 'X-RateLimit-Reset': { example: 1760000000000 } }, 'x-ratelimit-reset', String((NOON + 60) * 1000)],
  [{ 'X-RateLimit-Reset-Ms': { schema: { type: 'integer' } } }, 'x-ratelimit-reset-ms', '60000'],
])('a documented header of a limit has the value of the quota: %j', async (headers, name, value) => {
  const sandbox = await serve({}, headers, { limits: '2/min' })
  expect((await sandbox.get('/b')).headers.get(name)).toBe(value)
})

it('a 429 has the documented Retry-After-Ms', async () => {
  const responses = { 200: { description: '' }, 429: { description: '', headers: { 'Retry-After-Ms': {} } } }
  const sandbox = await serve({ paths: { '/b': { get: { responses } } } }, {}, { limits: '1/min' })
  const ms = async () => (await sandbox.get('/b')).headers.get('retry-after-ms')
  expect([await ms(), await ms()]).toEqual([null, '60000'])
})

it('a scenario uses up all of the limits it sets, or all but some', async () => {
  const sandbox = await serve({}, {}, { scenario: 'quota-nearly-spent' })
  const remaining = async (limit: string) => {
    const response = await sandbox.get('/a')
    return [response.status, response.headers.get('x-ratelimit-limit') === limit, limitsOf(response)[1]]
  }
  expect([await remaining('60'), await remaining('60'), await remaining('60'), await remaining('60')]).toEqual([
    [200, true, '2'],
    [200, true, '1'],
    [200, true, '0'],
    [429, true, '0'],
  ])
  const content = { limits: '5/min,7/day', used: { sandbox: 'all' } }
  expect((await sandbox.control('PUT', '/scenario', content)).status).toBe(200)
  expect(await remaining('7')).toEqual([429, true, '0'])
  await sandbox.control('PUT', '/scenario', { used: { sandbox: 'all-3' } })
  expect(await remaining('5')).toEqual([200, true, '2'])
  for (const used of ['', 'all/hour', 'all,all', '3', 'all-3/min,2/min', 'all,3/min'])
    expect(await sandbox.control('PUT', '/scenario', { used: { sandbox: used } })).toMatchObject({ status: 400 })
})
