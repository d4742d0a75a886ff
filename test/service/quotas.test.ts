import { describe, expect, it } from 'vitest'
import { NOON, type Seen, type TestSandbox, transports } from '../support/transports.js'

const MINUTE = 60_000
const DAY = 86_400_000

async function times(count: number, ask: () => Promise<Seen>): Promise<Seen[]> {
  const seen: Seen[] = []
  for (let i = 0; i < count; i++) seen.push(await ask())
  return seen
}

function statuses(seen: readonly Seen[]): number[] {
  return seen.map(({ status }) => status)
}

describe.each(transports)('a client on the Free plan, %s', (_name, openSandbox) => {
  it('gets exactly 60 responses a minute, then 429 with the seconds to the reset', async () => {
    const sandbox = await openSandbox()
    const seen = await times(61, () => sandbox.get('/pets?limit=1'))
    expect(statuses(seen)).toEqual([...Array(60).fill(200), 429])
    expect(seen.map(({ remaining }) => remaining).slice(0, 3)).toEqual([59, 58, 57])
    expect(seen[60]).toMatchObject({
      code: 'rate_limit_exceeded',
      reason: 'quota-minute',
      retryAfter: '60',
      limit: 60,
      remaining: 0,
      reset: NOON + MINUTE,
    })
  })

  it('gets 429 once the day is used up, until the day is over', async () => {
    const sandbox = await openSandbox({ limits: '100/min,3/day' })
    const seen = await times(4, () => sandbox.get('/pets?limit=1'))
    expect(seen.map(({ remaining, limit }) => [remaining, limit])).toEqual([
      [2, 3],
      [1, 3],
      [0, 3],
      [0, 3],
    ])
    expect(seen[3]).toMatchObject({
      status: 429,
      reason: 'quota-day',
      retryAfter: String(DAY / 1000),
      reset: NOON + DAY,
    })
    await sandbox.advance('24h')
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
  })

  it('is charged for 400, 404 and 405 as for 200, and not for 429', async () => {
    const sandbox = await openSandbox({ limits: '4/min' })
    await sandbox.get('/pets?limit=0')
    await sandbox.get('/pets/4711')
    await sandbox.call('/v1/pets', { method: 'DELETE' })
    expect(await sandbox.get('/nowhere')).toMatchObject({ status: 404, remaining: 0 })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 429, remaining: 0 })
    await sandbox.advance('1m')
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200, remaining: 3 })
  })
})

describe.each(transports)('plans, %s', (_name, openSandbox) => {
  it.each([
    ['sandbox-free', 60],
    ['sandbox-pro', 300],
    ['sandbox-business', 1000],
    ['sandbox-enterprise', 10_000],
  ])('give the key %s %d requests a minute', async (key, limit) => {
    const sandbox = await openSandbox()
    expect(await sandbox.get('/pets', key)).toMatchObject({ status: 200, limit, remaining: limit - 1 })
  })

  it('apply to the key `sandbox` only', async () => {
    const sandbox = await openSandbox({ plan: 'business', limits: '7/min' })
    expect(await sandbox.get('/pets')).toMatchObject({ limit: 7 })
    expect(await sandbox.get('/pets', 'sandbox-free')).toMatchObject({ limit: 60 })
  })

  it('show the full limit with --no-rate-limit, and refuse nothing', async () => {
    const sandbox = await openSandbox({ rateLimit: false, limits: '2/min' })
    const seen = await times(5, () => sandbox.get('/pets?limit=1'))
    expect(seen.every(({ status, limit, remaining }) => status === 200 && limit === 2 && remaining === 2)).toBe(true)
  })
})

describe.each(transports)('a caller without a valid key, %s', (_name, openSandbox) => {
  it('is counted by address on the Free plan, and then refused', async () => {
    const sandbox = await openSandbox()
    const seen = await times(61, () => sandbox.get('/pets', null))
    expect(statuses(seen)).toEqual([...Array(60).fill(401), 429])
    expect(seen[0]).toMatchObject({ code: 'missing_api_key', limit: 60, remaining: 59 })
    expect(seen[60]).toMatchObject({ code: 'rate_limit_exceeded', reason: 'quota-minute', retryAfter: '60' })
  })

  it('is never banned', async () => {
    const sandbox = await openSandbox()
    const seen = await times(100, () => sandbox.get('/pets', 'nobody'))
    expect(new Set(seen.slice(60).map(({ code }) => code))).toEqual(new Set(['rate_limit_exceeded']))
  })

  it('does not use the quota of a key', async () => {
    const sandbox = await openSandbox()
    await times(61, () => sandbox.get('/pets', null))
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200, remaining: 59 })
  })
})

