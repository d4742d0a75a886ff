import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import { openService } from '../../src/client/exchange.js'
import { verify } from '../../src/client/verify/verify.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { type ResponseRules, readResponseRules } from '../../src/contract/response-rules.js'
import type { SandboxOptions } from '../../src/index.js'
import { testIo } from '../cli/test-io.js'
import { type Came, type Drift, driftingService, type Goes } from './drifting-service.js'

let rules: ResponseRules
beforeAll(async () => {
  rules = await readResponseRules(packagedContract(), 'native')
})

interface Given {
  readonly apiKey?: string
  readonly writes?: boolean
  readonly sandbox?: SandboxOptions
}

/** Waits pass on the instance's clock. @returns `listPets, two-newest: the problem` */
async function drifts(drift: Drift | undefined, given: Given = {}): Promise<readonly string[]> {
  const { apiKey = 'sandbox', writes = true, sandbox: options = {} } = given
  const { baseUrl, sandbox } = await driftingService(drift, options)
  const service = await openService(baseUrl, {}, { timeout: 30_000, maxBody: 2 ** 24 })
  onTestFinished(() => service.close())
  const { checks } = await verify({
    contract: packagedContract(),
    rules,
    service,
    basePath: '/v1',
    apiKey,
    writes,
    wait: async (milliseconds) => void (await sandbox.clock.advance(`${Math.ceil(milliseconds)}ms`)),
  })
  return checks.flatMap(({ operation, name, outcome, details }) =>
    outcome === 'drift' ? [`${operation}, ${name}: ${details.join('; ')}`] : [],
  )
}

type Where = (came: Came) => boolean

const keyed: Where = ({ key }) => key?.startsWith('sandbox') === true
const without: Where = ({ key }) => key === undefined
const and =
  (...all: readonly Where[]): Where =>
  (came) =>
    all.every((one) => one(came))
const list: Where = ({ method, url }) => method === 'GET' && /^\/v1\/pets(?:\?|$)/.test(url)
const item: Where = ({ url }) => /^\/v1\/pets\/\d+$/.test(url)
const create: Where = ({ method }) => method === 'POST'
const orders: Where = ({ url }) => url === '/v1/store/orders'
const asks =
  (query: string): Where =>
  (came) =>
    list(came) && came.url.includes(query)
const everywhere: Where = () => true
const keyedItem = and(item, keyed)
const keyedList = and(list, keyed)
const keyedCreate = and(create, keyed)
const keyedOrders = and(orders, keyed)
const keylessItem = and(item, without)

function change(where: Where, act: (goes: Goes, came: Came) => void): Drift {
  return (came, goes) => {
    if (where(came)) act(goes, came)
    return goes
  }
}

const status = (where: Where, code: number) =>
  change(where, (goes) => {
    goes.status = code
  })
const header = (where: Where, name: string, value: string | undefined) =>
  change(where, (goes) => {
    if (value === undefined) delete goes.headers[name]
    else goes.headers[name] = value
  })
const text = (where: Where, body: (before: string) => string) =>
  change(where, (goes) => {
    goes.body = body(String(goes.body))
  })
/** Changes the JSON of successes, which loses digits: only where nobody looks at them. */
const json = (where: Where, act: (body: never, came: Came) => unknown) =>
  change(where, (goes, came) => {
    if (goes.status < 300) goes.body = JSON.stringify(act(JSON.parse(String(goes.body)) as never, came))
  })
const error = (where: Where, act: (body: object) => unknown) =>
  change(where, (goes) => {
    if (goes.status >= 400) goes.body = JSON.stringify(act(JSON.parse(String(goes.body))))
  })
const ofStatus =
  (code: number, drift: Drift): Drift =>
  (came, goes) =>
    goes.status === code ? drift(came, goes) : goes

/** createPet accepts invalid bodies. */
const taken = (which: (sent: string) => boolean) =>
  ofStatus(
    400,
    change(
      and(create, ({ body }) => which(body)),
      (goes) => {
        goes.status = 201
        goes.body = '{"id":99,"name":"Rex","categoryId":1}'
      },
    ),
  )
