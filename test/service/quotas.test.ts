import { describe, expect, it } from 'vitest'
import { NOON, type Seen, type TestSandbox, transports } from '../support/transports.js'

async function times(count: number, ask: () => Promise<Seen>): Promise<Seen[]> {
  const seen: Seen[] = []
  for (let i = 0; i < count; i++) seen.push(await ask())
  return seen
}

describe.each(transports)('a quota, %s', (_name, openSandbox) => {
  it('is charged for any response but a 429, which names the seconds to the reset', async () => {
    const sandbox = await openSandbox({ limits: '4/min' })
    const seen = [
      await sandbox.get('/pets?limit=0'),
      await sandbox.get('/pets/4711'),
      await sandbox.call('/v1/pets', { method: 'DELETE' }),
      await sandbox.get('/nowhere'),
      await sandbox.get('/pets'),
      await sandbox.get('/pets'),
    ]
    expect(seen.map(({ status }) => status)).toEqual([400, 404, 405, 404, 429, 429])
    expect(seen.map(({ remaining }) => remaining)).toEqual([3, 2, 1, 0, 0, 0])
    const refusal = { code: 'rate_limit_exceeded', reason: 'quota-minute', retryAfter: '60' }
    expect(seen[5]).toMatchObject({ ...refusal, limit: 4, reset: NOON + 60_000 })
    await sandbox.advance('1m')
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200, remaining: 3 })
  })

  it('is that of the plan; limits apply to the key `sandbox` only', async () => {
    const sandbox = await openSandbox({ plan: 'business', limits: '7/min' })
    const limits = { '': 7, '-free': 60, '-pro': 300, '-business': 1000, '-enterprise': 10_000 }
    for (const [plan, limit] of Object.entries(limits))
      expect(await sandbox.get('/pets', `sandbox${plan}`)).toMatchObject({ limit, remaining: limit - 1 })
  })

  it('of a caller without a valid key is that of the address, and brings no ban', async () => {
    const sandbox = await openSandbox()
    const seen = await times(80, () => sandbox.get('/pets', null))
    expect(seen[0]).toMatchObject({ status: 401, limit: 60, remaining: 59 })
    const refusal = { status: 429, code: 'rate_limit_exceeded', reason: 'quota-minute' }
    for (const one of [...seen.slice(60), await sandbox.get('/pets', 'nobody')]) expect(one).toMatchObject(refusal)
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200, remaining: 59 })
  })
})

