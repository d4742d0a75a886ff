import { describe, expect, it } from 'vitest'
import { temporaryFile } from '../support/temporary-files.js'
import { type TestSandbox, transports } from '../support/transports.js'

const text = { type: 'string' }
const note = {
  type: 'object',
  required: ['id', 'text'],
  properties: { id: { type: 'integer', readOnly: true }, text, secret: { ...text, writeOnly: true } },
}
const tagged = { headers: { ETag: { required: true, schema: text } } }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const ok = (schema: object, more: object = {}) => ({ description: '', ...json(schema), ...more })
const none = { description: '' }
const requestBody = { required: true, ...json(note) }
const summary = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }

/** @param headers of the responses of GET and PUT @param refusals responses of PUT, PATCH and DELETE beside the success */
function contract(headers: object = tagged, refusals: object = { 404: none, 412: none }) {
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }]
  return {
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    paths: {
      '/notes': {
        get: { operationId: 'list', responses: { 200: ok({ type: 'array', items: note }, headers) } },
        post: { operationId: 'create', requestBody, responses: { 201: ok(note, headers) } },
      },
      '/notes/{id}': {
        parameters,
        get: { operationId: 'get', responses: { 200: ok(note, headers), 404: none } },
        put: { operationId: 'replace', requestBody, responses: { 200: ok(note, headers), ...refusals } },
        patch: {
          operationId: 'merge',
          requestBody: json({ type: 'object', properties: { text } }),
          responses: { 200: ok(summary, headers), ...refusals },
        },
        delete: { operationId: 'remove', responses: { 204: { ...none, ...headers }, ...refusals } },
      },
    },
  }
}

async function open([, openSandbox]: (typeof transports)[number], document: object = contract()) {
  const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(document)), strict: true })
  await sandbox.post('/notes', { text: 'first', secret: 'a' })
  await sandbox.post('/notes', { text: 'second', secret: 'b' })
  return sandbox
}

/** Its records show the author that they refer to. */
function withAuthors() {
  const { paths, ...rest } = contract()
  const integer = { type: 'integer' }
  const author = { type: 'object', required: ['id', 'name'], properties: { id: integer, name: text } }
  const shown = { type: 'object', required: ['id'], properties: { id: integer, text, author } }
  const sent = { type: 'object', properties: { text, author_id: integer } }
  const item = paths['/notes/{id}']
  const named = { type: 'object', properties: { name: text } }
  return {
    ...rest,
    paths: {
      '/authors': {
        get: { operationId: 'listAuthors', responses: { 200: ok({ type: 'array', items: author }) } },
        post: { operationId: 'createAuthor', requestBody: json(named), responses: { 201: ok(author) } },
      },
      '/authors/{id}': {
        parameters: item.parameters,
        get: { operationId: 'getAuthor', responses: { 200: ok(author) } },
        patch: { operationId: 'changeAuthor', requestBody: json(named), responses: { 200: ok(author) } },
      },
      '/notes': { post: { operationId: 'create', requestBody: json(sent), responses: { 201: ok(shown, tagged) } } },
      '/notes/{id}': {
        parameters: item.parameters,
        get: { operationId: 'get', responses: { 200: ok(shown, tagged), 404: none } },
        patch: { operationId: 'merge', requestBody: json(sent), responses: { 200: ok(shown, tagged), 412: none } },
      },
    },
  }
}

async function tagOf(sandbox: TestSandbox, path: string): Promise<string> {
  return (await sandbox.get(path)).headers.get('etag') ?? ''
}

it('the entity tag of a record changes with the records that it shows', async () => {
  const [transport] = transports
  const [, openSandbox] = transport as (typeof transports)[number]
  const sandbox = await openSandbox({ spec: temporaryFile('spec.json', JSON.stringify(withAuthors())), strict: true })
  await sandbox.post('/authors', { name: 'Ann' })
  const created = await sandbox.post('/notes', { text: 'first', author_id: 1 })
  expect(created.json).toMatchObject({ author: { id: 1, name: 'Ann' } })
  const before = await tagOf(sandbox, '/notes/1')
  expect(before).toBe(created.headers.get('etag'))
  await sandbox.call('/authors/1', { method: 'PATCH', body: { name: 'Rob' } })
  const after = await tagOf(sandbox, '/notes/1')
  expect(after).not.toBe(before)
  const patch = async (tag: string) =>
    (await sandbox.call('/notes/1', { method: 'PATCH', body: { text: 'x' }, headers: { 'if-match': tag } })).status
  expect([await patch(before), await patch(after)]).toEqual([412, 200])
})

