import { describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import type { SandboxOptions } from '../../src/index.js'
import { testIo } from '../cli/test-io.js'
import { type Came, change, type Drift, driftingService, verified } from './drifting-service.js'

type Where = (came: Came) => boolean

const without: Where = ({ key }) => key === undefined
const isKeyed: Where = ({ key }) => key?.startsWith('sandbox') === true
const keyed =
  (where: Where): Where =>
  (came) =>
    where(came) && isKeyed(came)
const list: Where = ({ method, url }) => method === 'GET' && /^\/v1\/pets(?:\?|$)/.test(url)
const plainList: Where = ({ method, url }) => method === 'GET' && url === '/v1/pets'
const item: Where = ({ url }) => /^\/v1\/pets\/\d+$/.test(url)
const create: Where = ({ method }) => method === 'POST'
const orders: Where = ({ url }) => url === '/v1/store/orders'
const asks =
  (query: string): Where =>
  (came) =>
    keyed(list)(came) && came.url.includes(query)
const everywhere: Where = () => true
const keylessItem: Where = (came) => item(came) && without(came)

const reply = (where: Where, status: number, body?: string) =>
  change(where, (goes) => void Object.assign(goes, { status }, body !== undefined && { body }))
const header = (where: Where, name: string, value: string) =>
  change(where, ({ headers }) => {
    headers[name] = value
  })
const noHeaders = (where: Where, ...names: readonly string[]) =>
  change(where, ({ headers }) => {
    for (const name of names) delete headers[name]
  })
const text = (where: Where, body: (before: string) => string | Buffer) =>
  change(where, (goes) => {
    goes.body = body(String(goes.body))
  })
/** Changes the JSON of successes, which loses digits: only where nobody looks at them. */
const json = (where: Where, act: (body: never) => unknown) =>
  change(where, (goes) => {
    if (goes.status < 300) goes.body = JSON.stringify(act(JSON.parse(String(goes.body)) as never))
  })
const error = (where: Where, more: object) =>
  change(where, (goes) => {
    if (goes.status >= 400) goes.body = JSON.stringify({ ...JSON.parse(String(goes.body)), ...more })
  })
const ofStatus =
  (code: number, drift: Drift): Drift =>
  (came, goes) =>
    goes.status === code ? drift(came, goes) : goes

const REX = '{"id":99,"name":"Rex","categoryId":1}'
/** createPet accepts invalid bodies with some text in them. */
const accepts = (sent: string) =>
  ofStatus(
    400,
    reply((came) => create(came) && came.body.includes(sent), 201, REX),
  )
/** createPet refuses some valid bodies. */
const refuses = (which: (sent: string) => boolean) =>
  ofStatus(
    201,
    reply((came) => create(came) && which(came.body), 400, '{"code":"invalid_request","message":"no","status":400}'),
  )

const basic = header(everywhere, 'www-authenticate', 'Basic realm="petstore"')
const LATER = 'Fri, 06 Dec 2030 00:00:00 GMT'
const RATE_LIMITS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

type Pet = Readonly<Record<'id' | 'name' | 'status', unknown>>
const pets = (count: number, more = {}) =>
  Array.from({ length: count }, (_, id) => ({ id: id + 1, name: 'Rex', categoryId: 1, ...more }))

type Planted = readonly [drift: Drift, detail: RegExp, call?: string]

/** Drifts by the check that finds them. The calls need a captured id, a query and a body to find theirs with --check. */
const PLANTED: Readonly<Record<string, readonly Planted[]>> = {
  'listPets, no parameters': [
    [reply(keyed(list), 500), /the status 500 is not documented/],
    [text(keyed(list), (body) => body.replace('"name":', '"name":"","name":')), /an object has the name "name" twice/],
    [json(keyed(plainList), () => pets(30)), /30 items are listed, although limit defaults to 20/],
  ],
  'createPet, the example': [
    [json(keyed(create), (pet: Pet) => ({ ...pet, name: 'R' })), /is "R", although "Rex" was/],
    [json(keyed(create), ({ status: _, ...pet }: Pet) => pet), /status was sent, but is not in the response/],
    [json(keyed(create), (pet: Pet) => ({ ...pet, id: 59 })), /the id 59 was there already/],
  ],
  'getPet, first': [
    [reply(keyed(item), 404, '{"code":"not_found","message":"x","status":404}'), /the status is 404, not 200/],
    [
      text(keyed(item), (body) => Buffer.from(body.replace('Sir Purrcival', 'Sir \xe9'), 'latin1')),
      /the body is not valid UTF-8/,
    ],
    [
      json(keyed(item), (pet: Pet) => ({ ...pet, id: 58 })),
      /the id is 58, although the request is for 59/,
      'getPet 59',
    ],
    [
      json(keyed(item), (pet: Pet) => ({ ...pet, name: 'Rex' })),
      /name of 59 is "Rex", but the list says "Sir Purrcival"/,
    ],
    [
      json(keyed(item), (pet: Pet) => ({ ...pet, status: pet.status === 'sold' ? 'pending' : 'sold' })),
      /status of 59 is "(?:sold|pending)", but the list says/,
    ],
  ],
  'getPet, the created item': [
    [
      json(
        (came) => item(came) && /6\d$/.test(came.url),
        (pet: Pet) => ({ ...pet, name: 'R' }),
      ),
      /name of 6\d is "R", and was "Rex" before/,
    ],
  ],
  'createPet, no name': [[accepts(''), /the status is 201, although (?:name|categoryId) is required/]],
  'createPet, categoryId as a text': [[accepts('"categoryId":"1"'), /the status is 201, (?:not 400|although)/]],
  'createPet, required fields only': [[refuses((sent) => !sent.includes('"status"')), /the status is 400, not 201/]],
  'getPet, an unknown id': [[ofStatus(404, reply(item, 200, REX)), /the status is 200, not 404/]],
  'listOrders, 401 with a wrong key': [[ofStatus(401, reply(orders, 200, '[]')), /the status is 200/]],
  'getPet, 401 without a key': [
    [error(keylessItem, { code: undefined }), /code is required/],
    [error(item, { status: 403 }), /status is 403 in the body, but the response has 40[14]/],
  ],
  'listPets, 401 without a key': [[ofStatus(401, basic), /WWW-Authenticate asks for .*, not for Bearer/]],
  'listPets, two-newest': [
    [json(asks('limit=2'), () => pets(3)), /3 items are listed, although limit is 2/, 'listPets --limit 2'],
  ],
  'listPets, status pending': [
    [json(asks('status=pending'), () => pets(1, { status: 'sold' })), /"sold", although the request is for pending/],
  ],
  'listPets, status available': [[json(asks('status=available'), () => []), /the list is empty, but/]],
  'listPets, created items are listed': [
    [
      text(keyed(list), (body) => body.replace(/\{[^{}]*"name":"Rex"[^{}]*\},?/g, '').replace(/,\]$/, ']')),
      /: \d+ was created, but is not listed/,
    ],
  ],
  'getPet, an id beyond 2^53': [
    [json(keyed(item), (pet: Pet) => pet), /the id is 9007199254740992, although the request is for 9007199254740993/],
    [json(keyed(list), (all) => all), /the status is 404, not 200/],
  ],
  'createPet, a number beyond 2^53': [
    [
      json(keyed(create), (pet: Pet) => pet),
      /categoryId is 9007199254740992, although 9007199254740993 was sent/,
      'createPet --name Rex --category-id 9007199254740993',
    ],
  ],
  'getPet, rate-limit headers of first': [
    [noHeaders(item, ...RATE_LIMITS), /Limit is missing; .*Remaining is missing; .*Reset is missing/],
  ],
  'listPets, requests are counted': [
    [header(everywhere, 'x-ratelimit-remaining', '42'), /X-RateLimit-Remaining is 42 after 42, in the same window/],
  ],
  'getPet, deprecation headers of first': [
    [header(keyed(item), 'sunset', LATER), /Sunset is Fri, 06 Dec .*, but the contract says Thu, 05 Dec 2030/],
  ],
}