/** createPet refuses valid bodies. */
const refused = (which: (sent: string) => boolean) =>
  ofStatus(
    201,
    change(
      and(create, ({ body }) => which(body)),
      (goes) => {
        goes.status = 400
        goes.body = '{"code":"invalid_request","message":"no","status":400}'
      },
    ),
  )

interface Pet {
  readonly id: number
  readonly name: string
  readonly status?: string
}
const pets = (count: number) => Array.from({ length: count }, (_, id) => ({ id: id + 1, name: 'Rex', categoryId: 1 }))

const LIMITED = { apiKey: 'sandbox-limited' }

type Planted = readonly [
  drift: Drift,
  detail: RegExp,
  more?: { readonly given?: Given; readonly call?: readonly string[] },
]

/** Drifts by the check that finds them (empty: any), and for some a call that finds them with --check. */
const PLANTED: Readonly<Record<string, Readonly<Record<string, Planted>>>> = {
  'listPets, no parameters': {
    'a 500': [status(keyedList, 500), /the status 500 is not documented/],
    'a key that is refused': [
      () => undefined,
      /the status is 401, not 200 \(is the API key one of this instance\?\)/,
      { given: { apiKey: 'sandbox-revoked' } },
    ],
    'an envelope round a list': [json(keyedList, (items) => ({ items })), /the body must be array/],
    'a name that an item has twice': [
      text(keyedList, (body) => body.replace('"name":', '"name":"","name":')),
      /an object has the name "name" twice/,
    ],
    'a default page of 30': [
      json(
        and(list, keyed, ({ url }) => url === '/v1/pets'),
        () => pets(30),
      ),
      /30 items are listed, although limit defaults to 20/,
    ],
    'an animal that is listed twice': [
      json(
        and(list, keyed, ({ url }) => url === '/v1/pets'),
        ([first]: never[]) => [first, first],
      ),
      /the id 59 is listed twice/,
    ],
  },
  'createPet, the example': {
    'a success of another number': [
      ofStatus(201, status(create, 200)),
      /the status 200 is not documented/,
      { call: ['createPet', '--name', 'Rex', '--category-id', '1'] },
    ],
    'a createPet that renames': [
      json(keyedCreate, (pet: Pet) => ({ ...pet, name: pet.name.toUpperCase() })),
      /name is "REX", although "Rex" was sent/,
    ],
    'a createPet that drops the status': [
      json(keyedCreate, ({ status: _, ...pet }: Pet) => pet),
      /status was sent, but is not in the response/,
    ],
    'a createPet that sets another status': [
      json(keyedCreate, (pet: Pet) => ({ ...pet, status: 'pending' })),
      /status is "pending", although "(?:available|sold)" was sent/,
    ],
    'a createPet of an id that was there': [
      json(keyedCreate, (pet: Pet) => ({ ...pet, id: 59 })),
      /the id 59 was there already/,
    ],
  },
  'getPet, first': {
    'an animal that is listed, but not there': [
      change(keyedItem, (goes) => {
        goes.status = 404
        goes.body = '{"code":"not_found","message":"x","status":404}'
      }),
      /the status is 404, not 200/,
    ],
    'a field of another type': [
      json(keyedItem, (pet: Pet) => ({ ...pet, id: '59' })),
      /id must be a whole number/,
      { call: ['getPet', '59'] },
    ],
    'a body that is not JSON': [text(keyedItem, () => '{"id":'), /the body is not valid JSON/],
    'a body that is not UTF-8': [
      change(keyedItem, (goes) => {
        goes.body = Buffer.from(String(goes.body).replace('Sir Purrcival', 'Sir \xe9'), 'latin1')
      }),
      /the body is not valid UTF-8/,
      { call: ['getPet', '59'] },
    ],
    'a byte order mark': [text(keyedItem, (body) => `\ufeff${body}`), /the body is not valid JSON/],
    'a body of another media type': [
      header(keyedItem, 'content-type', 'text/html'),
      /the media type is "text\/html"/,
      { call: ['getPet', '59'] },
    ],
    'another animal than the one asked for': [
      json(keyedItem, (pet: Pet) => ({ ...pet, id: 58 })),
      /the id is 58, although the request is for 59/,
      { call: ['getPet', '59'] },
    ],
    'an animal of another name than listed': [
      json(keyedItem, (pet: Pet) => ({ ...pet, name: 'Rex' })),
      /name of 59 is "Rex", and was "Sir Purrcival" before/,
    ],
    'an animal of another status than listed': [
      json(keyedItem, (pet: Pet) => ({ ...pet, status: pet.status === 'sold' ? 'pending' : 'sold' })),
      /status of 59 is "(?:sold|pending)", but the list says/,
    ],
  },
  'createPet, no name': {
    'a 422 in place of the 400': [
      ofStatus(
        400,
        change(create, (goes) => {
          goes.status = 422
          goes.body = '{"code":"x","message":"x","status":422}'
        }),
      ),
      /the status 422 is not documented/,
    ],
    'a body that breaks the contract, and is taken': [
      ofStatus(
        400,
        change(create, (goes) => {
          goes.status = 201
          goes.body = '{"id":99,"name":"Rex","categoryId":1}'
        }),
      ),
      /the status is 201, although (?:name|categoryId) is required/,
      { call: ['createPet', '--name', 'Rex', '--no-validate'] },
    ],
  },
  'createPet, categoryId as a text': {
    'a categoryId that may be a text': [
      taken((sent) => sent.includes('"categoryId":"1"')),
      /the status is 201, (?:not 400|although)/,
    ],
  },
  'createPet, status sold': {
    'a status that is refused when an animal is added': [
      refused((sent) => sent.includes('"sold"')),
      /the status is 400, not 201/,
    ],
  },
  'createPet, required fields only': {
    'a status that is required': [refused((sent) => !sent.includes('"status"')), /the status is 400, not 201/],
  },
  'getPet, an unknown id': {
    'an unknown id that is 200': [
      ofStatus(
        404,
        change(item, (goes, { url }) => {
          goes.status = 200
          goes.body = `{"id":${url.split('/').at(-1)},"name":"Rex","categoryId":1}`
        }),
      ),
      /the status is 200, not 404/,
    ],
    'an Error of no code': [error(item, (body) => ({ ...body, code: '' })), /code is empty in the body/],
  },
  'listOrders, 401 without a key': {
    'no 401 without a key': [
      change(and(orders, without), (goes) => {
        goes.status = 200
        goes.body = '[]'
      }),
      /the status is 200/,
    ],
  },
  'listOrders, 401 with a wrong key': {
    'no 401 with a wrong key': [
      change(
        and(orders, ({ key }) => key?.startsWith('no-such') === true),
        (goes) => {
          goes.status = 200
          goes.body = '[]'
        },
      ),
      /the status is 200/,
    ],
  },
  'getPet, 401 without a key': {
    'a 403 in place of the 401': [ofStatus(401, status(item, 403)), /the status is 403/],
    'a 401 that has not the Error shape': [error(keylessItem, () => ({ error: 'no key' })), /code is required/],
    'an Error whose status is another one': [
      error(item, (body) => ({ ...body, status: 403 })),
      /status is 403 in the body, but the response has 40[14]/,
      { call: ['getPet', '8'.repeat(18)] },
    ],
  },
  'listPets, 401 without a key': {
    'a 401 that asks for another scheme': [
      ofStatus(401, header(everywhere, 'www-authenticate', 'Basic realm="petstore"')),
      /WWW-Authenticate asks for .*, not for Bearer/,
    ],
  },
  'listPets, two-newest': {
    'a limit that is not kept': [
      json(and(asks('limit=2'), keyed), () => pets(3)),
      /3 items are listed, although limit is 2/,
      { call: ['listPets', '--limit', '2'] },
    ],
  },
  'listPets, status pending': {
    'a filter that is ignored': [
      json(and(asks('status=pending'), keyed), () => pets(1).map((pet) => ({ ...pet, status: 'sold' }))),
      /status is "sold", although the request is for pending/,
    ],
    'a filter that lets through what has no status': [
      json(and(asks('status=pending'), keyed), () => pets(1)),
      /1 items are listed without status, although the request is for pending/,
    ],
  },
  'listPets, status available': {
    'a filter that finds nothing': [json(and(asks('status=available'), keyed), () => []), /the list is empty, but/],
  },
  'listPets, created items are listed': {
    'an animal that was added and is in no list': [
      text(keyedList, (body) => body.replace(/\{[^{}]*"name":"Rex"[^{}]*\},?/g, '').replace(/,\]$/, ']')),
      /^listPets, .*: \d+ was created, but is not listed/,
    ],
  },
  'getPet, an id beyond 2^53': {
    'digits of an id that are lost': [
      json(keyedItem, (pet: Pet) => pet),
      /the id is 9007199254740992, although the request is for 9007199254740993/,
    ],
    'digits of ids that a list loses': [json(keyedList, (all) => all), /the status is 404, not 200/],
  },
  'createPet, a number beyond 2^53': {
    'digits that createPet loses': [
      json(keyedCreate, (pet: Pet) => pet),
      /categoryId is 9007199254740992, although 9007199254740993 was sent/,
      { call: ['createPet', '--name', 'Rex', '--category-id', '9007199254740993'] },
    ],
  },
  'getPet, rate-limit headers of first': {
    'no X-RateLimit-Limit': [header(item, 'x-ratelimit-limit', undefined), /X-RateLimit-Limit is missing/],
    'no X-RateLimit-Remaining': [header(item, 'x-ratelimit-remaining', undefined), /X-RateLimit-Remaining is missing/],
    'no X-RateLimit-Reset': [header(item, 'x-ratelimit-reset', undefined), /X-RateLimit-Reset is missing/],
  },
  'getPet, rate-limit headers of 401 without a key': {
    'no rate-limit headers on a 401': [
      header(keylessItem, 'x-ratelimit-limit', undefined),
      /X-RateLimit-Limit is missing/,
    ],
  },
  'listPets, requests are counted': {
    'a Remaining that never falls': [
      header(everywhere, 'x-ratelimit-remaining', '42'),
      /X-RateLimit-Remaining is 42 after 42, in the same window/,
    ],
    'a Remaining that is always the whole limit': [
      header(and(keyed), 'x-ratelimit-remaining', '1000'),
      /X-RateLimit-Remaining is 1000 after 1000/,
    ],
    'a Remaining that rises': [
      (() => {
        let remaining = 5
        return change(keyed, ({ headers }) => {
          headers['x-ratelimit-remaining'] = String(remaining++)
        })
      })(),
      /X-RateLimit-Remaining is 6 after 5/,
    ],
  },
  '': {
    'no Retry-After': [
      ofStatus(429, header(everywhere, 'retry-after', undefined)),
      /Retry-After is missing/,
      { given: LIMITED },
    ],
  },
  'listPets, 429': {
    'a 429 with Remaining above 0': [
      ofStatus(429, header(everywhere, 'x-ratelimit-remaining', '5')),
      /it is a 429, although X-RateLimit-Remaining is 5/,
      { given: LIMITED, call: ['listPets', '--retry', '0'] },
    ],
  },
  'getPet, deprecation headers of first': {
    'another date of removal': [
      header(keyedItem, 'sunset', 'Fri, 06 Dec 2030 00:00:00 GMT'),
      /Sunset is Fri, 06 Dec 2030 00:00:00 GMT, but the contract says Thu, 05 Dec 2030/,
      { call: ['getPet', '59'] },
    ],
    'a wrong Link': [
      header(item, 'link', '</v1/animals>; rel="successor-version"'),
      /Link names "\/v1\/animals" as its successor, but the contract says \/v1\/pets\?status=available/,
    ],
  },
  'listOrders, deprecation headers of the request': {
    'a deprecation that the contract does not know': [
      header(keyedOrders, 'deprecation', '@1764892800'),
      /Deprecation is sent, but the contract does not deprecate/,
    ],
  },
}

