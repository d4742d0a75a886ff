import { describe, expect, it } from 'vitest'
import type { Conduct } from '../../src/conduct/conduct-view.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const text = { type: 'string' }
const note = { type: 'object', required: ['id', 'text'], properties: { id: { type: 'integer', readOnly: true }, text } }
const json = (schema: object) => ({ description: '', content: { 'application/json': { schema } } })
const requestBody = { required: true, ...json({ ...note, required: ['text'] }) }
const parameters = [{ name: 'Idempotency-Key', in: 'header', schema: text }]
const none = { description: '' }

function contract(refusals: object = { 422: none }) {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }
  const created = { responses: { 201: json(note), 400: none, ...refusals } }
  return {
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    security: [{ key: [] }],
    paths: {
      '/notes': {
        get: { operationId: 'list', responses: { 200: json({ type: 'array', items: note }) } },
        post: { operationId: 'create', parameters, requestBody, ...created },
      },
      '/plain': { post: { operationId: 'plain', requestBody, responses: { 201: json(note) } } },
      '/notes/{id}': {
        parameters: [id],
        get: { operationId: 'get', responses: { 200: json(note), 404: none } },
        delete: { operationId: 'remove', parameters, responses: { 204: none, 404: none } },
      },
    },
  }
}

async function open(
  [, openSandbox]: (typeof transports)[number],
  options: SandboxOptions = {},
  document: object = contract(),
) {
  const spec = temporaryFile('spec.json', JSON.stringify(document))
  const sandbox = await openSandbox({ spec, strict: true, limits: '100/min', ...options })
  const send = (
    key: string,
    body: unknown = { text: 'a' },
    { path = '/notes', as = 'sandbox', method = 'POST' }: { path?: string; as?: string; method?: string } = {},
  ) => sandbox.call(path, { method, headers: { 'Idempotency-Key': key }, ...(method === 'POST' && { body }), key: as })
  const count = async () => ((await sandbox.get('/notes')).json as unknown[]).length
  const conduct = async () => {
    const { violations, warnings, notes } = (await sandbox.control('GET', '/conduct')).json as unknown as Conduct
    return [...violations, ...warnings, ...notes].map(({ rule }) => rule)
  }
  return { sandbox, send, count, conduct }
}

