import { describe, expect, it } from 'vitest'
import { driftingService } from '../client/drifting-service.js'
import { temporaryFile, temporaryFolder } from '../support/temporary-files.js'
import { withoutReplicas } from '../support/transports.js'

const json = (schema: string) => `content: { application/json: { schema: ${schema} } }`
const named = (name: string) => `{ $ref: '#/components/schemas/${name}' }`
const operations = (name: string, list: string) => `    get: { operationId: list${name}, parameters: [
        { name: status, in: query, schema: { type: string } }, { name: page, in: query, schema: { type: integer } },
        { name: limit, in: query, schema: { type: integer } } ], responses: { '200': { description: ok, ${json(list)} } } }
    post: { operationId: create${name}, requestBody: { required: true, ${json(named(name))} },
      responses: { '201': { description: ok, ${json(named(name))} } } }`
const item = (
  name: string,
) => `    get: { operationId: get${name}, responses: { '200': { description: ok, ${json(named(name))} } } }
    patch: { operationId: patch${name}, requestBody: { ${json(named(name))} }, responses: { '200': { description: ok, ${json(named(name))} } } }
    delete: { operationId: delete${name}, responses: { '204': { description: gone } } }`
const SPEC = `openapi: 3.1.0
info: { title: Categories, version: '1' }
paths:
  /categories:
${operations('Category', `{ type: object, required: [items, total], properties: { total: { type: integer }, items: { type: array, items: ${named('Category')} } } }`)}
  /categories/{categoryId}:
    parameters: [{ name: categoryId, in: path, required: true, schema: { type: string, format: uuid } }]
${item('Category')}
  /categories/{categoryId}/notes:
    parameters: [{ name: categoryId, in: path, required: true, schema: { type: string, format: uuid } }]
${operations('Note', `{ type: array, items: ${named('Note')} }`)}
  /categories/{categoryId}/notes/{noteId}:
    parameters:
      - { name: categoryId, in: path, required: true, schema: { type: string, format: uuid } }
      - { name: noteId, in: path, required: true, schema: { type: integer } }
${item('Note')}
components:
  schemas:
    Category: { type: object, properties: { id: { type: string, format: uuid, readOnly: true }, name: { type: string }, status: { type: string } } }
    Note: { type: object, properties: { id: { type: integer, readOnly: true }, text: { type: string }, status: { type: string } } }
`

interface One {
  readonly id: string | number
  readonly name?: string
  readonly text?: string
}

