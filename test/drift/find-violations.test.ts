import { describe, expect, it } from 'vitest'
import type { EngineResponse } from '../../src/contract/engine.js'
import { readResponseRules } from '../../src/contract/response-rules.js'
import { findViolations } from '../../src/drift/find-violations.js'
import { loadContract } from '../../src/openapi/load-contract.js'
import { inPath, inQuery, integer, list, type Node, object, ok, text } from '../support/small-contract.js'
import { temporaryFile } from '../support/temporary-files.js'

type Answer = Partial<EngineResponse> & { readonly json?: unknown }

/** What a response of this document's only operation violates. */
async function violationsIn(paths: Node, address: string, { json, ...given }: Answer, more: Node = {}) {
  const document = { openapi: '3.1.0', info: { title: 'Own', version: '1' }, paths, ...more }
  const contract = await loadContract(temporaryFile('own.json', JSON.stringify(document)))
  const [path = '', query = ''] = address.split('?')
  const route = contract.route('GET', path)
  if (route.kind !== 'operation') throw new Error(`No operation at ${path}.`)
  const response = { status: 200, body: json === undefined ? '' : JSON.stringify(json), ...given }
  const headers = { 'content-type': 'application/json', ...given.headers }
  return findViolations(
    { rules: await readResponseRules(contract, 'native'), contract, basePath: contract.basePath },
    {
      operation: route.operation,
      captured: route.captured,
      request: { method: 'GET', path, query, headers: {}, body: '' },
      response: { ...response, headers },
    },
  ).map(({ detail }) => detail)
}

describe('a contract of the user', () => {
  const state = { type: 'string', enum: ['open', 'closed'] }
  const choices = inQuery('state', { type: 'string', enum: ['open', 'closed', 'all'] })
  const issues = (item: object) => ({ '/issues': { get: { parameters: [choices], ...ok(list(item)) } } })

  it('filters by a value only if the field with the name of the parameter can have it', async () => {
    const found = (query: string, field: object) =>
      violationsIn(issues(object({ id: integer, state: field })), `/issues?state=${query}`, {
        json: [{ id: 1, state: 'open' }],
      })
    expect(await found('all', state)).toEqual([])
    expect(await found('all', text)).toEqual([])
    expect(await found('closed', state)).toEqual(['state is "open", although the request is for closed'])
  })

  describe('with headers of limits', () => {
    const header = (schema: object, more: Node = {}) => ({ description: 'x', schema, ...more })
    const limited = (headers: Node) => ({
      '/things': { get: { responses: { 200: { description: 'ok', headers }, 404: { description: 'none' } } } },
    })
    const own = { 'X-RateLimit-Limit': header(integer, { required: true }), 'X-RateLimit-Remaining': header(integer) }

    it('requires those that the status documents, and that are required', async () => {
      expect(await violationsIn(limited(own), '/things', { headers: { 'x-ratelimit-limit': '10' } })).toEqual([])
      expect(await violationsIn(limited(own), '/things', { status: 404 })).toEqual([])
      expect(await violationsIn(limited(own), '/things', {})).toEqual(['X-RateLimit-Limit is missing'])
      const more = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '11', 'x-ratelimit-reset': '30' }
      expect(await violationsIn(limited(own), '/things', { headers: more })).toEqual([
        'X-RateLimit-Remaining is 11, more than the limit of 10',
      ])
    })

    it('compares another form than the usual one only with its schema', async () => {
      const reset = { ...own, 'X-RateLimit-Reset': header({ type: 'integer', example: 30, maximum: 60 }) }
      const found = (seconds: string) =>
        violationsIn(limited(reset), '/things', { headers: { 'x-ratelimit-limit': '9', 'x-ratelimit-reset': seconds } })
      expect(await found('42')).toEqual([])
      expect(await found('soon')).toEqual(['X-RateLimit-Reset must be a whole number of 60 or less (it is "soon")'])
    })
  })

  it('shows the id of its path only in responses of the record itself', async () => {
    const profile = ok(object({ id: integer, bio: text }))
    const parameters = [inPath('userId', integer)]
    const paths = (path: string) => ({ [path]: { get: { parameters, ...profile } } })
    const json = { id: 77, bio: '' }
    expect(await violationsIn(paths('/users/{userId}/profile'), '/users/1/profile', { json })).toEqual([])
    expect(await violationsIn(paths('/users/{userId}'), '/users/1', { json })).toEqual([
      'the id is 77, although the request is for 1',
    ])
  })

  it('may have errors with a status and a code of their own', async () => {
    const body = { description: 'none', content: { 'application/json': { schema: object({ status: integer }) } } }
    const paths = { '/things': { get: { responses: { 200: { description: 'ok' }, 404: body } } } }
    expect(await violationsIn(paths, '/things', { status: 404, json: { status: 4, code: '' } })).toEqual([])
  })

  it('may have operations that need no key and document a 401, such as a login', async () => {
    const responses = { 200: { description: 'ok' }, 401: { description: 'wrong password' } }
    const components = { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } }
    const found = (security: readonly object[]) =>
      violationsIn({ '/login': { get: { security, responses } } }, '/login', {}, { components })
    expect(await found([])).toEqual([])
    expect(await found([{ key: [] }])).toEqual(['the status is 200, although no key was sent'])
  })
})
