import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadContract } from '../../src/contract/load-contract.js'
import { openPrismThread } from '../../src/contract/prism-thread.js'
import { temporaryFile } from '../support/temporary-files.js'

const FULLER = fileURLToPath(new URL('specs/fuller.yaml', import.meta.url))
const JSON_TYPE = { 'content-type': 'application/json' }

async function engineOf(file: string, patience?: number) {
  const engine = openPrismThread(await loadContract(file), patience)
  onTestFinished(() => engine.close())
  return engine
}

/** A contract of one operation whose body is held to a pattern without end. */
function catastrophic(): string {
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
  const content = { 'application/json': { schema } }
  const paths = {
    '/a': { post: { operationId: 'a', requestBody: { content }, responses: { 204: { description: 'd' } } } },
  }
  return temporaryFile('contract.json', JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths }))
}

/** An operation whose schema takes exponential time to prepare, beside one that is prepared at once. */
function exponential(): string {
  const level = (below: string) => ({ properties: { a: { $ref: below }, b: { $ref: below } } })
  const levels = Array.from({ length: 30 }, (_, index) => [
    `L${index}`,
    { type: 'object', ...level(`#/components/schemas/L${index + 1}`) },
  ])
  const schemas = { ...Object.fromEntries(levels), L30: { type: 'string' } }
  const responds = (schema: object) => ({ responses: { 200: { description: 'd', ...jsonContent(schema) } } })
  const paths = {
    '/hard': { get: { operationId: 'hard', ...responds({ $ref: '#/components/schemas/L0' }) } },
    '/easy': { get: { operationId: 'easy', ...responds({ type: 'string', example: 'x' }) } },
  }
  const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths, components: { schemas } }
  return temporaryFile('contract.json', JSON.stringify(document))
}

function jsonContent(schema: object) {
  return { content: { 'application/json': { schema } } }
}

describe('Prism in a thread', () => {
  it('responds like Prism, to concurrent requests in order', async () => {
    const engine = await engineOf(FULLER)
    const request = { method: 'GET', path: '/categories', query: '', headers: {}, body: '' }
    const [mocked, refused] = await Promise.all([
      engine.mock(request),
      engine.mock({ ...request, method: 'DELETE', path: '/pets/x' }),
    ])
    expect(mocked).toEqual({ status: 200, headers: JSON_TYPE, body: '[{"id":9007199254740993,"name":"Dogs"}]' })
    expect(refused).toMatchObject({ of: 'path' })
  })

  it('times out on a pattern that never ends, and handles the next request', async () => {
    const engine = await engineOf(catastrophic(), 1500)
    const post = (a: string) =>
      engine.mock({ method: 'POST', path: '/a', query: '', headers: JSON_TYPE, body: JSON.stringify({ a }) })
    expect(await post('aa')).toMatchObject({ status: 204 })
    let turns = 0
    const ticking = setInterval(() => turns++, 1)
    await expect(post(`${'a'.repeat(60)}!`)).rejects.toThrow('it took longer than 1.5 s')
    clearInterval(ticking)
    // Blocked, the loop would have turned once at most.
    expect(turns).toBeGreaterThan(1)
    expect(await post('aa')).toMatchObject({ status: 204 })
  })

  it('mocks other operations while one cannot be prepared in time, and tries that again at each request', async () => {
    const engine = await engineOf(exponential(), 1500)
    const get = (path: string) => engine.mock({ method: 'GET', path, query: '', headers: {}, body: '' })
    await expect(get('/hard')).rejects.toThrow('it took longer than 1.5 s')
    let isTried = false
    const again = get('/hard').catch((error: Error) => {
      isTried = true
      return error
    })
    expect(await get('/easy')).toMatchObject({ status: 200, body: '"x"' })
    expect(await get('/easy')).toMatchObject({ status: 200 })
    expect(isTried).toBe(false)
    expect(await again).toMatchObject({ message: 'it took longer than 1.5 s' })
  })
})
