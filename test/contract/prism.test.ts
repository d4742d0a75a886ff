import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ContractEngine, EngineAnswer, EngineRequest } from '../../src/contract/engine.js'
import { loadContract } from '../../src/contract/load-contract.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { openPrism } from '../../src/contract/prism.js'

const LIMITS = { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '5', 'X-RateLimit-Reset': '1772359260' }
const JSON_TYPE = { 'Content-Type': 'application/json' }

function request(method: string, path: string, query = '', body = ''): EngineRequest {
  return { method, path, query, headers: { 'content-type': 'application/json', accept: 'text/html' }, body }
}

function answer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): EngineAnswer {
  return { status, body, headers: { ...JSON_TYPE, ...LIMITS, ...headers } }
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('mocking an operation without a handler', () => {
  let prism: ContractEngine
  beforeAll(async () => {
    prism = await openPrism(await loadContract(fileURLToPath(new URL('specs/fuller.yaml', import.meta.url))))
  })

  it('answers with the example, big numbers digit for digit', async () => {
    expect(await prism.mock(request('GET', '/categories'))).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '[{"id":9007199254740993,"name":"Dogs"}]',
    })
  })

  it('answers without a body where there is none', async () => {
    expect(await prism.mock(request('DELETE', '/pets/1'))).toMatchObject({ status: 204, body: '' })
  })

  it('answers in another media type where the contract has one', async () => {
    expect(await prism.mock(request('GET', '/pets/mine'))).toMatchObject({
      headers: { 'content-type': 'text/plain' },
      body: 'Rex',
    })
  })

  it('makes up the same value of the schema each time', async () => {
    const put = request('PUT', '/pets/1', 'colour=red', '{"name":"Rex"}')
    const first = await prism.mock(put)
    expect(first).toMatchObject({ status: 200, headers: { 'x-version': '3' }, body: expect.stringContaining('"name"') })
    expect(await prism.mock(put)).toEqual(first)
  })

  it.each([
    ['colour=blue', '{"name":"Rex"}', 'colour'],
    ['', '{"name":"Rex"}', 'colour'],
    ['colour=red', '{"name":1}', 'name'],
    ['colour=red', '', 'required'],
    ['colour=red', '{"name":', 'the body is not valid JSON: unexpected end at line 1, column 9'],
  ])('says what is wrong with the query %j and the body %j', async (query, body, word) => {
    const { violations } = { violations: [], ...(await prism.mock(request('PUT', '/pets/1', query, body))) }
    expect(violations).toEqual([expect.stringContaining(word)])
  })

  it('says what is wrong with the path', async () => {
    expect(await prism.mock(request('DELETE', '/pets/x'))).toEqual({
      of: 'path',
      violations: [expect.stringContaining('petid')],
    })
  })

  it('says nothing else to anybody', async () => {
    const spies = [
      ...(['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => vi.spyOn(console, name)),
      ...[process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write')),
    ]
    await prism.mock(request('PUT', '/pets/1', 'colour=blue', '{}'))
    await prism.mock(request('GET', '/categories'))
    await prism.check(request('GET', '/categories'), answer(200, '[{}]'))
    for (const spy of spies) expect(spy).not.toHaveBeenCalled()
  })
})

describe('checking an answer', () => {
  const getPet = request('GET', '/pets/1')
  let prism: ContractEngine
  beforeAll(async () => {
    prism = await openPrism(packagedContract())
  })

  it('passes every documented example', async () => {
    for (const operation of packagedContract().operations) {
      const asked = request(operation.method, operation.path.replace('{petId}', '1'))
      for (const { status, example = '' } of operation.responses.values()) {
        const headers: Record<string, string> = status === 429 ? { 'Retry-After': '30' } : {}
        expect(await prism.check(asked, answer(status, example, headers))).toEqual([])
      }
    }
  })

  it('passes numbers beyond 2^53', async () => {
    const pet = '{"id":9223372036854775807,"name":"Rex","categoryId":-9223372036854775808}'
    expect(await prism.check(getPet, answer(200, pet))).toEqual([])
  })

  it('passes fields that the contract does not know', async () => {
    expect(await prism.check(getPet, answer(200, '{"id":1,"name":"Rex","categoryId":1,"age":3}'))).toEqual([])
  })

  it('passes any body of a 429, as none is documented', async () => {
    const headers = { 'Retry-After': '30', 'Content-Type': 'text/html' }
    expect(await prism.check(getPet, answer(429, '<p>', headers))).toEqual([])
    expect(await prism.check(getPet, answer(429, ''))).toEqual([expect.stringContaining('retry-after')])
  })

  it.each([
    [
      'an undocumented status',
      answer(418, '{}'),
      ['the status 418 is not documented (the documented ones are 200, 401, 404, 429)'],
    ],
    ['no JSON', answer(200, '{'), ['the body is not valid JSON: unexpected end at line 1, column 2']],
    ['a missing field', answer(200, '{"id":1,"name":"Rex"}'), [/categoryId/]],
    ['a wrong value', answer(200, '{"id":1,"name":"Rex","categoryId":1,"status":"gone"}'), [/status/]],
    ['a fraction', answer(200, '{"id":1.5,"name":"Rex","categoryId":1}'), [/id must be integer/]],
    ['another media type', answer(404, 'gone', { 'Content-Type': 'text/plain' }), [/media type/, /object/]],
    [
      'a header that is no number',
      answer(404, '{"code":"a","message":"b","status":404}', { 'X-RateLimit-Limit': 'x' }),
      [/x-ratelimit-limit/],
    ],
  ])('names %s', async (_what, given, expected) => {
    const violations = await prism.check(getPet, given)
    expect(violations).toHaveLength(expected.length)
    expected.forEach((sentence, index) => {
      expect(violations[index]).toMatch(sentence)
    })
  })

  it('names missing headers', async () => {
    const bare = { status: 200, headers: JSON_TYPE, body: '{"id":1,"name":"Rex","categoryId":1}' }
    expect(await prism.check(getPet, bare)).toHaveLength(3)
  })
})
