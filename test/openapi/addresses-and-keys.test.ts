import { describe, expect, it } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { crud, inPath, integer, type Node, object, openContract, readOnly, text } from '../support/small-contract.js'
import { temporaryFile } from '../support/temporary-files.js'

const note = object({ id: readOnly(integer), text }, ['id', 'text'])
const paths = crud('/notes', '/notes/{id}', note, [inPath('id', integer)])

/** The statuses of requests to a contract that the sandbox serves on a port. */
async function statuses(
  document: Node,
  requests: readonly (readonly [target: string, headers?: Record<string, string>])[],
): Promise<readonly number[]> {
  const whole = { openapi: '3.0.3', info: { title: 'Sample', version: '1' }, paths, ...document }
  await using sandbox = await startSandbox({ spec: temporaryFile('contract.json', JSON.stringify(whole)) })
  const { origin } = new URL(sandbox.baseUrl)
  const codes: number[] = []
  for (const [target, headers = {}] of requests) codes.push((await fetch(origin + target, { headers })).status)
  return codes
}

describe('the address of a contract', () => {
  const withServers = (servers: unknown) =>
    Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, { ...Object(item), servers }]))
  it.each<[string, Node, string]>([
    ['relative to the document', { servers: [{ url: '../api' }] }, '/api/notes'],
    ['with a host that has no value', { servers: [{ url: 'https://{region}.example.com:8443/rest/' }] }, '/rest/notes'],
    ['without a scheme, and with a query', { servers: [{ url: '//example.com/rest?x=1' }] }, '/rest/notes'],
    [
      'with variables in its path',
      {
        servers: [
          {
            url: '{scheme}://{host}/{base}/v2',
            variables: {
              scheme: { default: 'https' },
              host: { default: 'example.com' },
              base: { default: 'api' },
            },
          },
        ],
      },
      '/api/v2/notes',
    ],
    [
      'after one of a socket',
      { servers: [{ url: 'wss://example.com/live' }, { url: 'https://example.com/v1' }] },
      '/v1/notes',
    ],
    ['at the paths alone', { paths: withServers([{ url: 'https://example.com/v9' }]) }, '/v9/notes'],
  ])('is %s', async (_what, document, target) => {
    expect(await statuses(document, [[target]])).toEqual([200])
  })

  it('of some operations that differs is named at the start', async () => {
    const { warnings } = await openContract(withServers([{ url: '/v9' }]))
    const ids = 'POST/notes, GET/notes, GET/notes/{id}, DELETE/notes/{id}'
    const why = 'although the contract has servers with another path for them'
    expect(warnings).toEqual([expect.stringMatching(`^The sandbox serves .* under /v1, ${why}\\.$`)])
    for (const id of ids.split(', ')) expect(warnings[0]).toContain(id)
  })
})

it.each([
  [
    { type: 'http', scheme: 'Token' },
    { name: 'Authorization', prefix: 'Token ' },
  ],
  [
    { type: 'http', scheme: 'basic' },
    { name: 'Authorization', prefix: 'Bearer ' },
  ],
  [
    { type: 'apiKey', in: 'header', name: 'X-Auth-Token' },
    { name: 'X-Auth-Token', prefix: '' },
  ],
])('samples have the header of %j', async (key, keyHeader) => {
  const more = { security: [{ key: [] }], components: { securitySchemes: { key } } }
  const sandbox = await openContract(paths, more)
  expect((await sandbox.control('GET', '/state')).json).toMatchObject({ keyHeader })
  const headers = { [keyHeader.name]: `${keyHeader.prefix}sandbox` }
  expect(await sandbox.call('/v1/notes', { key: null, headers })).toMatchObject({ status: 200 })
})

describe('keys in the schemes of an operation', () => {
  const schemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
    app: { type: 'apiKey', in: 'header', name: 'X-App-Id' },
    basic: { type: 'http', scheme: 'basic' },
    bearer: { type: 'http', scheme: 'BEARER' },
    query: { type: 'apiKey', in: 'query', name: 'api_key' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  }
  const secured = (security: readonly Node[]): Node => ({ security, components: { securitySchemes: schemes } })
  const basic = (credentials: string) => ({ authorization: `Basic ${btoa(credentials)}` })
  const key = { 'x-api-key': 'sandbox' }
  type Requests = Parameters<typeof statuses>[1]
  it.each<[string, readonly Node[], Requests, readonly number[]]>([
    [
      'a key and the name of the application, together',
      [{ key: [], app: [] }],
      [
        ['/notes', { ...key, 'x-app-id': 'app' }],
        ['/notes', key],
        ['/notes', { 'x-app-id': 'sandbox' }],
      ],
      [200, 401, 401],
    ],
    [
      'Basic together with a query',
      [{ basic: [], query: [] }],
      [['/notes?api_key=sandbox', basic('me:sandbox')], ['/notes', basic('me:sandbox')], ['/notes?api_key=sandbox']],
      [200, 401, 401],
    ],
    [
      'a cookie or a bearer token',
      [{ cookie: [] }, { bearer: [] }],
      [
        ['/notes', { cookie: 'a=b; session=sandbox' }],
        ['/notes', { authorization: 'bearer sandbox' }],
        ['/notes', { cookie: 'session=x' }],
      ],
      [200, 200, 401],
    ],
    [
      'Basic with a key as the password or the user, and not without a colon',
      [{ basic: [] }, { key: [] }],
      [
        ['/notes', basic('me:sandbox')],
        ['/notes', basic('sandbox:')],
        ['/notes', basic('sandbox')],
        ['/notes', { authorization: 'Basic sandbox' }],
      ],
      [200, 200, 401, 401],
    ],
    [
      'the second of two headers, where the first has another value',
      [{ key: [] }, { app: [] }],
      [['/notes', { 'x-api-key': 'other', 'x-app-id': 'sandbox' }]],
      [200],
    ],
  ])('%s', async (_what, security, requests, expected) => {
    expect(await statuses(secured(security), requests)).toEqual(expected)
  })
})
