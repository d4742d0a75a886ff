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
  const keys = (await sandbox.control('GET', '/keys')).json as unknown as readonly object[]
  expect(keys).toMatchObject(
    ['sandbox', 'sandbox-limited', 'sandbox-banned', 'sandbox-revoked'].map((key) => ({ key, plan: null, day: null })),
  )
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
])('a documented header of a limit has the value of the quota: %j', async (headers, name, value) => {
  const sandbox = await serve({}, headers, { limits: '2/min' })
  expect((await sandbox.get('/b')).headers.get(name)).toBe(value)
})
