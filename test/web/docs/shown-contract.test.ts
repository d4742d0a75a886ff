import { describe, expect, it } from 'vitest'
import { BEARER } from '../../../src/contract/contract-data.js'
import type { JsonMap } from '../../../src/web/contract-parts.js'
import { hiddenPanels, shownContract } from '../../../src/web/docs/shown-contract.js'

const KEY = { key: 'sandbox', secret: false, plan: 'free', always: null } as const
const WINDOWS = {
  minute: { limit: 60, remaining: 60, reset: null },
  day: { limit: 1000, remaining: 1000, reset: null },
}
const STATE = {
  keyHeader: BEARER,
  keys: [
    { ...KEY, ...WINDOWS, ban: null },
    { ...KEY, ...WINDOWS, ban: null, key: 'team', secret: true, plan: 'pro', always: 'limited' } as const,
  ],
  operations: { stateful: [], mocked: [{ operation: 'DELETE/pets', reason: 'no list' }] },
}

function show(contract: JsonMap, keyHeader: { readonly name: string; readonly prefix: string } = BEARER) {
  return Object(shownContract(contract, { ...STATE, keyHeader }, 'http://127.0.0.1:4010/v1', ''))
}

const showOperation = (operation: JsonMap) => show({ paths: { '/pets': { get: operation } } }).paths['/pets'].get

describe('the contract on the docs page', () => {
  it('has this sandbox as its only server, and its key header as its only security scheme', () => {
    const shown = show({
      servers: [{ url: 'https://api.example.com' }],
      security: [{ basic: [] }],
      paths: {
        '/pets': { servers: [{ url: '/else' }], get: { servers: [{ url: '/else' }], security: [{ basic: [] }] } },
      },
      components: { schemas: { Pet: {} }, securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
    })
    expect(shown).toMatchObject({
      servers: [{ url: 'http://127.0.0.1:4010/v1' }],
      security: [{ apiKey: [] }],
      components: { schemas: { Pet: {} }, securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    })
    expect(JSON.stringify(shown)).not.toMatch(/else|basic/)
    expect(show({}, { name: 'X-API-Key', prefix: '' }).components.securitySchemes.apiKey).toMatchObject({
      ...{ type: 'apiKey', in: 'header', name: 'X-API-Key' },
    })
  })

  it('has the security of the contract if it has several schemes, with a bearer token for those without a form', () => {
    const security = [{ key: [] }, { login: [] }]
    const key = { type: 'apiKey', in: 'header', name: 'X-Key' }
    const shown = show({
      security,
      paths: { '/pets': { get: { security: [{ login: [] }] }, post: {} } },
      components: { securitySchemes: { key, login: { type: 'oauth2', flows: {} } } },
    })
    expect(shown).toMatchObject({
      security,
      paths: { '/pets': { get: { security: [{ login: [] }] } } },
      components: { securitySchemes: { key, login: { type: 'http', scheme: 'bearer' } } },
    })
    expect(shown.paths['/pets'].post.security).toBeUndefined()
  })

  it('has no settings of its viewer, whatever their form', () => {
    const shown = show({ 'x-scalar-environments': { production: {} }, 'x-scalar-order': 1, 'x-tagGroups': [] })
    expect(Object.keys(shown).filter((name) => name.startsWith('x-'))).toEqual(['x-tagGroups'])
  })

  it('offers Prefer on each path, after its own parameters', () => {
    const { paths } = show({ paths: { '/a': { get: {} }, '/b': { parameters: [{ name: 'id', in: 'path' }] } } })
    expect(Object(paths)['/a'].parameters).toMatchObject([{ name: 'Prefer', in: 'header' }])
    expect(Object(paths)['/b'].parameters).toMatchObject([{ name: 'id' }, { name: 'Prefer' }])
  })

  it.each([
    [{}, false, []],
    [{ deprecated: true }, true, []],
    [{ deprecated: true, 'x-deprecated-sunset': '2030-12-05' }, true, ['Removed on 5 December 2030']],
    [{ 'x-deprecated-sunset': '2030-12-05T23:59:59Z' }, true, ['Removed on 5 December 2030']],
    [{ 'x-deprecated-sunset': 'next year' }, true, ['Removed on next year']],
    [{ 'x-stability': 'beta' }, false, ['beta']],
  ])('marks an operation %o', (operation, deprecated, badges) => {
    const shown = showOperation(operation)
    expect(shown.deprecated).toBe(deprecated)
    expect(shown['x-badges'].map(({ name }: { readonly name: string }) => name)).toEqual(badges)
  })

  it('says why an operation is mocked', () => {
    const shown = show({ paths: { '/pets': { get: { operationId: 'listPets' }, delete: { description: 'All.' } } } })
    expect(shown.paths['/pets'].get['x-badges']).toEqual([])
    expect(shown.paths['/pets'].delete).toMatchObject({
      description: 'All.\n\nMocked: no list',
      'x-badges': [{ name: 'Mocked' }],
    })
  })

  it('has chapters about keys, plans and deprecation after its own description', () => {
    const { description } = show({
      info: { summary: 'Pets.', description: 'All of them.' },
      'x-plans': { free: { requestsPerMinute: 60, requestsPerDay: 1000 }, enterprise: { requestsPerMinute: 'custom' } },
      paths: {
        '/pets': {
          get: {
            'x-deprecated-sunset': '2030-12-05',
            'x-deprecated-successor': '/animals',
          },
        },
      },
    }).info
    expect(description).toMatch(/^Pets\.\n\nAll of them\.\n/)
    for (const line of [
      '- `sandbox`: free',
      '- team (the label of a secret key): pro, always limited',
      '| Free | 60 | 1,000 |',
      '| Enterprise | custom |  |',
      '- `not_found` (404): The requested resource could not be found.',
      '- `GET /pets`: removed on 5 December 2030; use `/animals`.',
    ])
      expect(description.split('\n')).toContain(line)
  })

  it('lists the operations that cannot be tried', () => {
    const get = { operationId: 'listOrders', 'x-hideTryItPanel': true }
    expect(hiddenPanels({ paths: { '/orders': { get, post: {}, put: { 'x-hideTryItPanel': true } } } })).toEqual([
      'listOrders',
      'PUT/orders',
    ])
  })

  describe('says of an own API only what its contract says', () => {
    const WITHOUT_LIMITS = STATE.keys.map((key) => ({ ...key, minute: null, day: null }))
    const textOf = (needsKey: readonly boolean[], limited = false): string => {
      const operations = needsKey.map((needs, n) => ({ method: 'GET', path: `/${n}`, needsKey: needs }))
      const state = { ...STATE, keys: limited ? STATE.keys : WITHOUT_LIMITS, explanation: { operations } as never }
      return Object(shownContract({ paths: {} }, state, 'http://127.0.0.1:4010', '')).info.description
    }

    it.each([
      [[false, false], /No operation requires an API key\./],
      [[true, true], /Every operation requires an API key/],
      [[false, true], /Every operation except `GET \/0` requires an API key/],
    ])('with operations that need a key %j', (needsKey, sentence) => expect(textOf(needsKey)).toMatch(sentence))

    it('without plans, has no rate limits and no headers of them', () => {
      expect(textOf([true])).toMatch(/limits no requests/)
      expect(textOf([true])).not.toMatch(/X-RateLimit|Deprecation/)
      expect(textOf([true], true)).toMatch(/`X-RateLimit-Limit`/)
    })

    it('has errors in the form of the contract', () =>
      expect(textOf([true])).toMatch(/An error has the status and the form that the contract documents for it\./))
  })
})