const CASES = Object.entries(PLANTED).flatMap(([check, drifts]) =>
  Object.entries(drifts).map(([what, [drift, detail, more]]) => ({ what, check, drift, detail, ...more })),
)

describe('verify reports a planted drift:', () => {
  it.each(CASES)('$what', async ({ drift, check, detail, given }) => {
    const named = (await drifts(drift, given)).filter((line) => line.startsWith(check) && detail.test(line))
    expect(named).not.toEqual([])
  })

  it('without showing a key that is echoed', async () => {
    const shown = await drifts(header(item, 'deprecation', 'top-secret'), {
      apiKey: 'top-secret',
      sandbox: { apiKey: ['top-secret'] },
    })
    expect(shown).toContain(
      'getPet, deprecation headers of first: Deprecation is "***", not a date such as @1764892800',
    )
    expect(shown.join()).not.toContain('top-secret')
  })
})

describe('call --check reports a planted drift:', () => {
  it.each(CASES.filter(({ call }) => call !== undefined))('$what', async ({ drift, detail, given, call = [] }) => {
    const { baseUrl } = await driftingService(drift, given?.sandbox)
    const io = testIo({ env: { PETSTORE_API_KEY: given?.apiKey ?? 'sandbox' } })
    const code = await runCli(['call', ...call, '--base-url', baseUrl, '--check'], io)
    expect({ code, err: io.stderr.text }).toEqual({ code: 6, err: expect.stringMatching(detail) })
  })
})