describe.each(withoutReplicas)('any resource in front of a real service, %s', (_name, openSandbox) => {
  const open = async (more: { readonly store?: string; readonly upstreamWrites?: 'refuse' } = {}) => {
    const spec = temporaryFile('openapi.yaml', SPEC)
    const service = await driftingService(undefined, { spec, apiKey: ['real=a-real-key:business'] })
    const real = async (method: string, path: string, body?: object) => {
      const headers = { authorization: 'Bearer a-real-key', 'content-type': 'application/json' }
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      const response = await service.sandbox.fetch(`${service.sandbox.baseUrl}${path}`, init)
      return JSON.parse((await response.text()) || 'null')
    }
    const cats: One = await real('POST', '/categories', { name: 'Cats', status: 'open' })
    const dogs: One = await real('POST', '/categories', { name: 'Dogs', status: 'open' })
    const note: One = await real('POST', `/categories/${cats.id}/notes`, { text: 'purr' })
    const upstreamApiKeyFile = temporaryFile('key', 'a-real-key\n')
    const options = { spec, upstream: service.baseUrl, upstreamApiKeyFile, rateLimit: false, ...more } as const
    const sandbox = await openSandbox(options)
    const list = async (query = '') => {
      const { total, items } = (await sandbox.get(`/categories${query}`)).json as { total: number; items: One[] }
      return { total, names: items.map(({ name }) => name) }
    }
    const notes = async ({ id }: One) =>
      ((await sandbox.get(`/categories/${id}/notes`)).json as One[]).map((one) => one.text)
    return { sandbox, real, service, options, cats, dogs, note, list, notes }
  }
  const patch = { method: 'PATCH' } as const
  const remove = { method: 'DELETE' } as const

  it('a new record is shown first in an envelope, and counted', async () => {
    const { sandbox, list } = await open()
    const { status, json: birds } = await sandbox.post('/categories', { name: 'Birds', status: 'new' })
    expect(status).toBe(201)
    expect(await list()).toEqual({ total: 3, names: ['Birds', 'Dogs', 'Cats'] })
    expect(await list('?status=open')).toEqual({ total: 2, names: ['Dogs', 'Cats'] })
    expect(await list('?limit=2')).toEqual({ total: 3, names: ['Birds', 'Dogs'] })
    expect((await list('?limit=1&page=2')).names).toEqual(['Cats'])
    expect((await sandbox.get(`/categories/${(birds as One).id}`)).json).toEqual(birds)
  })

  it('a record of the service is changed in front of it, and nothing is written there', async () => {
    const { sandbox, cats, list, real, service } = await open()
    const before = service.came.length
    const changed = { id: cats.id, name: 'Felines', status: 'open' }
    const response = await sandbox.call(`/v1/categories/${cats.id}`, { ...patch, body: { name: 'Felines' } })
    expect(response).toMatchObject({ status: 200, json: changed })
    expect((await sandbox.get(`/categories/${cats.id}`)).json).toEqual(changed)
    expect(await list()).toEqual({ total: 2, names: ['Dogs', 'Felines'] })
    expect((await list('?limit=1')).names).toEqual(['Dogs'])
    expect((await list('?limit=1&page=2')).names).toEqual(['Felines'])
    await sandbox.call(`/v1/categories/${cats.id}`, { ...patch, body: { status: 'new' } })
    expect(await list('?status=new')).toEqual({ total: 1, names: ['Felines'] })
    expect(await list('?status=open')).toEqual({ total: 1, names: ['Dogs'] })
    await sandbox.call(`/v1/categories/${cats.id}`, { ...patch, body: { status: 'open' } })
    expect(await real('GET', `/categories/${cats.id}`)).toMatchObject({ name: 'Cats' })
    expect(new Set(service.came.slice(before).map(({ method }) => method))).toEqual(new Set(['GET']))
  })

  it('a record of the service is removed in front of it, with what is nested in it', async () => {
    const { sandbox, cats, dogs, note, list, notes } = await open()
    expect((await sandbox.call(`/v1/categories/${cats.id}`, remove)).status).toBe(204)
    for (const path of ['', '/notes', `/notes/${note.id}`])
      expect((await sandbox.get(`/categories/${cats.id}${path}`)).status, path).toBe(404)
    expect((await sandbox.call(`/v1/categories/${cats.id}`, remove)).status).toBe(404)
    expect(await list()).toEqual({ total: 1, names: ['Dogs'] })
    expect(await notes(dogs)).toEqual([])
    await sandbox.control('POST', '/reset')
    expect(await list()).toEqual({ total: 2, names: ['Dogs', 'Cats'] })
  })

  it('records are nested in those of the service and in new ones', async () => {
    const { sandbox, cats, notes, note } = await open()
    expect((await sandbox.post(`/categories/${cats.id}/notes`, { text: 'meow' })).status).toBe(201)
    expect(await notes(cats)).toEqual(['meow', 'purr'])
    expect(
      (await sandbox.call(`/v1/categories/${cats.id}/notes/${note.id}`, { ...patch, body: { text: 'hiss' } })).status,
    ).toBe(200)
    expect((await notes(cats)).toSorted()).toEqual(['hiss', 'meow'])
    const birds = (await sandbox.post('/categories', { name: 'Birds' })).json as One
    expect(await notes(birds)).toEqual([])
    expect((await sandbox.post(`/categories/${birds.id}/notes`, { text: 'tweet' })).status).toBe(201)
    expect(await notes(birds)).toEqual(['tweet'])
  })

  it('a record or a parent that nobody has is the 404 of the service', async () => {
    const { sandbox } = await open()
    const unknown = '/v1/categories/00000000-0000-4000-8000-000000000000'
    expect((await sandbox.call(unknown, { ...patch, body: { name: 'x' } })).status).toBe(404)
    expect((await sandbox.call(unknown, remove)).status).toBe(404)
    expect((await sandbox.call(`${unknown}/notes`, { method: 'POST', body: { text: 'x' } })).status).toBe(404)
  })

  it('a record of the service is not changed in front of it if writes are refused', async () => {
    const { sandbox, cats } = await open({ upstreamWrites: 'refuse' })
    expect((await sandbox.call(`/v1/categories/${cats.id}`, { ...patch, body: { name: 'x' } })).status).toBe(403)
  })

  it('writes survive a snapshot, and undo takes them back', async () => {
    const { sandbox, cats, dogs, list } = await open()
    await sandbox.call(`/v1/categories/${cats.id}`, remove)
    expect((await sandbox.control('PUT', '/snapshots/one')).status).toBe(200)
    await sandbox.control('POST', '/reset')
    expect((await list()).names).toEqual(['Dogs', 'Cats'])
    expect((await sandbox.control('POST', '/undo')).status).toBe(200)
    expect((await list()).names).toEqual(['Dogs'])
    await sandbox.call(`/v1/categories/${dogs.id}`, remove)
    await sandbox.control('POST', '/snapshots/one/restore')
    expect((await list()).names).toEqual(['Dogs'])
  })

  it('a store keeps changed and removed records', async () => {
    const { sandbox, options, cats, dogs } = await open({ store: `${temporaryFolder()}/store.json` })
    await sandbox.call(`/v1/categories/${cats.id}`, remove)
    await sandbox.call(`/v1/categories/${dogs.id}`, { ...patch, body: { name: 'Hounds' } })
    await sandbox.core.close()
    const { json } = await (await openSandbox(options)).get('/categories')
    expect(json).toMatchObject({ total: 1, items: [{ id: dogs.id, name: 'Hounds' }] })
  })
})