describe.each(transports)('Retry-After and the body of a 429, %s', (_name, openSandbox) => {
  const refused = async (sandbox: TestSandbox) => {
    await sandbox.get('/pets')
    return sandbox.get('/pets')
  }

  it('is an HTTP-date not earlier than the reset, with retryAfter: http-date', async () => {
    const sandbox = await openSandbox({ limits: '1/min', retryAfter: 'http-date', now: '2026-03-01T12:00:00.400Z' })
    expect(await refused(sandbox)).toMatchObject({ retryAfter: 'Sun, 01 Mar 2026 12:01:01 GMT' })
  })

  it('is omitted with retryAfter: none', async () => {
    const sandbox = await openSandbox({ limits: '1/min', retryAfter: 'none' })
    expect(await refused(sandbox)).toMatchObject({ status: 429, retryAfter: undefined })
  })

  it.each([
    ['error', 'application/json', /^\{"code":"rate_limit_exceeded",/],
    ['empty', null, /^$/],
    ['text', 'text/plain; charset=utf-8', /^The limit of 1 request per minute/],
    ['html', 'text/html; charset=utf-8', /^<!doctype html>/],
  ] as const)('is of the kind %s', async (limitBody, contentType, body) => {
    const sandbox = await openSandbox({ limits: '1/min', limitBody })
    const seen = await refused(sandbox)
    expect(seen.headers.get('content-type')).toBe(contentType)
    expect(seen.text).toMatch(body)
    expect(seen).toMatchObject({ status: 429, retryAfter: '60', reason: 'quota-minute' })
  })
})

describe.each(transports)('limitBody: problem, %s', (_name, openSandbox) => {
  it('names the policy that is used up, in the fields of RFC 9457 and of an Error', async () => {
    const sandbox = await openSandbox({ limits: '1/min', limitBody: 'problem' })
    await sandbox.get('/pets')
    const { status, headers, text, retryAfter } = await sandbox.get('/pets')
    const message = 'The limit of 1 request per minute is used up. Wait for the time in Retry-After.'
    expect({ status, retryAfter, type: headers.get('content-type') }).toEqual({
      status: 429,
      retryAfter: '60',
      type: 'application/problem+json',
    })
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
  ] as const)('has the type of %s', async (_cause, options, key, status, type) => {
    const sandbox = await openSandbox({ ...options, limitBody: 'problem' })
    const seen = await sandbox.get('/pets', key)
    expect(seen.headers.get('content-type')).toBe('application/problem+json')
    expect(JSON.parse(seen.text)).toMatchObject({ status, type: expect.stringMatching(type) })
  })

  it('does not change a 401, whose body the contract documents', async () => {
    const sandbox = await openSandbox({ banStatus: 401, limitBody: 'problem' })
    const banned = await sandbox.get('/pets', 'sandbox-banned')
    expect(banned).toMatchObject({ status: 401, code: 'api_key_banned' })
    expect(banned.headers.get('content-type')).toBe('application/json')
  })
})

describe.each(transports)('rateLimitHeaders: draft, %s', (_name, openSandbox) => {
  const fields = ({ headers }: { readonly headers: Headers }) => ({
    limit: headers.get('ratelimit'),
    policy: headers.get('ratelimit-policy'),
    remaining: headers.get('x-ratelimit-remaining'),
  })
  const policy = '"minute";q=2;w=60, "day";q=1000;w=86400'

  it('adds both policies and the window of X-RateLimit-* to every response', async () => {
    const sandbox = await openSandbox({ limits: '2/min', rateLimitHeaders: 'draft', now: '2026-03-01T12:00:00.400Z' })
    expect(fields(await sandbox.get('/pets'))).toEqual({ limit: '"minute";r=1;t=60', policy, remaining: '1' })
    await sandbox.advance('30500ms')
    expect(fields(await sandbox.get('/nowhere'))).toEqual({ limit: '"minute";r=0;t=30', policy, remaining: '0' })
    const refused = await sandbox.get('/pets')
    expect(refused).toMatchObject({ status: 429, retryAfter: '30' })
    expect(fields(refused)).toEqual({ limit: '"minute";r=0;t=30', policy, remaining: '0' })
    expect(refused.headers.get('access-control-expose-headers')).toContain('RateLimit, RateLimit-Policy')
  })

  it('omits RateLimit where Retry-After is earlier than its reset', async () => {
    const sandbox = await openSandbox({ limits: '2/min', rateLimitHeaders: 'draft', storm: '1' })
    const refused = await sandbox.get('/pets')
    expect(refused).toMatchObject({ status: 429, retryAfter: '1', reason: 'storm' })
    expect(fields(refused)).toEqual({ limit: null, policy, remaining: '2' })
  })

  it('is off by default', async () => {
    const { headers } = await (await openSandbox()).get('/pets')
    expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([])
    expect(headers.get('access-control-expose-headers')).not.toContain('RateLimit-Policy')
  })

  it('counts at most 15 digits, the most that a structured field can hold', async () => {
    const sandbox = await openSandbox({ rateLimitHeaders: 'draft', limits: { perMinute: Number.MAX_SAFE_INTEGER } })
    const seen = fields(await sandbox.get('/pets', 'sandbox'))
    expect(seen.policy).toBe('"minute";q=999999999999999;w=60, "day";q=1000;w=86400')
  })
})

describe.each(transports)('a ban, %s', (_name, openSandbox) => {
  it('starts for a loop that ignores Retry-After', async () => {
    const sandbox = await openSandbox({ limits: '1/min' })
    const seen = await times(14, () => sandbox.get('/pets?limit=1'))
    expect(seen.map(({ code }) => code)).toEqual([
      undefined,
      ...Array(10).fill('rate_limit_exceeded'),
      ...Array(3).fill('api_key_banned'),
    ])
    expect(seen[13]).toMatchObject({ status: 429, reason: 'ban', retryAfter: '300' })
  })

  it.each([
    [403, null],
    [401, 'Bearer realm="petstore", error="invalid_token"'],
  ] as const)('returns %d with banStatus', async (banStatus, challenge) => {
    const sandbox = await openSandbox({ banStatus })
    const seen = await sandbox.get('/pets', 'sandbox-banned')
    expect(seen).toMatchObject({ status: banStatus, code: 'api_key_banned', reason: 'ban', retryAfter: '300' })
    expect(seen.headers.get('www-authenticate')).toBe(challenge)
  })

  it('never starts with banAfter: never', async () => {
    const sandbox = await openSandbox({ limits: '1/min', banAfter: 'never' })
    const seen = await times(40, () => sandbox.get('/pets?limit=1'))
    expect(seen.some(({ code }) => code === 'api_key_banned')).toBe(false)
  })

  it('counts refusals of a storm and of a fault, not forced ones', async () => {
    const stormy = await openSandbox({ storm: '1' })
    expect((await times(12, () => stormy.get('/pets'))).at(-1)).toMatchObject({ code: 'api_key_banned' })
    const faulty = await openSandbox({ fault: '*:429' })
    expect((await times(12, () => faulty.get('/pets'))).at(-1)).toMatchObject({ code: 'api_key_banned' })
    const forced = await openSandbox()
    const ask = () => forced.call('/v1/pets', { headers: { prefer: 'code=429' } })
    expect((await times(30, ask)).every(({ reason }) => reason === 'forced')).toBe(true)
  })
})

describe.each(transports)('the keys of misfortune, %s', (_name, openSandbox) => {
  it('are always out of quota, and never banned', async () => {
    const sandbox = await openSandbox()
    const seen = await times(30, () => sandbox.get('/pets', 'sandbox-limited'))
    expect(seen.every(({ status, reason }) => status === 429 && reason === 'quota-minute')).toBe(true)
    await sandbox.advance('1m')
    expect(await sandbox.get('/pets', 'sandbox-limited')).toMatchObject({ status: 429, retryAfter: '60', remaining: 0 })
  })

  it('are always banned', async () => {
    const sandbox = await openSandbox({ banDuration: '90s' })
    expect(await sandbox.get('/pets', 'sandbox-banned')).toMatchObject({ code: 'api_key_banned', retryAfter: '90' })
  })

  it('are always invalid', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.get('/pets', 'sandbox-revoked')).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })
})