describe.each(transports)('a 429, %s', (_name, openSandbox) => {
  const refused = async (sandbox: TestSandbox) => {
    await sandbox.get('/pets')
    return sandbox.get('/pets')
  }

  it.each([
    ['error', 'application/json', /^\{"code":"rate_limit_exceeded",/],
    ['empty', null, /^$/],
    ['text', 'text/plain; charset=utf-8', /^The limit of 1 request per minute/],
    ['html', 'text/html; charset=utf-8', /^<!doctype html>/],
  ] as const)('has a body of the kind %s', async (limitBody, contentType, body) => {
    const seen = await refused(await openSandbox({ limits: '1/min', limitBody }))
    expect(seen.headers.get('content-type')).toBe(contentType)
    expect(seen).toMatchObject({ status: 429, reason: 'quota-minute', text: expect.stringMatching(body) })
  })

  it('names the policy that is used up with limitBody: problem, in the fields of RFC 9457 and of an Error', async () => {
    const { headers, text } = await refused(await openSandbox({ limits: '1/min', limitBody: 'problem' }))
    const message = 'The limit of 1 request per minute is used up. Wait for the time in Retry-After.'
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(JSON.parse(text)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Quota exceeded',
      status: 429,
      detail: message,
      code: 'rate_limit_exceeded',
      message,
      'violated-policies': ['minute'],
    })
  })

  it.each([
    ['a ban', { banStatus: 403 }, 'sandbox-banned', 403, /#abnormal-usage-detected$/],
    ['a storm', { storm: '1' }, 'sandbox', 429, /#temporary-reduced-capacity$/],
    ['a fault', { fault: '*:429' }, 'sandbox', 429, /^about:blank$/],
    // The contract documents the body of a 401.
    ['a ban with 401', { banStatus: 401 }, 'sandbox-banned', 401, undefined],
  ] as const)('has the problem type of %s', async (_cause, options, key, status, type) => {
    const sandbox = await openSandbox({ ...options, limitBody: 'problem' })
    const { headers, text } = await sandbox.get('/pets', key)
    expect(headers.get('content-type')).toBe(type === undefined ? 'application/json' : 'application/problem+json')
    expect(JSON.parse(text)).toMatchObject({ status, ...(type && { type: expect.stringMatching(type) }) })
  })
})

describe.each(transports)('rateLimitHeaders: draft, %s', (_name, openSandbox) => {
  const fields = ({ headers }: Seen) =>
    ['ratelimit', 'ratelimit-policy', 'x-ratelimit-remaining'].map((name) => headers.get(name))
  const policy = '"minute";q=2;w=60, "day";q=1000;w=86400'

  it('adds both policies and the window of X-RateLimit-* to every response', async () => {
    const sandbox = await openSandbox({ limits: '2/min', rateLimitHeaders: 'draft', now: '2026-03-01T12:00:00.400Z' })
    expect(fields(await sandbox.get('/pets'))).toEqual(['"minute";r=1;t=60', policy, '1'])
    await sandbox.advance('30500ms')
    expect(fields(await sandbox.get('/nowhere'))).toEqual(['"minute";r=0;t=30', policy, '0'])
    const refused = await sandbox.get('/pets')
    expect(refused).toMatchObject({ status: 429, retryAfter: '30' })
    expect(fields(refused)).toEqual(['"minute";r=0;t=30', policy, '0'])
    expect(refused.headers.get('access-control-expose-headers')).toContain('RateLimit, RateLimit-Policy')
  })

  it('omits RateLimit where Retry-After is earlier than its reset, and both fields by default', async () => {
    const sandbox = await openSandbox({ limits: '2/min', rateLimitHeaders: 'draft', storm: '1' })
    const refused = await sandbox.get('/pets')
    expect(refused).toMatchObject({ status: 429, retryAfter: '1', reason: 'storm' })
    expect(fields(refused)).toEqual([null, policy, '2'])
    const usual = await (await openSandbox()).get('/pets')
    expect(fields(usual)).toEqual([null, null, '59'])
    expect(usual.headers.get('access-control-expose-headers')).not.toContain('RateLimit-Policy')
  })

  it('counts at most 15 digits, the most that a structured field can hold', async () => {
    const sandbox = await openSandbox({ rateLimitHeaders: 'draft', limits: { perMinute: Number.MAX_SAFE_INTEGER } })
    expect(fields(await sandbox.get('/pets'))[1]).toBe('"minute";q=999999999999999;w=60, "day";q=1000;w=86400')
  })
})

describe.each(transports)('a ban, %s', (_name, openSandbox) => {
  it('starts for a loop that ignores Retry-After, but not with banAfter: never', async () => {
    const codes = async (sandbox: TestSandbox) =>
      (await times(14, () => sandbox.get('/pets?limit=1'))).map(({ code }) => code)
    const refused = (count: number) => Array(count).fill('rate_limit_exceeded')
    const sandbox = await openSandbox({ limits: '1/min' })
    expect(await codes(sandbox)).toEqual([undefined, ...refused(10), ...Array(3).fill('api_key_banned')])
    expect(await sandbox.get('/pets')).toMatchObject({ status: 429, reason: 'ban', retryAfter: '300' })
    expect(await codes(await openSandbox({ limits: '1/min', banAfter: 'never' }))).toEqual([undefined, ...refused(13)])
  })

  it('counts refusals of a storm and of a fault, not forced ones', async () => {
    for (const options of [{ storm: '1' }, { fault: '*:429' }]) {
      const sandbox = await openSandbox(options)
      expect((await times(12, () => sandbox.get('/pets'))).at(-1)).toMatchObject({ code: 'api_key_banned' })
    }
    const forced = await openSandbox()
    const ask = () => forced.call('/v1/pets', { headers: { prefer: 'code=429' } })
    expect((await times(12, ask)).every(({ reason }) => reason === 'forced')).toBe(true)
  })

  it('counts only refusals that named a wait', async () => {
    const sandbox = await openSandbox({ limits: '1/min', banAfter: 1, retryAfter: 'none' })
    expect((await times(5, () => sandbox.get('/pets'))).map(({ reason }) => reason)).not.toContain('ban')
    await sandbox.control('PATCH', '/settings', { retryAfter: 'seconds' })
    const reasons = (await times(2, () => sandbox.get('/pets'))).map(({ reason }) => reason)
    expect(reasons).toEqual(['quota-minute', 'ban'])
  })

  it.each([
    ['nothing', []],
    ['the end of a storm', ['DELETE', '/storm']],
    ['a storm', ['PUT', '/storm', { rate: 0 }]],
    ['the end of faults', ['DELETE', '/faults']],
    ['the end of a ban', ['DELETE', '/keys/sandbox/ban']],
  ] as const)(
    'counts early requests until their own wait is over, also after %s',
    async (_what, [method, path, body]) => {
      const sandbox = await openSandbox({ limits: '1/min', banAfter: 2 })
      await times(3, () => sandbox.get('/pets'))
      if (method !== undefined) await sandbox.control(method, path, body)
      expect(await sandbox.get('/pets')).toMatchObject({ reason: 'ban' })
    },
  )

  it('does not count early requests again after the clock has gone back before the end of their wait', async () => {
    const sandbox = await openSandbox({ limits: '1/min', banAfter: 3 })
    await times(4, () => sandbox.get('/pets'))
    await sandbox.advance('60s')
    const now = new Date(NOON + 30_000).toISOString()
    await sandbox.control('PUT', '/scenario', { limits: '1/min', banAfter: 3, now, freeze: true })
    const reasons = (await times(4, () => sandbox.get('/pets'))).map(({ reason }) => reason)
    expect(reasons).toEqual(['quota-minute', 'quota-minute', 'quota-minute', 'ban'])
  })

  it('of a key that is always banned has a challenge with 401, and the documented message', async () => {
    const seen = await (await openSandbox({ banStatus: 401, banDuration: '90s' })).get('/pets', 'sandbox-banned')
    expect(seen).toMatchObject({ status: 401, code: 'api_key_banned', reason: 'ban', retryAfter: '90' })
    expect(seen.headers.get('www-authenticate')).toBe('Bearer realm="petstore", error="invalid_token"')
    expect(seen.json).toMatchObject({ message: 'This API key is always banned. Use another key.' })
  })

  it('is never one of a key that is always out of quota', async () => {
    const sandbox = await openSandbox()
    const seen = await times(12, () => sandbox.get('/pets', 'sandbox-limited'))
    expect(seen.every(({ status, reason }) => status === 429 && reason === 'quota-minute')).toBe(true)
    expect(seen[0]?.json).toMatchObject({ message: 'The quota of this key is always used up. Use another key.' })
  })
})