const write = (method: string, headers: Readonly<Record<string, string>>) => ({
  method,
  headers,
  ...(method === 'DELETE' ? {} : { body: { text: 'changed' } }),
})

// @source docs/spec.md, "Entity tags"
describe.each(transports)('entity tags, %s', (...transport) => {
  it('are in all responses that document them, and change with the record', async () => {
    const sandbox = await open(transport)
    const list = await tagOf(sandbox, '/notes')
    const created = await sandbox.post('/notes', { text: 'third' })
    const tag = created.headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[0-9a-f]{16}"$/)
    expect(await tagOf(sandbox, '/notes/3')).toBe(tag)
    const others = await tagOf(sandbox, '/notes/2')
    const changed = await sandbox.call('/notes/3', write('PATCH', {}))
    expect(changed.json).toEqual({ id: 3 })
    expect(changed.headers.get('etag')).not.toBe(tag)
    expect(await tagOf(sandbox, '/notes/3')).toBe(changed.headers.get('etag'))
    expect(await tagOf(sandbox, '/notes/2')).toBe(others)
    expect(await tagOf(sandbox, '/notes')).not.toBe(list)
    // Back to what it was.
    expect((await sandbox.call('/notes/3', { method: 'PUT', body: { text: 'third' } })).headers.get('etag')).toBe(tag)
    expect((await sandbox.call('/notes/3', { method: 'DELETE' })).headers.get('etag')).toBe(tag)
    expect((await sandbox.get('/notes/3')).headers.get('etag')).toBeNull()
    expect(await tagOf(sandbox, '/notes')).toBe(list)
  })

  it.each(['GET', 'HEAD'])('If-None-Match: %s of what the client has is a 304 without a body', async (method) => {
    const sandbox = await open(transport)
    for (const path of ['/notes/1', '/notes']) {
      const tag = await tagOf(sandbox, path)
      for (const sent of [tag, `W/${tag}`, `"other" , W/"more",${tag}`, '*']) {
        const seen = await sandbox.call(path, { method, headers: { 'if-none-match': sent } })
        expect([seen.status, seen.text, seen.headers.get('etag')], sent).toEqual([304, '', tag])
        expect([seen.headers.get('content-type'), seen.headers.get('content-length')]).toEqual([null, null])
      }
      for (const sent of ['"other"', tag.slice(1, -1), 'W/"other"', '']) {
        const seen = await sandbox.call(path, { method, headers: { 'if-none-match': sent } })
        expect([seen.status, seen.headers.get('etag')], sent).toEqual([200, tag])
      }
      await sandbox.call('/notes/1', { method: 'PATCH', body: { text: path } })
      expect((await sandbox.call(path, { method, headers: { 'if-none-match': tag } })).status).toBe(200)
    }
    expect((await sandbox.call('/notes/9', { headers: { 'if-none-match': '*' } })).status).toBe(404)
    expect(sandbox.warnings).toEqual([])
  })

  it.each(['PUT', 'PATCH', 'DELETE'])(
    '%s with the tag of another version is a 412, and changes nothing',
    async (method) => {
      const sandbox = await open(transport)
      const tag = await tagOf(sandbox, '/notes/1')
      const refused = [
        { 'if-match': '"other"' },
        { 'if-match': `W/${tag}` },
        { 'if-match': await tagOf(sandbox, '/notes/2') },
        { 'if-none-match': tag },
        { 'if-none-match': `W/${tag}` },
        { 'if-none-match': '*' },
        { 'if-match': tag, 'if-none-match': tag },
      ]
      for (const headers of refused) {
        const seen = await sandbox.call('/notes/1', write(method, headers))
        expect([seen.status, seen.code], JSON.stringify(headers)).toEqual([412, 'precondition_failed'])
        expect(await tagOf(sandbox, '/notes/1')).toBe(tag)
      }
      expect((await sandbox.call('/notes/9', write(method, { 'if-match': tag }))).status).toBe(404)
      const seen = await sandbox.call('/notes/1', write(method, { 'if-match': `"other", ${tag}` }))
      expect(seen.status).toBe(method === 'DELETE' ? 204 : 200)
      expect(await tagOf(sandbox, '/notes/1')).not.toBe(tag)
      const again = write(method, { 'if-match': '*', 'if-none-match': tag })
      expect((await sandbox.call('/notes/2', again)).status).toBe(method === 'DELETE' ? 204 : 200)
      expect(sandbox.warnings).toEqual([])
    },
  )

  it('all errors documented as one include the 412', async () => {
    const sandbox = await open(transport, contract(tagged, { default: none }))
    const tag = await tagOf(sandbox, '/notes/1')
    expect((await sandbox.call('/notes/1', write('PUT', { 'if-match': '"other"' }))).status).toBe(412)
    expect(await tagOf(sandbox, '/notes/1')).toBe(tag)
  })

  it('without a documented 412, the headers are ignored', async () => {
    const sandbox = await open(transport, contract(tagged, { 404: none }))
    const tag = await tagOf(sandbox, '/notes/1')
    expect((await sandbox.call('/notes/1', write('PUT', { 'if-match': '"other"' }))).status).toBe(200)
    expect(await tagOf(sandbox, '/notes/1')).not.toBe(tag)
  })

  it('without a documented ETag there is none, and only * is observed', async () => {
    const sandbox = await open(transport, contract({}))
    expect((await sandbox.get('/notes/1')).headers.get('etag')).toBeNull()
    expect((await sandbox.call('/notes/1', { headers: { 'if-none-match': '*' } })).status).toBe(200)
    expect((await sandbox.call('/notes/1', write('PUT', { 'if-match': '"other"' }))).status).toBe(200)
    expect((await sandbox.call('/notes/1', write('PUT', { 'if-none-match': '*' }))).status).toBe(412)
  })

  it('a PUT that may create does so with If-None-Match: *, and replaces with If-Match: * only', async () => {
    const sandbox = await open(transport, contract(tagged, { 201: ok(note, tagged), 412: none }))
    const put = async (headers: Readonly<Record<string, string>>) =>
      (await sandbox.call('/notes/7', write('PUT', headers))).status
    expect(await put({ 'if-match': '*' })).toBe(412)
    expect((await sandbox.get('/notes/7')).status).toBe(404)
    expect(await put({ 'if-none-match': '*' })).toBe(201)
    expect(await put({ 'if-none-match': '*' })).toBe(412)
    expect(await put({ 'if-match': '*' })).toBe(200)
  })
})

