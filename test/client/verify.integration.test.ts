import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { VerifyOptions } from '../../src/client/verify/verify.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import type { SandboxOptions } from '../../src/index.js'
import { loadContract } from '../../src/openapi/load-contract.js'
import { openapiFile } from '../../src/system/package-files.js'
import { crud, inPath, inQuery, integer, list, object, ok, readOnly, takes, text } from '../support/small-contract.js'
import { temporaryFile } from '../support/temporary-files.js'
import { type Came, change, checkText, type Drift, type Goes, verified } from './drifting-service.js'

const isList = ({ method, url }: Came) => method === 'GET' && /^\/v1\/pets(?:\?|$)/.test(url)
const isGet = ({ url }: Came) => /^\/v1\/pets\/\d+$/.test(url)
const hasKey = ({ key }: Came) => key === 'sandbox'

const LIMITED = 'listPets, two-newest: the rate limit is used up (429), for another'
const DEPRECATION = 'getPet, deprecation headers of first'

it('an instance that keeps the contract passes without findings and without writes', async () => {
  const { drifts, skipped, checks, came, notes } = await verified()
  expect([drifts, notes]).toEqual([[], []])
  expect(skipped).toEqual(['createPet, every check: it writes, and --writes was not given'])
  expect(new Set(checks.map(({ operation }) => operation))).toEqual(
    new Set(packagedContract().operations.map(({ id }) => id)),
  )
  expect(came.filter(({ method }) => method !== 'GET')).toEqual([])
  const asked = (where: (one: Came) => boolean) =>
    came.filter((one) => where(one) && hasKey(one)).map(({ url }) => url.replace('/v1/pets', ''))
  // Listed pets, one beyond 2^53, and an unknown one.
  expect(asked(isGet)).toEqual(['/59', '/9007199254740993', '/9223372036846583888'])
  // Without parameters, with every named example, and with the values that no example has.
  const queries = ['', '?limit=2', '?limit=1&status=sold', '?limit=100', '?status=available', '?status=pending']
  expect(asked(isList)).toEqual(queries)
})

it('a list below a record is called with a listed id, and its items are not taken for those of the outer list', async () => {
  const toys = `  /pets/{petId}/toys:
    get:
      operationId: listToys
      parameters: [{ name: petId, in: path, required: true, schema: { type: integer, format: int64 } }]
      responses:
        '200':
          description: The toys.
          content:
            application/json:
              schema: { type: array, items: { type: object, properties: { id: { type: integer }, name: { type: string } } } }
              example: [{ id: 59, name: Ball }]
`
  const text = readFileSync(openapiFile, 'utf8').replace('  /store/orders:\n', (orders) => toys + orders)
  const spec = temporaryFile('openapi.yaml', text)
  const contract = await loadContract(spec)
  const { drifts, came } = await verified(undefined, { contract }, { spec })
  expect(drifts).toEqual([])
  expect(came.map(({ url }) => url)).toContainEqual(expect.stringMatching(/\/pets\/\d+\/toys$/))
})

describe('lists in an envelope', () => {
  const color = { type: 'string', enum: ['red', 'blue'] }
  const thing = object({ id: integer, color }, ['id', 'color'])
  const of = async (schema: object, size: string, fixed: object) => {
    const get = { parameters: [inQuery('color', color), inQuery(size, { ...integer, maximum: 3 })], ...ok(schema) }
    const paths = { '/things': { get }, '/things/{id}': { parameters: [inPath('id', integer)], get: ok(thing) } }
    const document = { openapi: '3.1.0', info: { title: 'Things', version: '1' }, servers: [{ url: '/v1' }], paths }
    const spec = temporaryFile('things.json', JSON.stringify(document))
    // A service that ignores the query.
    const ignores: Drift = ({ url }) => {
      const record = things.find(({ id }) => url.endsWith(`/${id}`))
      const headers = { 'content-type': 'application/json' }
      const isMissing = record === undefined && /\/things\/./.test(url)
      return isMissing ? undefined : { status: 200, headers, body: JSON.stringify(record ?? fixed) }
    }
    return verified(ignores, { contract: await loadContract(spec) }, { spec })
  }
  const things = [1, 2, 3, 4].map((id) => ({ id, color: id % 2 === 0 ? 'red' : 'blue' }))
  const drifts = (size: string, id: string) => [
    `${id}, color red: color is "blue", although the request is for red`,
    `${id}, color blue: color is "red", although the request is for blue`,
    `${id}, ${size} 3: 4 items are listed, although ${size} is 3`,
  ]
  it.each([
    ['data', 'limit', object({ data: list(thing) }), { data: things }],
    ['a page', 'size', object({ content: list(thing), totalElements: integer }), { content: things, totalElements: 4 }],
    ['within data', 'per_page', object({ data: object({ items: list(thing) }) }), { data: { items: things } }],
  ])('%s: its filters and its limit are checked', async (_form, size, schema, body) => {
    expect((await of(schema, size, body)).drifts).toEqual(drifts(size, 'GET/things'))
  })

  it('that the contract does not describe: they do not count as kept', async () => {
    const { drifts: none, skipped } = await of({ type: 'object' }, 'limit', { found: things })
    const why = 'the response has no list that the contract describes'
    expect(none).toEqual([])
    expect(skipped).toEqual(
      expect.arrayContaining(['color red', 'color blue', 'limit 3'].map((name) => `GET/things, ${name}: ${why}`)),
    )
  })
})

