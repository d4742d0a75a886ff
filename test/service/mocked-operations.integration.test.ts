import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { temporaryFile } from '../support/temporary-files.js'
import { shared, transports } from '../support/transports.js'

const spec = join(packageDirectory, 'test/contract/specs/mocked.yaml')
const session = { cookie: 'a=1; session=x' }

describe.each(transports)('a mocked operation, %s', (_name, openSandbox) => {
  const open = shared(openSandbox, { spec, limits: '10000/min', mock: ['listThings', 'addThing', 'removeThing'] })

  it('is marked as mocked also in the log, has each header once, and is listed in the state with the reason', async () => {
    const sandbox = await open()
    const { headers, reason } = await sandbox.get('/things')
    // The contract has no date of deprecation, and the "true" of Prism is not RFC 9745's.
    const expected = ['3', 'Tue, 01 Jan 2030 00:00:00 GMT', null]
    expect(['x-version', 'sunset', 'deprecation'].map((name) => headers.get(name))).toEqual(expected)
    expect(reason).toBe('mock')
    const logged = expect.objectContaining({ operation: 'listThings', reason: 'mock' })
    expect((await sandbox.control('GET', '/requests?reason=mock')).json).toContainEqual(logged)
    expect((await sandbox.control('GET', '/state')).json.operations).toEqual({
      stateful: [],
      mocked: [
        { operation: 'listThings', reason: '--mock' },
        { operation: 'addThing', reason: '--mock' },
        { operation: 'removeThing', reason: '--mock' },
      ],
    })
  })

  it('is behind the same keys, quotas and switches, and keeps no state', async () => {
    const sandbox = await open()
    await sandbox.control('PATCH', '/settings?space=a', { limits: '3/min' })
    await sandbox.control('PUT', '/faults?space=a', ['listThings:503*1'])
    expect(await sandbox.get('/things', null)).toMatchObject({ status: 401 })
    expect(await sandbox.get('/things', 'sandbox~a')).toMatchObject({ status: 503, reason: 'fault', remaining: 3 })
    const mocked = await sandbox.get('/things', 'sandbox~a')
    expect(mocked).toMatchObject({ status: 200, remaining: 2, json: [1] })
    expect(await sandbox.post('/things', {}, 'sandbox~a')).toMatchObject({ status: 201, remaining: 1 })
    expect(await sandbox.get('/things', 'sandbox~a')).toMatchObject({ remaining: 0, text: mocked.text })
    expect(await sandbox.get('/things', 'sandbox~a')).toMatchObject({ status: 429, reason: 'quota-minute' })
  })

  it('returns 204 without Content-Length', async () => {
    const seen = await (await open()).call('/v1/things/7', { method: 'DELETE', headers: session })
    expect([seen.status, seen.headers.get('content-length')]).toEqual([204, null])
  })

  it('rejects a body with a Content-Encoding', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
    const seen = await (await open()).call('/v1/things', { method: 'POST', body: '{}', headers })
    expect(seen).toMatchObject({ status: 415, json: { why: expect.stringContaining('Content-Encoding') } })
  })

  it('requires the cookies of the contract', async () => {
    const seen = await (await open()).call('/v1/things/7', { method: 'DELETE', headers: { cookie: 'other=1' } })
    expect(seen).toMatchObject({ status: 400, text: expect.stringContaining('session') })
  })

  it.each([
    [201, '{"id":7}', '/things/7'],
    [409, '{"taken":true}', null],
    [418, '{"why":"because"}', null],
  ])('returns the documented body and headers for Prefer: code=%s', async (code, text, location) => {
    const seen = await (await open()).call('/v1/things', { method: 'POST', headers: { prefer: `code=${code}` } })
    expect([seen.status, seen.text, seen.reason]).toEqual([code, text, 'forced'])
    expect([seen.headers.get('location'), seen.headers.get('preference-applied')]).toEqual([location, `code=${code}`])
  })

  it('validates int64 and the bounds of arrays exactly', async () => {
    const sandbox = await open()
    const most = '9223372036854775807'
    const over = '9223372036854775808'
    const statuses = async (targets: readonly string[]) =>
      Promise.all(targets.map(async (target) => (await sandbox.get(`/things?${target}`)).status))
    const good = [`after=${most}`, `ids=1&ids=${most}`, 'ids=1', '', 'filter[a]=b', 'after=-9223372036854775808']
    expect(await statuses(good)).toEqual(good.map(() => 200))
    const bad = [`after=${over}`, `ids=${over}`, 'ids=1&ids=2&ids=3', 'after=-9223372036854775809']
    expect(await statuses(bad)).toEqual(bad.map(() => 400))
    expect(await sandbox.post('/things', `{"big":${most}}`)).toMatchObject({ status: 201 })
    expect(await sandbox.post('/things', `{"big":${over}}`)).toMatchObject({
      status: 400,
      json: { why: expect.stringContaining('big must be') },
    })
    const remove = (id: string) => sandbox.call(`/v1/things/${id}`, { method: 'DELETE', headers: session })
    expect([(await remove(most)).status, (await remove(over)).status]).toEqual([204, 404])
  })
})

it('is a 404 below a record that does not exist', async () => {
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }
  const content = (one: object) => ({ content: { 'application/json': { schema: one } } })
  const ok = (one: object) => ({ 200: { description: '', ...content(one) } })
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }]
  const photo = { 'image/png': { schema: { type: 'string', format: 'binary' } } }
  const url = { type: 'object', required: ['url'], properties: { url: { type: 'string' } } }
  const paths = {
    '/rooms': {
      get: { responses: ok({ type: 'array', items: schema }) },
      post: { requestBody: content({ type: 'object', properties: schema.properties }), responses: ok(schema) },
    },
    '/rooms/{id}': { parameters, get: { responses: ok(schema) } },
    '/rooms/{id}/photo': { parameters, post: { requestBody: { content: photo }, responses: ok(url) } },
  }
  const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths }
  const [[, openSandbox]] = transports as [(typeof transports)[number]]
  const sandbox = await openSandbox({ spec: temporaryFile('openapi.json', JSON.stringify(document)) })
  await sandbox.post('/rooms', {})
  const upload = (id: number) =>
    sandbox.call(`/rooms/${id}/photo`, { method: 'POST', body: 'PNG', headers: { 'content-type': 'image/png' } })
  expect(await upload(1)).toMatchObject({ status: 200, reason: 'mock' })
  expect(await upload(2)).toMatchObject({ status: 404, code: 'not_found' })
})
