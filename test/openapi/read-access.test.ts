import { describe, expect, it } from 'vitest'
import { BEARER } from '../../src/contract/contract-data.js'
import { readContract } from '../../src/openapi/read-contract.js'

function read(document: object) {
  return readContract({
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: { '/a': { get: {} } },
    ...document,
  }).data
}

describe('the base path of a contract', () => {
  it.each([
    ['/v2', '/v2'],
    ['/v2/', '/v2'],
    ['v2', '/v2'],
    ['https://api.example.com/shop/v2', '/shop/v2'],
    ['//api.example.com/v2', '/v2'],
    ['http://localhost:8080', ''],
    ['/', ''],
  ])('is the path of the server %s', (url, path) =>
    expect(read({ servers: [{ url }] })).toMatchObject({ basePath: path, notes: [] }),
  )

  it('is the path of the first server, with the defaults of its variables', () => {
    const variables = { stage: { default: 'beta' } }
    const servers = [{ url: 'https://{stage}.example.com/{stage}', variables }, { url: '/v3' }]
    expect(read({ servers })).toMatchObject({ basePath: '/beta', notes: [] })
  })

  it('is / without servers', () => {
    for (const document of [{}, { servers: [] }]) expect(read(document)).toMatchObject({ basePath: '', notes: [] })
  })

  it.each(['https://{host}/{stage}', 'http://[', '/__sandbox', '/~a/v1', '/%7Bstage%7D'])(
    'is /, with a note, for the server %s',
    (url) =>
      expect(read({ servers: [{ url }] })).toMatchObject({
        basePath: '',
        notes: [`The server "${url}" has no usable path. Without --base-path, the sandbox serves under /.`],
      }),
  )
})

describe('the headers of the key', () => {
  const schemes = {
    bearer: { type: 'http', scheme: 'Bearer' },
    custom: { type: 'apiKey', in: 'header', name: 'X-Acme' },
    raw: { type: 'apiKey', in: 'header', name: 'authorization' },
    query: { type: 'apiKey', in: 'query', name: 'key' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'key' },
    basic: { type: 'http', scheme: 'basic' },
    digest: { type: 'http', scheme: 'digest' },
    oauth: { type: 'oauth2', flows: {} },
  }
  type Scheme = keyof typeof schemes
  const secured = (...names: readonly Scheme[]) =>
    read({ components: { securitySchemes: schemes }, security: names.map((name) => ({ [name]: [] })) })
  const acme = { name: 'X-Acme', prefix: '' }

  it.each([
    [['bearer'], [BEARER]],
    [['custom'], [acme]],
    [['bearer', 'custom'] as const, [BEARER, acme]],
  ] as const)('are those that the required schemes %j name', (names, keyHeaders) =>
    expect(secured(...names)).toMatchObject({ keyHeaders, notes: [] }),
  )

  it('come from operations, and from all schemes if none is required', () => {
    const components = { securitySchemes: { custom: schemes.custom } }
    const operation = { security: [{ custom: [] }], responses: {} }
    expect(read({ components, paths: { '/notes': { get: operation } } })).toMatchObject({ keyHeaders: [acme] })
    expect(read({ components })).toMatchObject({ keyHeaders: [acme] })
    expect(read({})).toMatchObject({ keyHeaders: [BEARER], notes: [] })
  })

  it.each([
    [['raw'], { in: 'authorization', name: 'Authorization' }],
    [['cookie'], { in: 'cookie', name: 'key' }],
    [['basic'], { in: 'basic', name: 'Authorization' }],
    [['query'], { in: 'query', name: 'key' }],
  ] as const)('are beside the other places that the schemes %j name', (names, place) =>
    expect(secured(...names)).toMatchObject({ keyHeaders: [BEARER], otherKeys: [place], notes: [] }),
  )

  it('replace schemes that have no place for a key, with a note', () => {
    expect(secured('custom', 'oauth')).toMatchObject({ keyHeaders: [acme, BEARER], notes: [] })
    expect(secured('digest', 'custom').notes).toEqual([
      'Instead of "digest" (http digest), the sandbox accepts API keys as X-Acme: <key>.',
    ])
  })

  it('replace a scheme that is not declared, with a note that has its place', () => {
    const paths = { '/a': { get: { security: [{ Key: [] }], responses: {} } } }
    expect(
      read({ components: { securitySchemes: schemes }, paths, security: [{ Key: [] }, { custom: [] }] }).notes,
    ).toEqual([
      'Instead of "Key" (not declared, although security[0] names it), the sandbox accepts API keys as X-Acme: <key>.',
    ])
    expect(read({ components: { securitySchemes: schemes }, paths }).notes).toEqual([
      'Instead of "Key" (not declared, although paths./a.get.security[0] names it), the sandbox accepts API keys as Authorization: Bearer <key>.',
    ])
  })

  it('are alternatives for each operation: one of them, or all of one', () => {
    const keysOf = (security: readonly object[], root: readonly object[] = [{ custom: [] }]) => {
      const paths = { '/a': { get: { security, responses: {} } }, '/b': { get: { responses: {} } } }
      return read({ components: { securitySchemes: schemes }, security: root, paths }).operations.map(
        ({ keys }) => keys,
      )
    }
    const [query, basic] = [
      { in: 'query', name: 'key' },
      { in: 'basic', name: 'Authorization' },
    ]
    expect(keysOf([{ custom: [] }])).toEqual([undefined, undefined])
    expect(keysOf([{ query: [] }, { custom: [], basic: [] }])).toEqual([[[query], [acme, basic]], [[acme]]])
    // A scheme that holds no key needs none beside others, and alone has that of the contract.
    expect(keysOf([{ digest: [], query: [] }])).toEqual([[[query]], [[acme]]])
    expect(keysOf([{ digest: [] }])).toEqual([undefined, undefined])
    // Without any header, a bearer token does for each place, but not for two.
    expect(keysOf([{ query: [] }], [{ basic: [] }])).toEqual([
      [[query], [BEARER]],
      [[basic], [BEARER]],
    ])
    expect(keysOf([{ query: [], basic: [] }], [{ query: [] }, { basic: [] }])).toEqual([[[query, basic]], undefined])
  })

  it('are in Authorization for other schemes of HTTP', () => {
    const own = { own: { type: 'http', scheme: 'Token' } }
    expect(read({ components: { securitySchemes: own }, security: [{ own: [] }] })).toMatchObject({
      otherKeys: [{ in: 'authorization', name: 'Authorization', scheme: 'Token' }],
      notes: [],
    })
  })
})
