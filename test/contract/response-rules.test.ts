import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Contract } from '../../src/contract/contract.js'
import type { EngineResponse } from '../../src/contract/engine.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import {
  findContentViolations,
  findHeaderViolations,
  type ResponseRules,
  readResponse,
  readResponseRules,
} from '../../src/contract/response-rules.js'
import { loadContract } from '../../src/openapi/load-contract.js'

const LIMITS = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': '1772359260' }
const JSON_TYPE = { 'content-type': 'application/json' }

function answer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): EngineResponse {
  return { status, body, headers: { ...JSON_TYPE, ...LIMITS, ...headers } }
}

function violations(contract: Contract, rules: ResponseRules, id: string, given: EngineResponse, isHead = false) {
  const operation = contract.operations.find((one) => one.id === id)
  const documented = operation && rules.of(operation)
  if (documented === undefined) throw new Error(`There is no ${id}.`)
  const { status, body } = findContentViolations(documented, given, readResponse(given), isHead)
  return [...status, ...findHeaderViolations(documented, given), ...body]
}

describe('checking a response against the contract:', () => {
  const contract = packagedContract()
  let rules: ResponseRules
  beforeAll(async () => {
    rules = await readResponseRules(contract, 'linear')
  })
  const of = (id: string, given: EngineResponse, isHead?: boolean) => violations(contract, rules, id, given, isHead)

  it('accepts every documented example', () => {
    for (const { id, responses } of contract.operations) {
      for (const { status, example = '' } of responses.values()) {
        const headers: Record<string, string> = status === 429 ? { 'retry-after': '30' } : {}
        expect(of(id, answer(status, example, headers))).toEqual([])
      }
    }
  })

  it.each([
    ['numbers beyond 2^53', answer(200, '{"id":9223372036854775807,"name":"Rex","categoryId":-9223372036854775808}')],
    ['fields that it does not know', answer(200, '{"id":1,"name":"Rex","categoryId":1,"age":3}')],
    [
      'any body of a 429, as none is documented',
      answer(429, '<p>', { 'retry-after': '3', 'content-type': 'text/html' }),
    ],
    [
      'a media type written otherwise',
      answer(404, '{"code":"a","message":"b","status":404}', { 'content-type': 'Application/JSON;charset="UTF-8"' }),
    ],
  ])('%s pass', (_what, given) => expect(of('getPet', given)).toEqual([]))

  it('ignores the body of a HEAD', () => {
    expect(of('getPet', answer(200, ''), true)).toEqual([])
    expect(of('getPet', answer(200, ''))).toEqual(['the body is missing, but application/json is documented'])
  })

  it.each([
    [answer(418, '{}'), 'the status 418 is not documented (the documented ones are 200, 401, 404, 429)'],
    [answer(200, '{'), 'the body is not valid JSON: unexpected end at line 1, column 2'],
    [answer(200, '{"id":1,"name":"Rex"}'), 'categoryId is required'],
    [answer(200, '{"id":1,"name":"Rex","categoryId":1,"status":"gone"}'), /^status must be .* \(it is "gone"\)$/],
    [answer(200, '{"id":9223372036854775808,"name":"Rex","categoryId":1}'), /^id must be a whole number/],
    [answer(404, 'gone', { 'content-type': 'text/plain' }), 'the media type is "text/plain", not application/json'],
    [
      answer(404, '{"code":"a","message":"b","status":404}', { 'content-type': 'application/json; charset=latin1' }),
      'the charset is "latin1", where JSON is UTF-8',
    ],
    [
      answer(404, '{"code":"a","message":"b","status":404}', { 'x-ratelimit-limit': 'x' }),
      'X-RateLimit-Limit must be a whole number (it is "x")',
    ],
    [answer(429, '', {}), 'Retry-After is missing'],
  ])('%j drifts', (given, expected) => {
    const found = of('getPet', given)
    expect(found).toHaveLength(1)
    if (typeof expected === 'string') expect(found).toEqual([expected])
    else expect(found[0]).toMatch(expected)
  })

  it('names a missing media type', () => {
    const { 'content-type': _, ...headers } = answer(200, '').headers
    const untyped = { status: 200, headers, body: '{"id":1,"name":"Rex","categoryId":1}' }
    expect(of('getPet', untyped)).toEqual(['Content-Type is missing, where application/json is documented'])
  })

  it('names only the first of many mistakes', () => {
    const many = JSON.stringify(Array(200_000).fill({}))
    expect(of('listPets', answer(200, many))).toHaveLength(1)
  })
})

describe('another contract', () => {
  it('documents headers, media types and statuses of its own', async () => {
    const contract = await loadContract(fileURLToPath(new URL('specs/fuller.yaml', import.meta.url)))
    const rules = await readResponseRules(contract, 'linear')
    const of = (id: string, given: EngineResponse) => violations(contract, rules, id, given)
    const bare = (status: number, headers: Readonly<Record<string, string>>, body: string) => ({
      status,
      headers,
      body,
    })
    expect(of('listCategories', bare(200, JSON_TYPE, '[{"id":9007199254740993,"name":"Dogs"}]'))).toEqual([])
    expect(of('listCategories', bare(200, JSON_TYPE, '[{"id":"1"}]'))).toEqual([expect.stringMatching(/^\[0\]/)])
    expect(of('deletePet', bare(204, {}, ''))).toEqual([])
    expect(of('deletePet', bare(200, {}, ''))).toEqual([expect.stringMatching(/^the status 200 is not documented/)])
  })
})