/** The same, with keys that get no other response. */
const REFUSED: readonly (readonly [apiKey: string, ...Planted])[] = [
  ['sandbox-revoked', () => undefined, /the status is 401, not 200 \(is the API key one of /],
  ['sandbox-limited', ofStatus(429, noHeaders(everywhere, 'retry-after')), /Retry-After is missing/],
]

const CASES = [
  ...Object.entries(PLANTED).flatMap(([check, all]) => all.map((one) => ['sandbox', check, ...one] as const)),
  ...REFUSED.map(([apiKey, ...one]) => [apiKey, '', ...one] as const),
].map(([apiKey, check, drift, detail, call]) => ({ apiKey, check, drift, detail, call }))

describe('verify reports a planted drift:', () => {
  it.each(CASES)('$check: $detail', async ({ apiKey, drift, check, detail }) => {
    const { drifts } = await verified(drift, { apiKey, writes: true })
    expect(drifts.filter((line) => line.startsWith(check) && detail.test(line))).not.toEqual([])
  })

  it('without showing a key that is echoed', async () => {
    const apiKey = 'top-secret'
    const { drifts } = await verified(header(item, 'deprecation', apiKey), { apiKey }, { apiKey: [apiKey] })
    expect(drifts).toContain(
      'getPet, deprecation headers of first: Deprecation is "***", not a date such as @1764892800',
    )
    expect(drifts.join()).not.toContain(apiKey)
  })
})

it.each(CASES.filter(({ call }) => call !== undefined))(
  'call --check reports a planted drift: $call: $detail',
  async ({ apiKey, drift, detail, call = '' }) => {
    const { baseUrl } = await driftingService(drift)
    const io = testIo({ env: { PETSTORE_API_KEY: apiKey } })
    const code = await runCli(['call', ...call.split(' '), '--base-url', baseUrl, '--check'], io)
    expect({ code, err: io.stderr.text }).toEqual({ code: 6, err: expect.stringMatching(detail) })
  },
)

const MODES: readonly (readonly [options: SandboxOptions, apiKey?: string])[] = [
  ...(['free', 'enterprise'] as const).map((plan) => [{ plan }] as const),
  ...['sandbox-limited', 'sandbox-banned'].map((apiKey) => [{}, apiKey] as const),
  [{ limits: '40/min,40/day' }],
  [{ limits: '5/day' }],
  [{ rateLimit: false, freeze: true }],
  [{ now: '2029-06-01T12:00:00.999Z' }],
  [{ now: '2031-01-01T00:00:00Z' }],
  ...([404, 410] as const).flatMap((sunsetStatus) =>
    (['after', 'brownout'] as const).map(
      (sunset) => [{ sunset, sunsetStatus, reason: sunsetStatus === 404, now: '2026-03-01T10:00:01Z' }] as const,
    ),
  ),
  [{ storm: '1' }],
  [{ storm: '0.5', reason: false }],
  [{ fault: ['*:500'] }],
  [{ reason: false }, 'sandbox-banned'],
  ...(['error', 'empty', 'text', 'html', 'problem'] as const).map(
    (limitBody) => [{ limitBody, limits: '4/min' }] as const,
  ),
  [{ retryAfter: 'http-date', limits: '4/min' }],
  [{ rateLimitHeaders: 'draft', limits: '4/min' }],
  [{ anyKey: true }, 'my-own'],
  [{ generate: ['pets=0'] }],
  [{ generate: ['pets=1'] }],
  [{ generate: ['pets=5000'] }],
  [{ strict: true }, 'sandbox-pro~checkout'],
]

it.each(MODES.map(([options, apiKey = 'sandbox']) => ({ options, apiKey })))(
  'verify raises no alarm at a faithful sandbox %j',
  async ({ options, apiKey }) => {
    const { drifts } = await verified(undefined, { apiKey, writes: true }, { plan: 'free', ...options })
    // With anyKey, a wrong key is accepted.
    expect(drifts.filter((line) => !options.anyKey || !line.includes('401 with a wrong key'))).toEqual([])
  },
)