type Mode = readonly [mode: string, options: SandboxOptions, given?: Given]

const MODES: readonly Mode[] = [
  ['by itself', {}],
  ...(['free', 'pro', 'business', 'enterprise'] as const).map((plan) => [`on the plan ${plan}`, { plan }] as const),
  ...['sandbox-free', 'sandbox-pro', 'sandbox-business', 'sandbox-enterprise', 'sandbox-limited', 'sandbox-banned'].map(
    (apiKey) => [`with the key ${apiKey}`, {}, { apiKey }] as const,
  ),
  ['with limits of its own', { limits: '5000/min,200000/day' }],
  ['with small limits', { limits: '3/min' }],
  ['with equal limits', { limits: '40/min,40/day' }],
  ['with its day used up', { limits: '5/day' }],
  ['with limits turned off', { rateLimit: false }],
  ['with limits turned off and a frozen clock', { rateLimit: false, freeze: true }],
  ['frozen', { freeze: true }],
  ['in the future', { now: '2029-06-01T12:00:00.999Z' }],
  ['past the removal', { now: '2031-01-01T00:00:00Z' }],
  ...([404, 410] as const).flatMap((sunsetStatus) =>
    ([true, false] as const).flatMap((reason) =>
      (['after', 'before', 'brownout', 'auto'] as const).map(
        (sunset) =>
          [
            `sunset ${sunset}, ${sunsetStatus}, reason ${reason}`,
            { sunset, sunsetStatus, reason, now: '2026-03-01T10:00:01Z' },
          ] as const,
      ),
    ),
  ),
  ['in a storm', { storm: '1' }],
  ['in a storm of long waits', { storm: '1,retry-after=30s' }],
  ['in half a storm', { storm: '0.5' }],
  ['in a storm that does not say so', { storm: '0.5', reason: false }],
  ['without reasons', { reason: false }],
  ['with an operation that fails, as it says', { fault: ['getPet:503'] }],
  ['with every operation failing, as it says', { fault: ['*:500'] }],
  ['banned without reasons', { reason: false }, { apiKey: 'sandbox-banned' }],
  ...(['seconds', 'http-date'] as const).flatMap((retryAfter) =>
    (['error', 'empty', 'text', 'html', 'problem'] as const).map(
      (limitBody) =>
        [`refusing with ${retryAfter} and ${limitBody}`, { retryAfter, limitBody, limits: '4/min' }] as const,
    ),
  ),
  ['with the rate-limit headers of the draft', { rateLimitHeaders: 'draft', limits: '4/min' }],
  ['that accepts every key', { anyKey: true }, { apiKey: 'my-own' }],
  ['oldest first', { order: 'oldest' }],
  ['without pets', { pets: 0 }],
  ['with one pet', { pets: 1 }],
  ['with many pets', { pets: 5000 }],
  ['in a space', {}, { apiKey: 'sandbox-pro~checkout' }],
  ['held to its own contract', { strict: true }],
  ['without CORS', { cors: 'off' }],
]

describe('verify raises no alarm at a faithful sandbox', () => {
  it.each(MODES.map(([mode, options, given = {}]) => ({ mode, options, given })))(
    '$mode',
    async ({ options, given }) => {
      // With anyKey, a wrong key is accepted.
      const plain = (await drifts(undefined, { ...given, sandbox: { plan: 'free', ...options } })).filter(
        (line) => options.anyKey !== true || !line.includes('401 with a wrong key'),
      )
      expect(plain).toEqual([])
    },
  )
})