it('a write on a record without a condition is a documented 428, also where If-Match is required', async () => {
  const document = contract(tagged, { 404: none, 412: none, 428: none })
  const parameters = [{ name: 'If-Match', in: 'header', required: true, schema: text }]
  Object.assign(document.paths['/notes/{id}'].delete, { parameters })
  const [transport] = transports as [(typeof transports)[number]]
  const sandbox = await open(transport, document)
  const write = async (method: string, id: number, headers: Readonly<Record<string, string>> = {}) =>
    (await sandbox.call(`/notes/${id}`, { method, headers, ...(method !== 'DELETE' && { body: { text: 'x' } }) }))
      .status
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    expect([await write(method, 1), await write(method, 1, { 'if-match': '"other"' })]).toEqual([428, 412])
    expect(await write(method, 1, { 'if-match': '*' })).toBe(method === 'DELETE' ? 204 : 200)
  }
  expect([await write('PUT', 9), (await sandbox.get('/notes/2')).status]).toEqual([404, 200])
})

it.each([true, false])(
  'a record has its tag in a property named so, in lists as well; required: %s',
  async (required) => {
    const { paths, ...rest } = contract()
    const whole = { ...note, required: ['id', ...(required ? ['_etag'] : [])] }
    const document = JSON.stringify({ ...rest, paths }).replaceAll(
      JSON.stringify(note),
      JSON.stringify({ ...whole, properties: { ...note.properties, _etag: { ...text, readOnly: true } } }),
    )
    const [[, openSandbox]] = transports as [(typeof transports)[number]]
    const sandbox = await openSandbox({ spec: temporaryFile('spec.json', document), strict: true })
    const created = await sandbox.post('/notes', { text: 'first', _etag: 'mine' })
    const tag = created.headers.get('etag')
    expect(tag).toMatch(/^".+"$/)
    expect(created.json).toMatchObject({ _etag: tag })
    expect((await sandbox.get('/notes')).json).toEqual([{ id: 1, text: 'first', _etag: tag }])
    const put = await sandbox.call('/notes/1', {
      method: 'PUT',
      body: { text: 'b' },
      headers: { 'if-match': String(tag) },
    })
    expect([put.status, put.headers.get('etag')]).toEqual([200, Object(put.json)._etag])
    expect(put.headers.get('etag')).not.toBe(tag)
  },
)
