import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Check } from '../../src/client/verify/check.js'
import { rateLimitBreaches, readDeprecation } from '../../src/client/verify/header-checks.js'
import { openService } from '../../src/client/verify/service.js'
import { type VerifyOptions, verify } from '../../src/client/verify/verify.js'
import type { ContractEngine } from '../../src/contract/engine.js'
import { loadContract } from '../../src/contract/load-contract.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { openPrism } from '../../src/contract/prism.js'
import type { SandboxOptions } from '../../src/index.js'
import { type Came, type Drift, driftingService, type Goes } from './drifting-service.js'

let engine: ContractEngine
beforeAll(async () => {
  engine = await openPrism(packagedContract())
})

async function verified(drift?: Drift, given: Partial<VerifyOptions> = {}, sandbox: SandboxOptions = {}) {
  const { baseUrl, came } = await driftingService(drift, sandbox)
  const service = await openService(baseUrl, {}, { timeout: 30_000, maxBody: 2 ** 24 })
  onTestFinished(() => service.close())
  const waits: number[] = []
  const { checks, notes } = await verify({
    contract: packagedContract(),
    engine,
    service,
    apiKey: 'sandbox',
    writes: false,
    wait: async (milliseconds) => {
      waits.push(milliseconds)
    },
    ...given,
  })
  return { checks, notes, came, waits, drifts: ofOutcome(checks, 'drift'), skipped: ofOutcome(checks, 'skipped') }
}

/** `listPets, two-newest: what is wrong` */
function ofOutcome(checks: readonly Check[], outcome: Check['outcome']): readonly string[] {
  return checks
    .filter((check) => check.outcome === outcome)
    .map(({ operation, name, details }) => `${operation}, ${name}: ${details.join('; ')}`)
}

const isList = ({ method, url }: Came) => method === 'GET' && url.startsWith('/v1/pets?')
const isGet = ({ url }: Came) => /^\/v1\/pets\/\d+$/.test(url)
const hasKey = ({ key }: Came) => key === 'sandbox'

/** Changes the answers of the first kind of request, and the JSON in them. */
function changed(where: (came: Came) => boolean, change: (goes: Goes) => void): Drift {
  return (came, goes) => {
    if (where(came)) change(goes)
    return goes
  }
}

function changedBody(where: (came: Came) => boolean, change: (body: never) => unknown): Drift {
  return changed(where, (goes) => {
    goes.body = JSON.stringify(change(JSON.parse(goes.body) as never))
  })
}

