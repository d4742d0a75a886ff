import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../src/index.js'
import { handlers } from '../../src/msw/index.js'
import { temporaryFile } from '../support/temporary-files.js'

const BASE_URL = 'https://api.petstore.example:8443/stage*1/v1'
const server = setupServer()
beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterEach(() => server.resetHandlers())
afterAll(() => server.close())

async function behind(options: SandboxOptions, baseUrl = BASE_URL) {
  const sandbox = await createSandbox({ seed: 1, ...options })
  onTestFinished(() => sandbox.close())
  server.use(...handlers(sandbox, { baseUrl }))
  return sandbox
}

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(BASE_URL + path, { ...init, headers: { authorization: 'Bearer sandbox', ...init.headers } })
}

describe('the handlers for MSW', () => {
  it('answer for the service at its address, with its quotas and state', async () => {
    const sandbox = await behind({ limits: '3/min' })
    const headers = { 'content-type': 'application/json' }
    const body = '{"name":"Rex","categoryId":9007199254740993}'
    const added = await ask('/pets', { method: 'POST', headers, body })
    expect([added.status, await added.text()]).toEqual([201, expect.stringContaining('"categoryId":9007199254740993')])
    expect(await (await ask('/pets?limit=1')).text()).toContain('"Rex"')
    expect((await ask('/pets')).headers.get('x-ratelimit-remaining')).toBe('0')
    const refused = await ask('/pets')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await sandbox.conduct()).requests).toBe(4)
  })

  it.each(['', '///'])('accept an address that ends in "%s"', async (end) => {
    await behind({}, BASE_URL + end)
    expect((await ask('/pets/1')).status).toBe(200)
    expect((await ask('')).status).toBe(404)
  })

  it('leave a request to a handler before them, and the rest of a contract of your own to the sandbox', async () => {
    const item = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }
    const content = (schema: object) => ({ content: { 'application/json': { schema } } })
    const ok = (schema: object) => ({ 200: { description: '', ...content(schema) } })
    const paths = {
      '/rooms': {
        get: { responses: ok({ type: 'array', items: item }) },
        post: { requestBody: content({ type: 'object' }), responses: ok(item) },
      },
      '/rooms/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        get: { responses: ok(item) },
      },
    }
    const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths }
    const sandbox = await createSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)) })
    onTestFinished(() => sandbox.close())
    server.use(
      http.get('https://rooms.example/api/rooms/7', () => HttpResponse.json({ id: 7, own: true })),
      ...handlers(sandbox, { baseUrl: 'https://rooms.example/api' }),
    )
    const send = async (path: string, init?: RequestInit) =>
      (await fetch(`https://rooms.example/api${path}`, init)).json()
    const headers = { 'content-type': 'application/json' }
    expect(await send('/rooms', { method: 'POST', headers, body: '{}' })).toEqual({ id: 1 })
    expect([await send('/rooms/1'), await send('/rooms/7')]).toEqual([{ id: 1 }, { id: 7, own: true }])
    expect((await sandbox.conduct()).requests).toBe(2)
  })

  it('ignore other addresses', async () => {
    await behind({})
    await expect(fetch(`${BASE_URL}2/pets`)).rejects.toThrow()
  })

  it.each(['connection-reset', 'empty-response'] as const)('fail like a network: %s', async (fault) => {
    await behind({ fault: `*:${fault}` })
    await expect(ask('/pets')).rejects.toThrow(TypeError)
  })

  it('break off a malformed body', async () => {
    await behind({ fault: '*:malformed-chunk' })
    await expect(ask('/pets').then((response) => response.text())).rejects.toThrow()
  })

  it('let a hanging request hang until the client aborts it', async () => {
    const sandbox = await behind({ fault: '*:hang' })
    const patience = new AbortController()
    const hanging = ask('/pets', { signal: patience.signal })
    const left = expect(hanging).rejects.toThrow('aborted')
    while ((await sandbox.requests()).length === 0) await new Promise(setImmediate)
    patience.abort()
    await left
  })

  it('refuse an invalid address', async () => {
    const sandbox = await createSandbox()
    expect(() => handlers(sandbox, { baseUrl: '/api/v1' })).toThrow(
      'baseUrl "/api/v1": must be the address of the service, for example https://api.petstore.example/v1',
    )
  })
})