// @source docs/spec.md, "Idempotency keys"
describe.each(transports)('an Idempotency-Key, %s', (...transport) => {
  it('gives the first response again, and charges quota', async () => {
    const { sandbox, send, count } = await open(transport)
    const first = await send('k')
    expect([first.status, first.reason, first.json]).toEqual([201, undefined, { id: 1, text: 'a' }])
    const again = await send('k')
    expect([again.status, again.reason, again.text]).toEqual([201, 'replay', first.text])
    expect(again.remaining).toBe(first.remaining - 1)
    expect(await count()).toBe(1)
    expect((await sandbox.control('GET', '/requests?reason=replay')).json).toMatchObject([{ operation: 'create' }])
    expect(sandbox.warnings).toEqual([])
  })

  it('belongs to an account, an operation and a path', async () => {
    const { send, count } = await open(transport)
    await send('k')
    expect((await send('k', undefined, { as: 'sandbox-pro' })).reason).toBeUndefined()
    expect((await send('other')).reason).toBeUndefined()
    expect(await count()).toBe(3)
    const remove = (path: string) => send('k', undefined, { path, method: 'DELETE' })
    expect([(await remove('/notes/1')).status, (await remove('/notes/2')).status]).toEqual([204, 204])
    const again = await remove('/notes/1')
    expect([again.status, again.reason, again.text]).toEqual([204, 'replay', ''])
    expect(await count()).toBe(1)
  })

  it('does nothing where the contract does not have it', async () => {
    const { send } = await open(transport, { mock: ['plain'] })
    const sent = [await send('k', undefined, { path: '/plain' }), await send('k', undefined, { path: '/plain' })]
    expect(sent.map(({ reason }) => reason)).toEqual(['mock', 'mock'])
  })

  it('repeats the response of a mocked operation', async () => {
    const { send } = await open(transport, { mock: ['create'] })
    const first = await send('k')
    expect(first.reason).toBe('mock')
    expect(await send('k')).toMatchObject({ reason: 'replay', text: first.text })
  })

  it('is for a body, in whatever form', async () => {
    const { send, count, conduct } = await open(transport)
    await send('k', '{"text":"a","more":{"b":1,"c":2}}')
    expect((await send('k', '{ "more": {"c":2, "b":1}, "text": "a" }')).reason).toBe('replay')
    const other = await send('k', { text: 'b' })
    expect([other.status, other.code]).toEqual([422, 'invalid_request'])
    expect(other.text).toContain('create: the Idempotency-Key was sent before with another body.')
    expect(await count()).toBe(1)
    expect(await conduct()).toContain('invalid-request')
  })

  it.each([
    [{ 409: none }, 409],
    [{ 409: none, 422: none }, 422],
    [{}, 422],
  ])('with another body is refused as documented: %j', async (refusals, status) => {
    const { send } = await open(transport, { strict: false }, contract(refusals))
    await send('k')
    expect((await send('k', { text: 'b' })).status).toBe(status)
  })

  it('counts for a day of the clock', async () => {
    const { sandbox, send, count } = await open(transport, { freeze: true })
    await send('k')
    await sandbox.advance('23h')
    await sandbox.advance('59m')
    expect((await send('k')).reason).toBe('replay')
    await sandbox.advance('1m')
    expect((await send('k')).reason).toBeUndefined()
    expect(await count()).toBe(2)
    // Back to the start: the second one never was.
    await sandbox.control('DELETE', '/overrides?what=clock')
    await sandbox.control('DELETE', '/clock')
    expect((await send('k')).json).toMatchObject({ id: 3 })
  })

  it('is not used up by refusals, forced responses and faults before the action', async () => {
    const { sandbox, send, count } = await open(transport)
    expect((await send('k', {})).status).toBe(400)
    await sandbox.call('/notes', {
      method: 'POST',
      body: { text: 'a' },
      headers: { 'Idempotency-Key': 'k', Prefer: 'code=201' },
    })
    await sandbox.control('PUT', '/faults', ['create:503*1'])
    expect((await send('k')).status).toBe(503)
    expect([(await send('k')).status, await count()]).toEqual([201, 1])
  })

  it('makes a repeated write safe after its response was lost', async () => {
    const { sandbox, send, count, conduct } = await open(transport, { fault: 'create:503,after*1' })
    expect((await send('k')).status).toBe(503)
    await sandbox.advance('5s')
    expect(await send('k')).toMatchObject({ status: 201, reason: 'replay', json: { id: 1 } })
    expect(await count()).toBe(1)
    expect(await conduct()).toEqual([])
    await sandbox.control('PUT', '/faults', ['create:503,after*1'])
    await send('one')
    await sandbox.advance('5s')
    await send('another')
    expect(await conduct()).toEqual([expect.stringMatching(/^repeated-write/)])
  })

  it('follows undo, snapshots, copies and resets', async () => {
    const { sandbox, send, count } = await open(transport)
    await sandbox.control('PUT', '/snapshots/before')
    await send('k')
    await sandbox.control('PUT', '/snapshots/after')
    await sandbox.control('POST', '/snapshots/before/restore')
    expect((await send('k', { text: 'b' })).status).toBe(201)
    await sandbox.control('POST', '/snapshots/after/restore')
    expect(await send('k')).toMatchObject({ reason: 'replay', json: { text: 'a' } })
    await sandbox.control('POST', '/spaces/~/copy?space=copy')
    const inCopy = await send('k', undefined, { path: '/~copy/notes' })
    expect([inCopy.status, inCopy.reason]).toEqual([201, 'replay'])
    await sandbox.control('POST', '/reset')
    expect([(await send('k', { text: 'c' })).reason, await count()]).toEqual([undefined, 1])
    await sandbox.control('POST', '/undo')
    expect(await send('k')).toMatchObject({ reason: 'replay', json: { text: 'a' } })
  })

  it('is forgotten with a key that is removed', async () => {
    const { sandbox, send, count } = await open(transport)
    await sandbox.control('POST', '/keys', { key: 'mine' })
    await send('k', undefined, { as: 'mine' })
    await sandbox.control('DELETE', '/keys/mine')
    await sandbox.control('POST', '/keys', { key: 'mine' })
    expect((await send('k', undefined, { as: 'mine' })).reason).toBeUndefined()
    expect(await count()).toBe(2)
  })

  it('counts against --max-store: the oldest responses make room', async () => {
    const { sandbox, send, count } = await open(transport, { maxStore: '64KiB', mock: ['create'], rateLimit: false })
    const long = (letter: string) => ({ text: letter.repeat(4) })
    for (let i = 0; i < 250; i++) await send(`key-${i}-${'k'.repeat(300)}`, long('a'))
    expect((await send(`key-249-${'k'.repeat(300)}`, long('a'))).reason).toBe('replay')
    expect((await send(`key-0-${'k'.repeat(300)}`, long('a'))).reason).toBe('mock')
    expect(await count()).toBe(0)
    expect(sandbox.warnings).toEqual([expect.stringContaining('The memory of the spaces is full')])
  })
})

// @source docs/spec.md, "Entity tags"
describe.each(transports)('a condition that an operation does not check, %s', (...transport) => {
  it('is a note in conduct', async () => {
    const { sandbox, conduct } = await open(transport)
    await sandbox.post('/notes', { text: 'a' })
    await sandbox.call('/notes/1', { method: 'DELETE', headers: { 'If-Match': '"1"' } })
    const { notes } = (await sandbox.control('GET', '/conduct')).json as unknown as Conduct
    expect(notes).toMatchObject([
      { rule: 'ignored-parameter', message: 'remove does not check the header "If-Match"; it is ignored.' },
    ])
    expect(await conduct()).toEqual(['ignored-parameter'])
  })
})