describe('an instance that keeps the contract', () => {
  it('has nothing to be told, and is not written to', async () => {
    const { drifts, skipped, checks, came, notes } = await verified()
    expect({ drifts, skipped, notes }).toEqual({
      drifts: [],
      skipped: ['createPet, every check: it writes, and --writes was not given'],
      notes: [],
    })
    expect(new Set(checks.map(({ operation }) => operation))).toEqual(
      new Set(packagedContract().operations.map(({ id }) => id)),
    )
    expect(came.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('is asked for an animal that it lists', async () => {
    const { came } = await verified()
    expect(came.filter(isGet).map(({ url }) => url)).toEqual(Array(3).fill('/v1/pets/59'))
  })

  it('is asked with every named example, and with what belongs together in one', async () => {
    const { came } = await verified()
    expect(came.filter((one) => isList(one) && hasKey(one)).map(({ url }) => url)).toEqual([
      '/v1/pets?limit=2',
      '/v1/pets?limit=1&status=sold',
    ])
  })

  it('is written to where that was asked for, and what stays behind is told', async () => {
    const { drifts, skipped, notes } = await verified(undefined, { writes: true })
    expect({ drifts, skipped }).toEqual({ drifts: [], skipped: [] })
    expect(notes).toEqual([expect.stringMatching(/^createPet has written, with the id \d+; it is still there\.$/)])
  })
})

describe('a drift is named:', () => {
  it('a status that is not documented', async () => {
    const { drifts } = await verified(
      changed(
        (came) => isList(came) && hasKey(came),
        (goes) => {
          goes.status = 500
          goes.body = '{"code":"x","message":"x","status":500}'
        },
      ),
    )
    expect(drifts).toEqual([
      expect.stringMatching(/^listPets, two-newest: it is answered 500, not 200; the status 500 is not documented/),
      expect.stringMatching(/^listPets, one-sold: it is answered 500, not 200; the status 500 is not documented/),
    ])
  })

  it('a success of another number', async () => {
    const drift = changed(
      ({ method, key }) => method === 'POST' && key === 'sandbox',
      (goes) => {
        goes.status = 200
      },
    )
    const { drifts } = await verified(drift, { writes: true })
    expect(drifts).toEqual([expect.stringMatching(/^createPet, the example: the status 200 is not documented/)])
  })

  it('a redirect, which is not followed', async () => {
    const drift = changed(
      (came) => came.url === '/v1/store/orders' && hasKey(came),
      (goes) => {
        goes.status = 302
        goes.headers.location = '/v1/pets'
        goes.body = ''
      },
    )
    const { drifts, came } = await verified(drift)
    expect(drifts).toEqual([expect.stringMatching(/^listOrders, the request: it is answered 302, not 200/)])
    expect(came.map(({ url }) => url)).not.toContain('/v1/pets')
  })

  it('an animal that is listed, but not there', async () => {
    const drift = changed(
      (came) => isGet(came) && hasKey(came),
      (goes) => {
        goes.status = 404
        goes.body = '{"code":"not_found","message":"x","status":404}'
      },
    )
    expect((await verified(drift)).drifts).toEqual(['getPet, first: it is answered 404, not 200'])
  })

  it('a field of another type', async () => {
    const drift = changedBody(
      (came) => isGet(came) && hasKey(came),
      (pet: object) => ({ ...pet, id: '59' }),
    )
    expect((await verified(drift)).drifts).toEqual([expect.stringMatching(/^getPet, first: .*id.*integer/)])
  })

  it('a field that is missing', async () => {
    const drift = changedBody(
      (came) => isGet(came) && hasKey(came),
      () => ({ id: 59, name: 'Rex' }),
    )
    expect((await verified(drift)).drifts).toEqual([expect.stringMatching(/^getPet, first: .*categoryId/i)])
  })

  it('a value that the contract does not know', async () => {
    const drift = changedBody(
      (came) => isGet(came) && hasKey(came),
      (pet: object) => ({ ...pet, status: 'lost' }),
    )
    expect((await verified(drift)).drifts).toEqual([expect.stringMatching(/^getPet, first: .*status/)])
  })

  it('an envelope round a list', async () => {
    const drift = changedBody(
      (came) => isList(came) && hasKey(came),
      (pets) => ({ items: pets }),
    )
    expect((await verified(drift)).drifts).toEqual([
      expect.stringMatching(/^listPets, two-newest: .*array/),
      expect.stringMatching(/^listPets, one-sold: .*array/),
    ])
  })

  it('a body that is not JSON', async () => {
    const drift = changed(
      (came) => isGet(came) && hasKey(came),
      (goes) => {
        goes.body = '{"id":'
      },
    )
    expect((await verified(drift)).drifts).toEqual([
      expect.stringMatching(/^getPet, first: the body is not valid JSON/),
    ])
  })

  it('a body of another media type', async () => {
    const drift = changed(
      (came) => isGet(came) && hasKey(came),
      (goes) => {
        goes.headers['content-type'] = 'text/html'
        goes.body = '<p>Rex</p>'
      },
    )
    expect((await verified(drift)).drifts).toEqual([expect.stringMatching(/^getPet, first: .*text\/html/)])
  })

  it('no body at all', async () => {
    const drift = changed(
      (came) => isGet(came) && hasKey(came),
      (goes) => {
        goes.body = ''
      },
    )
    expect((await verified(drift)).drifts).toEqual([expect.stringMatching(/^getPet, first: .+/)])
  })

  it.each([
    ['without a key', undefined],
    ['with a wrong key', 'no-such-key-sent-by-petstore-sandbox-verify'],
  ])('no 401 %s', async (name, key) => {
    const drift = changed(
      (came) => came.url === '/v1/store/orders' && came.key === key,
      (goes) => {
        goes.status = 200
        goes.body = '[]'
      },
    )
    expect((await verified(drift)).drifts).toEqual([`listOrders, 401 ${name}: it is answered 200`])
  })

  it('a 401 that has not the Error shape', async () => {
    const drift = changedBody(
      (came) => isGet(came) && came.key === undefined,
      () => ({ error: 'no key' }),
    )
    expect((await verified(drift)).drifts).toEqual([expect.stringMatching(/^getPet, 401 without a key: .*code/)])
  })

  it('an Error whose status is another one', async () => {
    const drift = changedBody(
      (came) => isGet(came) && came.key === undefined,
      (body: object) => ({ ...body, status: 403 }),
    )
    expect((await verified(drift)).drifts).toEqual([
      "getPet, 401 without a key: the body's status is 403, that of the answer 401",
    ])
  })

  it.each(['limit', 'remaining', 'reset'])('no X-RateLimit-%s', async (which) => {
    const drift = changed(
      (came) => isGet(came) && hasKey(came),
      (goes) => {
        delete goes.headers[`x-ratelimit-${which}`]
      },
    )
    expect((await verified(drift)).drifts).toEqual([
      expect.stringMatching(new RegExp(`^getPet, rate-limit headers of first: X-RateLimit-${which} is missing$`, 'i')),
    ])
  })

  it('rate-limit headers on some answers only', async () => {
    const drift = changed(
      (came) => isGet(came) && came.key === undefined,
      (goes) => {
        for (const name of ['limit', 'remaining', 'reset']) delete goes.headers[`x-ratelimit-${name}`]
      },
    )
    expect((await verified(drift)).drifts).toEqual([
      'getPet, rate-limit headers of its 401 without a key: X-RateLimit-Limit is missing; X-RateLimit-Remaining is missing; X-RateLimit-Reset is missing',
    ])
  })

  it('another date of removal', async () => {
    const drift = changed(
      (came) => isGet(came) && hasKey(came),
      (goes) => {
        goes.headers.sunset = 'Fri, 06 Dec 2030 00:00:00 GMT'
      },
    )
    expect((await verified(drift)).drifts).toEqual([
      'getPet, deprecation headers of first: Sunset is Fri, 06 Dec 2030 00:00:00 GMT, but the contract says Thu, 05 Dec 2030 00:00:00 GMT',
    ])
  })

  it('a deprecation that the contract does not know', async () => {
    const drift = changed(
      (came) => came.url === '/v1/store/orders' && hasKey(came),
      (goes) => {
        goes.headers.deprecation = '@1764892800'
      },
    )
    expect((await verified(drift)).drifts).toEqual([
      'listOrders, deprecation headers of the request: Deprecation is sent, but the contract does not deprecate the operation',
    ])
  })

  it('a limit and a filter that are not kept', async () => {
    const pets = ['sold', 'available', 'sold'].map((status, index) => ({
      id: index + 1,
      name: 'Rex',
      categoryId: 1,
      status,
    }))
    const drift = changedBody(
      (came) => isList(came) && hasKey(came),
      () => pets,
    )
    expect((await verified(drift)).drifts).toEqual([
      'listPets, two-newest: 3 are listed, although limit is 2',
      'listPets, one-sold: 3 are listed, although limit is 1; status is "available", although sold was asked for',
    ])
  })

  it('a 429 without Retry-After, after which it does not wait', async () => {
    const drift = changed(hasKey, (goes) => {
      goes.status = 429
      goes.body = ''
    })
    const { drifts, skipped, waits } = await verified(drift)
    expect(drifts[0]).toMatch(/^listPets, 429: .*retry-after/i)
    expect(skipped[0]).toBe('listPets, two-newest: the rate limit is used up (429), it does not say until when')
    expect(waits).toEqual([])
  })

  it('a key that is refused, with what may be the reason', async () => {
    const { drifts } = await verified(undefined, { apiKey: 'sandbox-revoked' })
    expect(drifts).toContain('listPets, two-newest: it is answered 401, not 200 (is the API key one of this instance?)')
  })

  it('without showing a key that is echoed', async () => {
    const drift = changed(isGet, (goes) => {
      goes.headers.deprecation = 'top-secret'
    })
    const { drifts } = await verified(drift, { apiKey: 'top-secret' }, { apiKey: ['top-secret'] })
    expect(drifts).toEqual([
      'getPet, deprecation headers of first: Deprecation is "***", not a date such as @1764892800',
    ])
  })
})

describe('what cannot be checked is said:', () => {
  it('anything behind a key, where none is known', async () => {
    const { drifts, skipped, checks } = await verified(undefined, { apiKey: undefined })
    expect(drifts).toEqual([])
    expect(skipped).toContain('listPets, two-newest: no API key was given')
    expect(checks.filter(({ outcome }) => outcome === 'kept').map(({ name }) => name)).toContain('401 without a key')
  })

  it('what another contract says less about', async () => {
    const spec = fileURLToPath(new URL('../contract/specs/fuller.yaml', import.meta.url))
    const contract = await loadContract(spec)
    const fuller = { contract, engine: await openPrism(contract), writes: true }
    const { drifts, skipped, came } = await verified(undefined, fuller, { spec })
    expect(drifts).toEqual([])
    expect(skipped).toContain('listCategories, 401: the contract documents no 401 for it')
    expect(skipped).toContain(
      'deletePet, every check: it writes, and only operations that add an example of the contract are ever called',
    )
    expect(came.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('an animal, where none is known', async () => {
    const { drifts, skipped, came } = await verified(undefined, {}, { pets: 0 })
    expect(drifts).toEqual([])
    expect(skipped).toContain(
      'getPet, first: nothing is known to ask for: no list was answered that holds an id, and the one of the example is not there',
    )
    expect(came.filter(isGet).map(({ url }) => url)).toContain('/v1/pets/1')
  })

  it('an operation that has been removed', async () => {
    const { drifts, skipped } = await verified(undefined, {}, { now: '2030-12-06T00:00:00Z' })
    expect(drifts).toEqual([])
    expect(skipped).toContain('getPet, first: the operation has been removed')
  })

  it('deprecation headers that are not sent: nobody documents them', async () => {
    const drift = changed(isGet, (goes) => {
      delete goes.headers.deprecation
      delete goes.headers.sunset
    })
    const { drifts, skipped } = await verified(drift)
    expect(drifts).toEqual([])
    expect(skipped).toContain(
      'getPet, deprecation headers of first: neither Deprecation nor Sunset is sent; they are not documented, so they need not be',
    )
  })

  it('what a long Retry-After stands before', async () => {
    const { drifts, skipped, waits } = await verified(undefined, { apiKey: 'sandbox-banned' })
    expect(drifts).toEqual([])
    expect(skipped).toContain('listPets, two-newest: the rate limit is used up (429), for another 300 s')
    expect(waits).toEqual([])
  })

  it('what is still refused after it has waited once', async () => {
    const { drifts, skipped, waits } = await verified(undefined, {}, { storm: '1,retry-after=2s' })
    expect(drifts).toEqual([])
    expect(skipped).toContain('listPets, two-newest: the rate limit is used up (429), for another 2 s')
    expect(new Set(waits)).toEqual(new Set([2000]))
  })

  it('what is cut off on the way', async () => {
    const { checks, drifts } = await verified((came) => (isGet(came) && hasKey(came) ? 'drop' : undefined))
    expect(drifts).toEqual([])
    expect(ofOutcome(checks, 'unanswered')).toEqual([
      expect.stringMatching(/^getPet, first: No answer from http:\/\/127\.0\.0\.1:\d+: .* \(UND_ERR_SOCKET\)$/),
    ])
  })
})

describe('a 429 that says to come back soon', () => {
  it('is waited for once, and what follows is checked', async () => {
    let refused = 0
    const drift = changed(hasKey, (goes) => {
      if (refused++ > 0) return
      goes.status = 429
      goes.headers['retry-after'] = '7'
      goes.body = ''
    })
    const said: string[] = []
    const { drifts, checks, waits } = await verified(drift, {
      onWait: (seconds, request) => said.push(`${seconds} s before ${request}`),
    })
    expect({ drifts, waits, said }).toEqual({ drifts: [], waits: [7000], said: ['7 s before GET /pets?limit=2'] })
    expect(checks).toContainEqual({
      operation: 'listPets',
      name: 'two-newest',
      request: 'GET /pets?limit=2',
      outcome: 'kept',
      details: [],
    })
  })
})

describe('rate-limit headers', () => {
  const NOW = 'Sun, 01 Mar 2026 10:00:00 GMT'
  const seconds = Date.parse(NOW) / 1000
  const headers = (given: Readonly<Record<string, string>>) => ({
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(seconds),
    date: NOW,
    ...given,
  })

  it.each([
    [{}],
    [{ 'x-ratelimit-remaining': '60' }],
    [{ 'x-ratelimit-reset': String(seconds + 86_400) }],
    [{ 'x-ratelimit-reset': String(seconds - 59) }],
    [{ date: '', 'x-ratelimit-reset': '1772359260' }],
  ])('make sense: %j', (given) => expect(rateLimitBreaches(headers(given))).toEqual([]))

  it.each([
    [{ 'x-ratelimit-limit': 'many' }, 'X-RateLimit-Limit is "many", not a whole number'],
    [{ 'x-ratelimit-limit': '-1' }, 'X-RateLimit-Limit is "-1", not a whole number'],
    [{ 'x-ratelimit-remaining': '1.5' }, 'X-RateLimit-Remaining is "1.5", not a whole number'],
    [{ 'x-ratelimit-remaining': '61' }, 'X-RateLimit-Remaining is 61, more than the limit of 60'],
    [{ 'x-ratelimit-reset': '60' }, 'X-RateLimit-Reset is 60, not a Unix timestamp in seconds within the next day'],
    [
      { 'x-ratelimit-reset': `${seconds}000` },
      `X-RateLimit-Reset is ${seconds}000, not a Unix timestamp in seconds within the next day`,
    ],
    [
      { 'x-ratelimit-reset': `${seconds}000`, date: '' },
      `X-RateLimit-Reset is ${seconds}000, not a Unix timestamp in seconds within the next day`,
    ],
  ])('make none: %j', (given, breach) => expect(rateLimitBreaches(headers(given))).toEqual([breach]))
})

describe('deprecation headers', () => {
  const sunsetAt = Date.parse('2030-12-05T00:00:00Z')

  it.each([
    [{ deprecated: true, sunsetAt }, { deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' }, 'kept'],
    [{ deprecated: true, sunsetAt }, { sunset: 'Thu, 05 Dec 2030 23:59:59 GMT' }, 'kept'],
    [{ deprecated: true, sunsetAt }, {}, 'unsaid'],
    [{ deprecated: false }, {}, 'kept'],
    [{ deprecated: true, sunsetAt }, { deprecation: 'true' }, 'drift'],
    [{ deprecated: true, sunsetAt }, { sunset: '2030-12-05' }, 'drift'],
    [{ deprecated: false }, { sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' }, 'drift'],
  ] as const)('%j with %j: %s', (operation, headers, kind) =>
    expect(readDeprecation(operation, headers).kind).toBe(kind),
  )
})