describe('a sandbox passes with its own contract', () => {
  const item = object({ id: integer, name: text }, ['id'])
  const issue = object({ id: integer, state: { type: 'string', enum: ['open', 'closed'] } }, ['id', 'state'])
  const remaining = {
    'X-RateLimit-Limit': { required: true, schema: integer },
    'X-RateLimit-Remaining': { required: true, schema: integer },
    'X-RateLimit-Reset': { schema: { ...integer, description: 'Seconds until more requests are allowed' } },
  }
  const parent = inPath('shop', integer)
  const single = {
    get: { responses: { ...ok(object({ size: integer })).responses, 404: { description: 'missing' } } },
    put: { ...takes(object({ size: integer })), ...ok(object({ size: integer })) },
    delete: { responses: { 204: { description: 'gone' } } },
  }
  it.each([
    [
      'with records below a record that exists, none of which is known',
      {
        ...crud('/shops', '/shops/{shop}', item, [parent]),
        '/shops/{shop}/tills': { parameters: [parent], get: ok(list(item)), post: { ...takes(item), ...ok(item) } },
        '/shops/{shop}/tills/{id}': { parameters: [parent, inPath('id', integer)], get: ok(item) },
      },
      'GET/shops/{shop}/tills/{id}, the request',
    ],
    [
      'with one record of a path that is missing',
      { ...crud('/shops', '/shops/{shop}', item, [parent]), '/shops/{shop}/till': { parameters: [parent], ...single } },
      'GET/shops/{shop}/till, the request',
    ],
    [
      'with records below a path that is not a resource',
      {
        '/shops/{shop}/tills': {
          parameters: [parent],
          get: { responses: { ...ok(list(item)).responses, 404: { description: 'no shop' } } },
          post: { ...takes(item), ...ok(item) },
        },
      },
      undefined,
    ],
    [
      'with a choice that is no filter, other headers of limits, and another id below a record',
      {
        ...crud('/shops', '/shops/{shop}', item, [parent]),
        '/shops/{shop}/till': {
          parameters: [parent],
          get: { responses: { 200: { ...ok(object({ id: integer })).responses[200], headers: remaining } } },
        },
        '/issues': {
          get: {
            parameters: [inQuery('state', { type: 'string', enum: ['open', 'closed', 'all'] })],
            responses: {
              200: {
                ...ok({ ...list(issue), example: [{ id: 1, state: 'open' }] }).responses[200],
                headers: remaining,
              },
            },
          },
        },
      },
      undefined,
    ],
  ])('%s', async (_what, paths, unknown) => {
    const example = {
      requestBody: { content: { 'application/json': { schema: item, example: { id: 1, name: 'a' } } } },
    }
    const shops = Object(paths)['/shops']
    const all = shops === undefined ? paths : { ...paths, '/shops': { ...shops, post: { ...shops.post, ...example } } }
    const document = { openapi: '3.1.0', info: { title: 'Shops', version: '1' }, servers: [{ url: '/v1' }], paths: all }
    const spec = temporaryFile('shops.json', JSON.stringify(document))
    const { drifts, skipped } = await verified(
      undefined,
      { contract: await loadContract(spec), writes: true },
      { spec },
    )
    expect(drifts).toEqual([])
    if (unknown !== undefined) expect(skipped.join('\n')).toContain(unknown)
  })
})

