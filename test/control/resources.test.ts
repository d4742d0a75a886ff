import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { connectSandbox, createSandbox, startSandbox } from '../../src/index.js'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const GROWN = fileURLToPath(new URL('../contract/specs/grown.yaml', import.meta.url))
const OTHER_PETS = fileURLToPath(new URL('../contract/specs/other-pets.yaml', import.meta.url))

const schema = (text: string) => `content: { application/json: { schema: ${text} } }`
const returns = (status: number, text: string) => `responses: { '${status}': { description: ok, ${schema(text)} } }`
const [OWNER, TOY] = ["{ $ref: '#/components/schemas/Owner' }", "{ $ref: '#/components/schemas/Toy' }"]
const OF_OWNER = '{ name: ownerId, in: path, required: true, schema: { type: integer } }'
const NAME = '{ name: name, in: path, required: true, schema: { type: string } }'

/** Owners, and toys that belong to them. */
const NESTED = `openapi: 3.1.0
info: { title: Nested, version: '1' }
paths:
  /owners:
    get: { operationId: owners, ${returns(200, `{ type: array, items: ${OWNER} }`)} }
    post: { operationId: addOwner, requestBody: { ${schema(OWNER)} }, ${returns(201, OWNER)} }
  /owners/{ownerId}:
    get: { operationId: owner, parameters: [${OF_OWNER}], ${returns(200, OWNER)} }
  /owners/{ownerId}/toys:
    get: { operationId: toys, parameters: [${OF_OWNER}], ${returns(200, `{ type: array, items: ${TOY} }`)} }
    post: { operationId: addToy, parameters: [${OF_OWNER}], requestBody: { ${schema(TOY)} }, ${returns(201, TOY)} }
  /owners/{ownerId}/toys/{name}:
    get: { operationId: toy, parameters: [${OF_OWNER}, ${NAME}], ${returns(200, TOY)} }
components:
  schemas:
    Owner: { type: object, properties: { id: { type: integer }, name: { type: string } } }
    Toy: { type: object, required: [name], properties: { name: { type: string }, colour: { type: string } } }
`

describe.each(transports)('records of a contract of one’s own, %s', (_name, openSandbox) => {
  it('are added as the service adds them, with read-only fields if they are given', async () => {
    const sandbox = await openSandbox({ spec: GROWN, strict: true, freeze: true })
    const { json: dogs } = await sandbox.control('POST', '/resources/categories', { name: 'dogs' })
    expect(dogs).toMatchObject({ id: 1, name: 'dogs', kind: 'small', createdAt: '2026-03-01T12:00:00.000Z' })
    expect((await sandbox.get('/categories/1')).json).toEqual(dogs)
    const past = { id: 7, name: 'cats', createdAt: '2020-01-01T00:00:00.000Z' }
    expect((await sandbox.control('POST', '/resources/categories', past)).json).toMatchObject(past)
    expect((await sandbox.get('/categories/7')).json).toMatchObject(past)
    expect((await sandbox.post('/categories', { name: 'fish' })).json).toMatchObject({ id: 8 })
    expect((await sandbox.control('GET', '/resources')).json).toContainEqual(
      expect.objectContaining({ name: 'categories', records: 3 }),
    )
  })

  it('belong to their parents, whose ids are fields', async () => {
    const sandbox = await openSandbox({ spec: temporaryFile('openapi.yaml', NESTED) })
    const add = (record: object) => sandbox.control('POST', '/resources/toys', record)
    const told = (status: number, text: string) => ({ status, json: { message: expect.stringContaining(text) } })
    expect(await add({ name: 'ball' })).toMatchObject(told(400, 'ownerId'))
    expect((await add({ ownerId: 1, name: 'ball' })).status).toBe(404)
    for (const name of ['Ada', 'Bob']) await sandbox.control('POST', '/resources/owners', { name })
    expect((await add({ ownerId: 1, name: 'ball' })).json).toEqual({ name: 'ball' })
    const { json: resources } = await sandbox.control('GET', '/resources')
    expect(resources).toContainEqual(expect.objectContaining({ name: 'toys', parents: ['ownerId'] }))
    expect((await sandbox.get('/owners/1/toys')).json).toEqual([{ name: 'ball' }])
    expect((await sandbox.control('GET', '/resources/toys')).json).toEqual([{ ownerId: 1, name: 'ball' }])
    expect((await sandbox.control('PATCH', '/resources/toys/ball', { colour: 'red' })).status).toBe(200)
    await sandbox.post('/owners/2/toys', { name: 'ball' })
    expect(await sandbox.control('DELETE', '/resources/toys/ball')).toMatchObject(told(409, '1/ball, 2/ball'))
    expect((await sandbox.control('DELETE', '/resources/toys/2%2Fball')).status).toBe(200)
    expect((await sandbox.get('/owners/2/toys')).json).toEqual([])
    expect((await sandbox.control('DELETE', '/resources/owners/1')).json).toEqual({ removed: 1 })
    expect((await sandbox.control('GET', '/resources/toys')).json).toEqual([])
  })

  it('lose a field by an empty text that the field does not allow', async () => {
    const sandbox = await openSandbox()
    const set = (status: string) => sandbox.control('PATCH', '/resources/pets/1?asText=true', { status })
    expect((await set('sold')).json).toMatchObject({ id: 1, status: 'sold' })
    expect((await set('')).json).not.toHaveProperty('status')
    expect((await set('')).status).toBe(200)
  })
})

describe('the records of a program', () => {
  it('reads and changes records in process, over the network, and in a space', async () => {
    await using embedded = await createSandbox({ spec: GROWN })
    await using started = await startSandbox({ spec: GROWN })
    const remote = await connectSandbox(started.controlUrl)
    for (const controls of [embedded, started, remote, remote.space('own')]) {
      type Category = { readonly id: number; readonly name: string }
      const { records } = controls
      const dogs = await records.add<Category>('categories', { name: 'dogs' })
      expect(await records.set<Category>('categories', dogs.id, { name: 'cats' })).toMatchObject({
        id: dogs.id,
        name: 'cats',
      })
      expect(await records.list('categories', { limit: 1 })).toMatchObject([{ name: 'cats' }])
      await records.remove('categories', dogs.id)
      expect(await records.list('categories')).toEqual([])
      expect((await controls.resources()).map(({ name }) => name)).toContain('categories')
    }
  })

  it('keeps a copy of its input', async () => {
    await using sandbox = await createSandbox({ spec: OTHER_PETS })
    const tags = ['a']
    const { id } = await sandbox.records.add<{ id: number; name: string; tags: string[] }>('pets', {
      name: 'Rex',
      tags,
    })
    tags.push('b')
    expect(await sandbox.records.list('pets', { limit: 1 })).toMatchObject([{ id, tags: ['a'] }])
  })
})
