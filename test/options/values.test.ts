import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { formatFaultRule } from '../../src/domain/faults.js'
import type { Limits } from '../../src/domain/quota.js'
import { int64Schema } from '../../src/domain/schemas.js'
import { formatOffset, parseOffset } from '../../src/domain/time.js'
import { valueFromText } from '../../src/options/layer.js'
import { isLoopback, readHost } from '../../src/options/values/address.js'
import { formatLatency, readLatency, readStorm } from '../../src/options/values/faults.js'
import { clockStartSchema, readInstant } from '../../src/options/values/instant.js'
import { formatLimits, readApiKey, readLimits } from '../../src/options/values/keys.js'
import { readBasePathOption, readOrigin } from '../../src/options/values/origins.js'
import fc from '../support/fast-check.js'
import { folderWith, gathered, problemsOf, resolved } from './context.js'

const count = fc.integer({ min: 0, max: 999_999_999 })

it.each<[string, string, (text: string) => object, unknown]>([
  ['limits', '5000/min', readLimits, { perMinute: 5000 }],
  ['limits', '200000/day', readLimits, { perDay: 200_000 }],
  ['limits', '5/day,1/min', readLimits, { perMinute: 1, perDay: 5 }],
  ['storms', '0.3', readStorm, { rate: 0.3 }],
  ['storms', '.5', readStorm, { rate: 0.5 }],
  [
    'storms',
    '1,for=30s,every=5m,retry-after=2s',
    readStorm,
    { rate: 1, for: 30_000, every: 300_000, retryAfter: 2000 },
  ],
  ['storms', '1,retry-after=0s,for=1ms', readStorm, { rate: 1, for: 1, retryAfter: 0 }],
  ['instants', '2026-03-01T10:00:00Z', readInstant, Date.parse('2026-03-01T10:00:00.000Z')],
  ['instants', '2026-03-01T10:00:00.1234567Z', readInstant, Date.parse('2026-03-01T10:00:00.123Z')],
  ['instants', '2026-03-01T10:00:00+02:00', readInstant, Date.parse('2026-03-01T08:00:00.000Z')],
  ['instants', '2026-03-01T10:00:00-05:30', readInstant, Date.parse('2026-03-01T15:30:00.000Z')],
  ['instants', '2028-02-29', readInstant, Date.parse('2028-02-29T00:00:00.000Z')],
  ['instants', '9999-12-31T23:59:59.999Z', readInstant, Date.parse('9999-12-31T23:59:59.999Z')],
  ['keys', 'team-a', readApiKey, { key: 'team-a' }],
  ['keys', 'team-a:pro', readApiKey, { key: 'team-a', plan: 'pro' }],
  ['keys', 'A.b_c-d/e+f==', readApiKey, { key: 'A.b_c-d/e+f==' }],
  ['keys', 'team-a=A==:pro', readApiKey, { key: 'A==', label: 'team-a', plan: 'pro' }],
  ['origins', 'HTTP://LocalHost', readOrigin, 'http://localhost'],
  ['origins', 'https://example.org:443', readOrigin, 'https://example.org'],
  ['origins', 'http://[::1]:3000', readOrigin, 'http://[::1]:3000'],
  ['origins', 'capacitor://localhost', readOrigin, 'capacitor://localhost'],
  ['hosts', '127.0.0.1', readHost, '127.0.0.1'],
  ['hosts', 'my-host.local', readHost, 'my-host.local'],
  ['hosts', '[::1]', readHost, '::1'],
  ['base paths', '/v1', readBasePathOption, '/v1'],
  ['base paths', '/a.b_c~d-e/v10', readBasePathOption, '/a.b_c~d-e/v10'],
  ['base paths', '/', readBasePathOption, ''],
  ['base paths', '/api/', readBasePathOption, '/api'],
  ['base paths', '/@me/(a)/%C3%BC', readBasePathOption, '/@me/(a)/%C3%BC'],
])('%s: reads %s', (_kind, text, read, value) => expect(read(text)).toEqual({ value }))

it('limits round-trip', () => {
  const limits = fc
    .record({ perMinute: count, perDay: count }, { requiredKeys: [] })
    .filter((some) => Object.keys(some).length > 0)
  fc.assert(
    fc.property(limits, (some) => {
      expect(readLimits(formatLimits(some as Partial<Limits>))).toEqual({ value: some })
    }),
  )
})