it.each([
  ['in an envelope', [], 'kept'],
  [
    'with pages',
    [inQuery('page', { ...integer, minimum: 1 }), inQuery('per_page', { ...integer, default: 1, maximum: 50 })],
    'kept',
  ],
  ['with pages of an unknown length', [inQuery('per_page', { ...integer, default: 1 })], 'skipped'],
])('a list %s has the created items, and 422 is a refusal too', async (_what, parameters, listed) => {
  const item = object({ id: readOnly(integer), name: text, size: integer }, ['name'])
  const envelope = object({ items: list(item), total: integer }, ['items'])
  const create = { 400: { description: 'not readable' }, 422: { description: 'not valid' }, ...ok(item, 201).responses }
  const example = {
    requestBody: { content: { 'application/json': { schema: item, example: { name: 'a', size: 1 } } } },
  }
  const paths = {
    '/shops': { get: { parameters, ...ok(envelope) }, post: { ...example, responses: create } },
    '/shops/{id}': { parameters: [inPath('id', integer)], get: ok(item) },
  }
  const document = { openapi: '3.1.0', info: { title: 'Shops', version: '1' }, servers: [{ url: '/v1' }], paths }
  const spec = temporaryFile('shops.json', JSON.stringify(document))
  const { drifts, checks } = await verified(undefined, { contract: await loadContract(spec), writes: true }, { spec })
  expect(drifts).toEqual([])
  const outcomes = checks.map(({ name, outcome }) => `${name}: ${outcome}`)
  expect(outcomes).toContain('no name: kept')
  expect(outcomes).toContain(`created items are listed: ${listed}`)
})

it('a contract without examples passes at its own sandbox', async () => {
  const ok = '{ description: ok, content: { application/json: { schema: { type: object } } } }'
  const parameter = (name: string, place: string) =>
    `{ name: ${name}, in: ${place}, required: true, schema: { type: string } }`
  const spec = temporaryFile(
    'openapi.yaml',
    `openapi: 3.1.0
info: { title: t, version: '1' }
servers: [{ url: /v1 }]
paths:
  /things/{name}: { get: { operationId: one, parameters: [${parameter('name', 'path')}, ${parameter('q', 'query')}, ${parameter('X-V', 'header')}, ${parameter('c', 'cookie')}], responses: { '200': ${ok} } } }
  /things#all: { get: { operationId: unreachable, responses: { '200': ${ok} } } }
  /login: { get: { operationId: moved, responses: { '302': { description: moved } } } }
  /open: { get: { operationId: open, security: [], responses: { '200': ${ok}, '401': { description: no } } } }
`,
  )
  const { drifts, checks } = await verified(undefined, { contract: await loadContract(spec) }, { spec })
  expect(drifts).toEqual([])
  const kept = checks.filter(({ outcome, name }) => outcome === 'kept' && name === 'the request')
  expect(kept.map(({ operation }) => operation)).toEqual(['moved', 'open', 'one'])
})

it('shows a key nowhere, also if the contract has it in the query', async () => {
  const apiKey = 'a/secret=='
  const responses = ok(list(object({ id: integer })))
  const spec = temporaryFile(
    'openapi.json',
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      servers: [{ url: '/v1' }],
      components: {
        securitySchemes: {
          key: { type: 'apiKey', in: 'query', name: 'api_key' },
          other: { type: 'http', scheme: 'bearer' },
        },
      },
      security: [{ other: [] }],
      paths: { '/things': { get: { operationId: 'things', security: [{ key: [] }], ...responses } } },
    }),
  )
  const asked: string[] = []
  const { checks, came } = await verified(
    undefined,
    { contract: await loadContract(spec), apiKey, onWait: (_seconds, request) => asked.push(request) },
    { spec, apiKey: [apiKey], limits: '0/min' },
  )
  expect(came.some(({ url }) => url.includes('secret'))).toBe(true)
  expect(asked.length).toBeGreaterThan(0)
  expect(JSON.stringify([checks, asked])).not.toMatch(/secret/)
})

it('takes fields that each response shows with another value, such as counters and times, for no contradiction', async () => {
  const fields = { views: integer, seen: text, rank: integer }
  const page = object({ id: readOnly(integer), name: text, ...fields }, ['id', 'name'])
  const example = { name: 'c' }
  const paths = {
    '/pages': {
      get: ok(list(page)),
      post: { requestBody: { content: { 'application/json': { schema: page, example } } }, ...ok(page, 201) },
    },
    '/pages/{id}': { parameters: [inPath('id', integer)], get: ok(page) },
  }
  const document = { openapi: '3.1.0', info: { title: 'Pages', version: '1' }, servers: [{ url: '/v1' }], paths }
  const spec = temporaryFile('pages.json', JSON.stringify(document))
  const contract = await loadContract(spec)
  let views = 0
  const drift = change(
    () => true,
    (goes, { method }) => {
      const shown = (item: object, rank: number) => ({
        ...{ ...item, rank, seen: `at ${++views}` },
        views: method === 'POST' ? 0 : views,
      })
      const body = JSON.parse(String(goes.body))
      goes.body = JSON.stringify(Array.isArray(body) ? body.map((item) => shown(item, 1)) : shown(body, 2))
    },
  )
  const { drifts } = await verified(drift, { contract, writes: true }, { spec, generate: ['pages=2'] })
  expect(drifts).toEqual([
    expect.stringMatching(/^GET\/pages\/\{id\}, the request: rank of \d is 2, but the list says 1$/),
  ])
})

