import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import { openService } from '../../src/client/verify/service.js'
import { verify } from '../../src/client/verify/verify.js'
import { type AnswerRules, readAnswerRules } from '../../src/contract/answer-rules.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import type { SandboxOptions } from '../../src/index.js'
import { testIo } from '../cli/test-io.js'
import { type Came, type Drift, driftingService, type Goes } from './drifting-service.js'

let rules: AnswerRules
beforeAll(async () => {
  rules = await readAnswerRules(packagedContract(), 'native')
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

/** A drift, the check that finds it, and for some a call that finds it with --check: the rules are the same. */
interface Planted {
  readonly what: string
  readonly drift: Drift
  /** The check that finds it, if it is certain which. */
  readonly check?: string
  readonly detail: RegExp
  readonly given?: Given
  readonly call?: readonly string[]
}

const PLANTED: readonly Planted[] = [
  // Statuses.
  {
    what: 'a 500',
    drift: status(and(list, keyed), 500),
    check: 'listPets, no parameters',
    detail: /the status 500 is not documented/,
  },
  {
    what: 'a success of another number',
    drift: ofStatus(201, status(create, 200)),
    check: 'createPet, the example',
    detail: /the status 200 is not documented/,
    call: ['createPet', '--name', 'Rex', '--category-id', '1'],
  },
  {
    what: 'an animal that is listed, but not there',
    drift: change(and(item, keyed), (goes) => {
      goes.status = 404
      goes.body = '{"code":"not_found","message":"x","status":404}'
    }),
    check: 'getPet, first',
    detail: /the status is 404, not 200/,
  },
  {
    what: 'a 422 in place of the 400',
    drift: ofStatus(
      400,
      change(create, (goes) => {
        goes.status = 422
        goes.body = '{"code":"x","message":"x","status":422}'
      }),
    ),
    check: 'createPet, no name',
    detail: /the status 422 is not documented/,
  },
  {
    what: 'a body that breaks the contract, and is taken',
    drift: ofStatus(
      400,
      change(create, (goes) => {
        goes.status = 201
        goes.body = '{"id":99,"name":"Rex","categoryId":1}'
      }),
    ),
    check: 'createPet, no name',
    detail: /the status is 201, although (?:name|categoryId) is required/,
    call: ['createPet', '--name', 'Rex', '--no-validate'],
  },
  {
    what: 'a categoryId that may be a text',
    drift: taken((sent) => sent.includes('"categoryId":"1"')),
    check: 'createPet, categoryId as a text',
    detail: /the status is 201, (?:not 400|although)/,
  },
  {
    what: 'a status that is refused when an animal is added',
    drift: refused((sent) => sent.includes('"sold"')),
    check: 'createPet, status sold',
    detail: /the status is 400, not 201/,
  },
  {
    what: 'a status that is required',
    drift: refused((sent) => !sent.includes('"status"')),
    check: 'createPet, required fields only',
    detail: /the status is 400, not 201/,
  },
  {
    what: 'an unknown id that is 200',
    drift: ofStatus(
      404,
      change(item, (goes, { url }) => {
        goes.status = 200
        goes.body = `{"id":${url.split('/').at(-1)},"name":"Rex","categoryId":1}`
      }),
    ),
    check: 'getPet, an unknown id',
    detail: /the status is 200, not 404/,
  },
  {
    what: 'no 401 without a key',
    drift: change(and(orders, without), (goes) => {
      goes.status = 200
      goes.body = '[]'
    }),
    check: 'listOrders, 401 without a key',
    detail: /the status is 200/,
  },
  {
    what: 'no 401 with a wrong key',
    drift: change(
      and(orders, ({ key }) => key?.startsWith('no-such') === true),
      (goes) => {
        goes.status = 200
        goes.body = '[]'
      },
    ),
    check: 'listOrders, 401 with a wrong key',
    detail: /the status is 200/,
  },
  {
    what: 'a 403 in place of the 401',
    drift: ofStatus(401, status(item, 403)),
    check: 'getPet, 401 without a key',
    detail: /the status is 403/,
  },
  {
    what: 'a key that is refused',
    drift: () => undefined,
    given: { apiKey: 'sandbox-revoked' },
    check: 'listPets, no parameters',
    detail: /the status is 401, not 200 \(is the API key one of this instance\?\)/,
  },
  // Media types and bodies.
  {
    what: 'a field of another type',
    drift: json(and(item, keyed), (pet: Pet) => ({ ...pet, id: '59' })),
    check: 'getPet, first',
    detail: /id must be a whole number/,
    call: ['getPet', '59'],
  },
  {
    what: 'an envelope round a list',
    drift: json(and(list, keyed), (items) => ({ items })),
    check: 'listPets, no parameters',
    detail: /the body must be array/,
  },
  {
    what: 'a body that is not JSON',
    drift: text(and(item, keyed), () => '{"id":'),
    check: 'getPet, first',
    detail: /the body is not valid JSON/,
  },
  {
    what: 'a body that is not UTF-8',
    drift: change(and(item, keyed), (goes) => {
      goes.body = Buffer.from(String(goes.body).replace('Sir Purrcival', 'Sir \xe9'), 'latin1')
    }),
    check: 'getPet, first',
    detail: /the body is not valid UTF-8/,
    call: ['getPet', '59'],
  },
  {
    what: 'a name that an item has twice',
    drift: text(and(list, keyed), (body) => body.replace('"name":', '"name":"","name":')),
    check: 'listPets, no parameters',
    detail: /an object has the name "name" twice/,
  },
  {
    what: 'a byte order mark',
    drift: text(and(item, keyed), (body) => `\ufeff${body}`),
    check: 'getPet, first',
    detail: /the body is not valid JSON/,
  },
  {
    what: 'a body of another media type',
    drift: header(and(item, keyed), 'content-type', 'text/html'),
    check: 'getPet, first',
    detail: /the media type is "text\/html", not application\/json/,
    call: ['getPet', '59'],
  },
  // Errors.
  {
    what: 'a 401 that has not the Error shape',
    drift: error(and(item, without), () => ({ error: 'no key' })),
    check: 'getPet, 401 without a key',
    detail: /code is required/,
  },
  {
    what: 'an Error whose status is another one',
    drift: error(item, (body) => ({ ...body, status: 403 })),
    check: 'getPet, 401 without a key',
    detail: /status is 403 in the body, but the response has 40[14]/,
    call: ['getPet', '8'.repeat(18)],
  },
  {
    what: 'an Error of no code',
    drift: error(item, (body) => ({ ...body, code: '' })),
    check: 'getPet, an unknown id',
    detail: /code is empty in the body/,
  },
  {
    what: 'a 401 that asks for another scheme',
    drift: ofStatus(401, header(everywhere, 'www-authenticate', 'Basic realm="petstore"')),
    check: 'listPets, 401 without a key',
    detail: /WWW-Authenticate asks for .*, not for Bearer/,
  },
  // Lists.
  {
    what: 'a limit that is not kept',
    drift: json(and(asks('limit=2'), keyed), () => pets(3)),
    check: 'listPets, two-newest',
    detail: /3 items are listed, although limit is 2/,
    call: ['listPets', '--limit', '2'],
  },
  {
    what: 'a default page of 30',
    drift: json(
      and(list, keyed, ({ url }) => url === '/v1/pets'),
      () => pets(30),
    ),
    check: 'listPets, no parameters',
    detail: /30 items are listed, although limit defaults to 20/,
  },
  {
    what: 'a filter that is ignored',
    drift: json(and(asks('status=pending'), keyed), () => pets(1).map((pet) => ({ ...pet, status: 'sold' }))),
    check: 'listPets, status pending',
    detail: /status is "sold", although the request is for pending/,
  },
  {
    what: 'a filter that lets through what has no status',
    drift: json(and(asks('status=pending'), keyed), () => pets(1)),
    check: 'listPets, status pending',
    detail: /1 items are listed without status, although the request is for pending/,
  },
  {
    what: 'a filter that finds nothing',
    drift: json(and(asks('status=available'), keyed), () => []),
    check: 'listPets, status available',
    detail: /the list is empty, but/,
  },
  {
    what: 'an animal that is listed twice',
    drift: json(
      and(list, keyed, ({ url }) => url === '/v1/pets'),
      ([first]: never[]) => [first, first],
    ),
    check: 'listPets, no parameters',
    detail: /the id 59 is listed twice/,
  },
  // Identity.
  {
    what: 'another animal than the one asked for',
    drift: json(and(item, keyed), (pet: Pet) => ({ ...pet, id: 58 })),
    check: 'getPet, first',
    detail: /the id is 58, although the request is for 59/,
    call: ['getPet', '59'],
  },
  {
    what: 'an animal of another name than listed',
    drift: json(and(item, keyed), (pet: Pet) => ({ ...pet, name: 'Rex' })),
    check: 'getPet, first',
    detail: /name of 59 is "Rex", and was "Sir Purrcival" before/,
  },
  {
    what: 'an animal of another status than listed',
    drift: json(and(item, keyed), (pet: Pet) => ({ ...pet, status: pet.status === 'sold' ? 'pending' : 'sold' })),
    check: 'getPet, first',
    detail: /status of 59 is "(?:sold|pending)", but the list says/,
  },
  {
    what: 'an animal that was added and is in no list',
    drift: text(and(list, keyed), (body) => body.replace(/\{[^{}]*"name":"Rex"[^{}]*\},?/g, '').replace(/,\]$/, ']')),
    check: 'listPets, created items are listed',
    detail: /^listPets, .*: \d+ was created, but is not listed/,
  },
  {
    what: 'digits of an id that are lost',
    drift: json(and(item, keyed), (pet: Pet) => pet),
    check: 'getPet, an id beyond 2^53',
    detail: /the id is 9007199254740992, although the request is for 9007199254740993/,
  },
  {
    what: 'digits of ids that a list loses',
    drift: json(and(list, keyed), (all) => all),
    check: 'getPet, an id beyond 2^53',
    detail: /the status is 404, not 200/,
  },
  {
    what: 'digits that createPet loses',
    drift: json(and(create, keyed), (pet: Pet) => pet),
    check: 'createPet, a number beyond 2^53',
    detail: /categoryId is 9007199254740992, although 9007199254740993 was sent/,
    call: ['createPet', '--name', 'Rex', '--category-id', '9007199254740993'],
  },
  {
    what: 'a createPet that renames',
    drift: json(and(create, keyed), (pet: Pet) => ({ ...pet, name: pet.name.toUpperCase() })),
    check: 'createPet, the example',
    detail: /name is "REX", although "Rex" was sent/,
  },
  {
    what: 'a createPet that drops the status',
    drift: json(and(create, keyed), ({ status: _, ...pet }: Pet) => pet),
    check: 'createPet, the example',
    detail: /status was sent, but is not in the response/,
  },
  {
    what: 'a createPet that sets another status',
    drift: json(and(create, keyed), (pet: Pet) => ({ ...pet, status: 'pending' })),
    check: 'createPet, the example',
    detail: /status is "pending", although "(?:available|sold)" was sent/,
  },
  {
    what: 'a createPet of an id that was there',
    drift: json(and(create, keyed), (pet: Pet) => ({ ...pet, id: 59 })),
    check: 'createPet, the example',
    detail: /the id 59 was there already/,
  },
  // Rate-limit headers.
  ...['Limit', 'Remaining', 'Reset'].map((which) => ({
    what: `no X-RateLimit-${which}`,
    drift: header(item, `x-ratelimit-${which.toLowerCase()}`, undefined),
    check: 'getPet, rate-limit headers of first',
    detail: new RegExp(`X-RateLimit-${which} is missing`),
  })),
  {
    what: 'no rate-limit headers on a 401',
    drift: header(and(item, without), 'x-ratelimit-limit', undefined),
    check: 'getPet, rate-limit headers of 401 without a key',
    detail: /X-RateLimit-Limit is missing/,
  },
  {
    what: 'a Remaining that never falls',
    drift: header(everywhere, 'x-ratelimit-remaining', '42'),
    check: 'listPets, requests are counted',
    detail: /X-RateLimit-Remaining is 42 after 42, in the same window/,
  },
  {
    what: 'a Remaining that is always the whole limit',
    drift: header(and(keyed), 'x-ratelimit-remaining', '1000'),
    check: 'listPets, requests are counted',
    detail: /X-RateLimit-Remaining is 1000 after 1000/,
  },
  {
    what: 'a Remaining that rises',
    drift: (() => {
      let remaining = 5
      return change(keyed, ({ headers }) => {
        headers['x-ratelimit-remaining'] = String(remaining++)
      })
    })(),
    check: 'listPets, requests are counted',
    detail: /X-RateLimit-Remaining is 6 after 5/,
  },
  // Refusals.
  {
    what: 'no Retry-After',
    drift: ofStatus(429, header(everywhere, 'retry-after', undefined)),
    given: LIMITED,
    detail: /Retry-After is missing/,
  },
  {
    what: 'a 429 with Remaining above 0',
    drift: ofStatus(429, header(everywhere, 'x-ratelimit-remaining', '5')),
    given: LIMITED,
    check: 'listPets, 429',
    detail: /it is a 429, although X-RateLimit-Remaining is 5/,
    call: ['listPets', '--retry', '0'],
  },
  // Deprecation.
  {
    what: 'another date of removal',
    drift: header(and(item, keyed), 'sunset', 'Fri, 06 Dec 2030 00:00:00 GMT'),
    check: 'getPet, deprecation headers of first',
    detail: /Sunset is Fri, 06 Dec 2030 00:00:00 GMT, but the contract says Thu, 05 Dec 2030/,
    call: ['getPet', '59'],
  },
  {
    what: 'a deprecation that the contract does not know',
    drift: header(and(orders, keyed), 'deprecation', '@1764892800'),
    check: 'listOrders, deprecation headers of the request',
    detail: /Deprecation is sent, but the contract does not deprecate/,
  },
  {
    what: 'a wrong Link',
    drift: header(item, 'link', '</v1/animals>; rel="successor-version"'),
    check: 'getPet, deprecation headers of first',
    detail: /Link names "\/v1\/animals" as its successor, but the contract says \/v1\/pets\?status=available/,
  },
]

describe('verify reports a planted drift:', () => {
  it.each(PLANTED)('$what', async ({ drift, check = '', detail, given }) => {
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
  it.each(PLANTED.filter(({ call }) => call !== undefined))('$what', async ({ drift, detail, given, call = [] }) => {
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
    (['error', 'empty', 'text', 'html'] as const).map(
      (limitBody) =>
        [`refusing with ${retryAfter} and ${limitBody}`, { retryAfter, limitBody, limits: '4/min' }] as const,
    ),
  ),
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
