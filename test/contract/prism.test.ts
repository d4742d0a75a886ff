import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ContractEngine, EngineRequest } from '../../src/contract/engine.js'
import { loadContract } from '../../src/contract/load-contract.js'
import { openPrism } from '../../src/contract/prism.js'

function request(method: string, path: string, query = '', body = ''): EngineRequest {
  return { method, path, query, headers: { 'content-type': 'application/json', accept: 'text/html' }, body }
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('mocking an operation without a handler', () => {
  let prism: ContractEngine
  beforeAll(async () => {
    prism = await openPrism(await loadContract(fileURLToPath(new URL('specs/fuller.yaml', import.meta.url))))
  })

  it('returns the example, large numbers digit for digit', async () => {
    expect(await prism.mock(request('GET', '/categories'))).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '[{"id":9007199254740993,"name":"Dogs"}]',
    })
  })

  it('returns another documented media type', async () => {
    expect(await prism.mock(request('GET', '/pets/mine'))).toMatchObject({
      headers: { 'content-type': 'text/plain' },
      body: 'Rex',
    })
  })

  it('returns the same value of the schema each time', async () => {
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
  ])('refuses the query %j and the body %j', async (query, body, word) => {
    const { violations } = { violations: [], ...(await prism.mock(request('PUT', '/pets/1', query, body))) }
    expect(violations).toEqual([expect.stringContaining(word)])
  })

  it('refuses an invalid path', async () => {
    expect(await prism.mock(request('DELETE', '/pets/x'))).toEqual({
      of: 'path',
      violations: [expect.stringContaining('petid')],
    })
  })

  it('writes nothing to the console', async () => {
    const spies = [
      ...(['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => vi.spyOn(console, name)),
      ...[process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write')),
    ]
    await prism.mock(request('PUT', '/pets/1', 'colour=blue', '{}'))
    await prism.mock(request('GET', '/categories'))
    for (const spy of spies) expect(spy).not.toHaveBeenCalled()
  })
})