describe('reports as not checked', () => {
  const noDeprecation = change(isGet, ({ headers }) => {
    delete headers.deprecation
    delete headers.sunset
  })

  it.each<
    [skipped: string, Partial<VerifyOptions>, SandboxOptions, drift?: Drift | undefined, waits?: readonly number[]]
  >([
    ['listPets, two-newest: no API key was given', { apiKey: undefined }, {}],
    ['getPet, first: the operation has been removed', {}, { now: '2030-12-06T00:00:00Z' }],
    ['getPet, first: the sandbox simulated the response (fault)', {}, { fault: ['getPet:503'] }],
    [`${DEPRECATION}: neither Deprecation nor Sunset is sent, and neither is documented`, {}, {}, noDeprecation],
    [`${LIMITED} 300 s`, { apiKey: 'sandbox-banned' }, {}],
    [`${LIMITED} 2 s`, {}, { storm: '1,retry-after=2s' }, undefined, [2000]],
  ])('%s', async (wanted, given, options, drift, waited = []) => {
    const { drifts, skipped, waits, checks } = await verified(drift, given, options)
    expect(drifts).toEqual([])
    expect(skipped).toContain(wanted)
    expect([...new Set(waits)]).toEqual(waited)
    expect(checks.some(({ name, outcome }) => name === '401 without a key' && outcome === 'kept')).toBe(true)
  })

  it('checks that another contract does not document', async () => {
    const spec = fileURLToPath(new URL('../contract/specs/fuller.yaml', import.meta.url))
    const contract = await loadContract(spec)
    const fuller = { contract, writes: true }
    const { drifts, skipped, came } = await verified(undefined, fuller, { spec })
    expect(drifts).toEqual([])
    expect(skipped).toContain('listCategories, 401: the contract documents no 401 for it')
    expect(skipped).toContain(
      'deletePet, every check: it writes, and only operations that add an example of the contract are ever called',
    )
    expect(came.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('everything with a limit of 0: each key waits once', async () => {
    const { waits, skipped } = await verified(undefined, {}, { limits: '0/min' })
    expect(waits.length).toBeLessThanOrEqual(3)
    expect(skipped).toContainEqual(expect.stringMatching(/^listPets, two-newest: the rate limit is used up \(429\)/))
  })

  it('a dropped connection', async () => {
    const { checks, drifts } = await verified((came) => (isGet(came) && hasKey(came) ? 'drop' : undefined))
    expect(drifts).toEqual([])
    expect(checks.filter(({ outcome }) => outcome === 'unanswered').map(checkText)).toEqual([
      expect.stringMatching(/^getPet, first: No response from http:\/\/127\.0\.0\.1:\d+: .* \(UND_ERR_SOCKET\)$/),
      expect.stringMatching(/^getPet, an id beyond 2\^53: No response/),
      expect.stringMatching(/^getPet, an unknown id: No response/),
    ])
  })
})

describe('a 429 that says when to come back', () => {
  const refuse = (goes: Goes, retryAfter: string) => {
    Object.assign(goes, { status: 429, body: '' })
    goes.headers['retry-after'] = retryAfter
  }

  it('is waited for five times in all, and the rest is reported as not tested', async () => {
    let turn = 0
    const everyOther = change(hasKey, (goes) => {
      if (turn++ % 2 === 0) refuse(goes, '60')
    })
    const { waits, skipped } = await verified(everyOther)
    expect(waits.filter((wait) => wait === 60_000)).toHaveLength(5)
    expect(skipped).toContainEqual(
      expect.stringContaining('not tested: the rate limit is used up again (429) after 5 waits'),
    )
  })

  it('is waited for once, then the rest is checked', async () => {
    let refused = 0
    const drift = change(hasKey, (goes) => {
      if (refused++ === 0) refuse(goes, '7')
    })
    const said: string[] = []
    const { drifts, checks, waits } = await verified(drift, {
      onWait: (seconds, request) => said.push(`${seconds} s before ${request}`),
    })
    expect({ drifts, waits, said }).toEqual({ drifts: [], waits: [7000], said: ['7 s before GET /pets'] })
    const kept = { operation: 'listPets', name: 'no parameters', request: 'GET /pets', outcome: 'kept', details: [] }
    expect(checks).toContainEqual(kept)
  })
})