describe('faults', () => {
  it.each<[object, string]>([
    [{ status: 503 }, '*:503'],
    [{ fault: 503 }, '*:503'],
    [{ fault: 'hang' }, '*:hang'],
    [{ operation: 'listPets', status: 503, times: 3 }, 'listPets:503*3'],
    [{ operation: 'listPets', fault: 'status', status: 503 }, 'listPets:503'],
  ])('reads %j with defaults for omitted fields', (fault, text) => {
    expect(resolved({ fault }).start.faults.map(formatFaultRule)).toEqual([text])
  })

  it.each<[object, string]>([
    [{ fault: 700 }, 'the fault must be a status from 400 to 599 or one of'],
    [{ fault: 'reset' }, 'must be a status from 400 to 599, or one of'],
    [{}, 'the fault must be a status from 400 to 599 or one of'],
    [{ fault: 503, status: 500 }, 'names its status twice, in fault and in status'],
    [{ fault: 'hang', status: 500 }, 'status is only allowed with the fault "status"'],
    [{ operation: '*', fault: 'hang', retryAfter: '2s' }, 'retryAfter is only allowed with the fault "status"'],
  ])('refuses %j', (fault, message) => {
    expect(problemsOf(() => resolved({ fault }))).toEqual([expect.stringContaining(message)])
  })

  it('reads a rule with a body, or as an object, as one of the environment', () => {
    for (const text of [
      'getPet:404@5%:{"a":1,"b":[2]}',
      '{"operation":"getPet","status":404,"when":{"query":{"a":"b"}}}',
    ])
      expect(valueFromText('list', text)).toEqual([text])
  })

  it('reads the file that a flag or a variable names, and no file for others', () => {
    const cwd = folderWith({ 'empty.json': ' [] \n' })
    const rule = 'listPets:200*1:@empty.json'
    const read = [{ operation: 'listPets', fault: 'status', status: 200, times: 1, body: [] }]
    expect(gathered({ flags: { fault: [rule] }, cwd }).start.faults).toEqual(read)
    expect(gathered({ env: { PETSTORE_SANDBOX_FAULT: rule }, cwd }).start.faults).toEqual(read)
    expect(problemsOf(() => gathered({ flags: { fault: ['a:200:@b'] }, cwd }))).toEqual([
      expect.stringContaining('b cannot be read'),
    ])
    expect(problemsOf(() => resolved({ fault: rule }))).toEqual([expect.stringContaining('give its content as body')])
  })

  it.each([
    [{ operation: 'getPet', status: 200, headers: { 'x a': 'b' } }, 'has no valid name'],
    [{ operation: 'getPet', status: 200, body: 1, headers: { Date: 'b' } }, 'cannot be set'],
    [{ operation: 'getPet', status: 304, body: {} }, 'has no body'],
    [{ operation: 'getPet', fault: 'hang', body: {} }, 'only allowed with the fault "status"'],
    [{ operation: 'getPet', status: 503, when: { cookie: {} } }, 'must be an object with path, query, header or body'],
  ])('refuses %j', (fault, message) => {
    expect(problemsOf(() => resolved({ fault: fault as never }))).toEqual([expect.stringContaining(message)])
  })

  it('reads a list of the environment, whose rules have commas', () => {
    expect(valueFromText('list', 'createPet:503,retry-after=2s,after, *:500@20%,after,after:503')).toEqual([
      'createPet:503,retry-after=2s,after',
      '*:500@20%,after',
      'after:503',
    ])
  })

  it('refuses a list that is too long with one message', () => {
    const fault = Array.from({ length: 83_000 }, () => ({}))
    expect(problemsOf(() => resolved({ fault }))).toEqual([expect.stringMatching(/must have at most 1000 values$/)])
  })
})

it.each([
  ['100ms', { min: 100, max: 100 }],
  ['50ms..200ms', { min: 50, max: 200 }],
  ['0s..1s', { min: 0, max: 1000 }],
  ['listPets=3s', { min: 0, max: 0, operations: { listPets: { min: 3000, max: 3000 } } }],
  ['5ms,getPet=1s..2s', { min: 5, max: 5, operations: { getPet: { min: 1000, max: 2000 } } }],
])('latencies reads %s', (text, value) => {
  expect(readLatency(text)).toEqual({ value })
  expect(readLatency(formatLatency(value))).toEqual({ value })
})

describe('start of a clock', () => {
  it.each([
    ['2026-03-01T10:00:00Z', Date.parse('2026-03-01T10:00:00Z')],
    ['+3h', { ahead: 10_800_000 }],
    ['-2d', { ahead: -172_800_000 }],
    ['+1d2h3m4s5ms', { ahead: 93_784_005 }],
    ['+0s', { ahead: 0 }],
  ])('reads %s', (text, start) => expect(v.parse(clockStartSchema, text)).toEqual(start))

  it.each(['+', '3h', '+3', '+3h2d', '+1.5h', '+ 3h', '++3h', '+2026-03-01', ''])('refuses "%s"', (text) =>
    expect(v.safeParse(clockStartSchema, text).success).toBe(false),
  )

  it.each([0, 1, -1, 5_400_000, -172_800_001, Date.parse('9999-12-31')])('reads %d ms as it was written', (ahead) =>
    expect(parseOffset(formatOffset(ahead))).toBe(ahead),
  )
})

it('knows which hosts are loopback', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'LOCALHOST']) expect(isLoopback(host), host).toBe(true)
  for (const host of ['0.0.0.0', '::', '127.example.org', '192.168.1.1']) expect(isLoopback(host), host).toBe(false)
})

const range = 'must be a whole number from -9223372036854775808 to 9223372036854775807'
it.each<[unknown, string]>([
  [2 ** 53, 'write it as a bigint, such as 9007199254740993n'],
  [-(2 ** 62), 'write it as a bigint, such as 9007199254740993n'],
  ...[2 ** 63, 2n ** 63n, 1.5, '1', null].map((value): [unknown, string] => [value, range]),
])('a whole number of 64 bits is not %s: %s', (value, problem) =>
  expect(() => v.parse(int64Schema(), value)).toThrow(problem),
)

/** Separated by |. */
const REFUSED = [
  ['limits', readLimits, '|5|5/hour|5/min,|-1/min|1.5/min|5 /min|5/min,6/min|5/min;6/day|1e3/min'],
  ['storms', readStorm, '|on|1.1|-0.1|30%|1e-3|0.3,|0.3,30s|0.3,for=30|0.3,for=0s|0.3,for=1s,for=2s|0.3,every=5m'],
  ['storms', readStorm, '0.3,for=5m,every=30s|0.3,until=5m|0.3,toString=5m|0.3,retry-after=9000h|for=30s'],
  ['latencies', readLatency, '|100|200ms..50ms|1s..2s..3s|1s...2s|..1s|25h|1s,2s|=1s|a=|a=1s,a=2s'],
  ['instants', readInstant, '|now|2026-03-01T10:00:00|2026-02-30|2027-02-29|2026-13-01|2026-03-01T24:00:00Z'],
  [
    'instants',
    readInstant,
    '2026-03-01T10:60:00Z|2026-03-01 10:00:00Z|2026-03-01T10:00:00+0200|2026-03-01T10:00:00+24:00',
  ],
  ['instants', readInstant, '20260301|1969-12-31|0050-01-01|9999-12-31T23:59:59-01:00|1772359200000'],
  ['keys', readApiKey, '|:pro|a:|a:a b|a:pro:x|a b|a~b|=b|a b=c|a==b|a=b=c|a/b=c|ä|a\n'],
  ['keys', readApiKey, `${'x'.repeat(65)}=a`],
  ['keys', readApiKey, 'x'.repeat(4097)],
  ['origins', readOrigin, '|*|null|localhost:3000|http://localhost/|http://a/b|http://a?b|http://u@a|http://a:99999'],
  ['origins', readOrigin, 'http://a b'],
  ['addresses', readHost, '|http://localhost|localhost:80|127.0.0.1.1|300.1.1.1|a b|-a'],
  [
    'base paths',
    readBasePathOption,
    '|v1|//v1|/../v1|/./v1|/__sandbox|/__sandbox/v1|/~a/v1|/%7Ea|/a b/v1|/%6/v1|/a?b|/a#b',
  ],
] as const

describe.each(REFUSED)('%s', (_kind, read, texts) => {
  it.each(texts.split('|'))('refuses "%s"', (text) => expect(read(text)).toHaveProperty('problem'))
})
