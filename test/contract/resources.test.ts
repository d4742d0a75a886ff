import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { rootPlace } from '../../src/contract/document.js'
import { parseDocument } from '../../src/contract/parse-document.js'
import { readResources } from '../../src/contract/resources.js'

async function resourcesOf(text: string) {
  return readResources(rootPlace(await parseDocument('openapi.yaml', text)))
}

/** A contract of these paths, in YAML's flow style. */
function contract(paths: string): string {
  return `openapi: 3.1.0
info: { title: t, version: '1' }
paths: { ${paths} }
components:
  schemas:
    Thing: { type: object, required: [id], properties: { id: { type: integer }, name: { type: string } } }
    Things: { type: array, items: { $ref: '#/components/schemas/Thing' } }`
}

const json = (schema: string) => `content: { application/json: { schema: ${schema} } }`
const ref = (name: string) => `{ $ref: '#/components/schemas/${name}' }`
const ok = (status: number, schema: string) => `responses: { '${status}': { description: ok, ${json(schema)} } }`
const create = `post: { operationId: create, requestBody: { ${json(ref('Thing'))} }, ${ok(201, ref('Thing'))} }`
const list = (schema = ref('Things'), parameters = '') =>
  `get: { operationId: list, parameters: [${parameters}], ${ok(200, schema)} }`

describe('a collection and its item', () => {
  it('become a resource with an action for each operation', async () => {
    const item = [
      `get: { operationId: get, ${ok(200, ref('Thing'))} }`,
      `put: { operationId: replace, requestBody: { ${json(ref('Thing'))} }, ${ok(200, ref('Thing'))} }`,
      `patch: { operationId: merge, requestBody: { ${json(ref('Thing'))} }, ${ok(200, ref('Thing'))} }`,
      `delete: { operationId: remove, responses: { '204': { description: gone } } }`,
    ]
    const reading = await resourcesOf(
      contract(`/things: { ${list()}, ${create} }, '/things/{thingId}': { ${item.join(', ')} }`),
    )
    expect(reading.resources).toMatchObject([
      { name: 'things', path: '/things', parents: [], id: { property: 'id', kind: 'integer' } },
    ])
    const kinds = Object.entries(reading.actions).map(([id, { kind, status }]) => [id, kind, status])
    expect(kinds.sort()).toEqual([
      ['create', 'create', 201],
      ['get', 'get', 200],
      ['list', 'list', 200],
      ['merge', 'merge', 200],
      ['remove', 'remove', 204],
      ['replace', 'replace', 200],
    ])
    expect(reading.mocked).toEqual({})
  })

  it.each([
    ['the property named like the path parameter', 'user_id', '{ user_id: { type: string, format: uuid } }', 'uuid'],
    ['id, if no property is named like it', 'key', '{ id: { type: integer } }', 'integer'],
    ['what the client must send', 'username', '{ username: { type: string } }', 'from-client'],
  ])('are identified by %s', async (_what, parameter, properties, kind) => {
    const schema = `{ type: object, properties: ${properties} }`
    const paths = `/users: { post: { operationId: create, requestBody: { ${json(schema)} }, ${ok(201, schema)} } },
      '/users/{${parameter}}': { get: { operationId: get, ${ok(200, schema)} } }`
    const { resources } = await resourcesOf(contract(paths))
    expect(resources[0]?.id.kind).toBe(kind)
  })

  it('belong to their parent', async () => {
    const paths = `/owners: { ${create} }, '/owners/{ownerId}': { get: { operationId: owner, ${ok(200, ref('Thing'))} } },
      '/owners/{ownerId}/toys': { post: { operationId: addToy, requestBody: { ${json('{ type: object }')} }, ${ok(201, '{ type: object }')} },
        get: { operationId: toys, ${ok(200, '{ type: array, items: { type: object } }')} } }`
    const { resources } = await resourcesOf(contract(paths))
    expect(resources.map(({ name, parents }) => [name, parents])).toEqual([
      ['owners', []],
      ['toys', [{ parameter: 'ownerId', resource: 'owners' }]],
    ])
  })

  it('that no operation reads are mocked', async () => {
    const { mocked } = await resourcesOf(contract(`/things: { ${create} }`))
    expect(mocked).toEqual({ create: 'no operation reads its records' })
  })

  it('are turned off by x-sandbox-resource', async () => {
    const { mocked } = await resourcesOf(contract(`/things: { x-sandbox-resource: false, ${list()}, ${create} }`))
    expect(mocked).toEqual({ list: 'x-sandbox-resource is false', create: 'x-sandbox-resource is false' })
  })
})

describe('a list', () => {
  it('has roles for its parameters and the properties beside its records', async () => {
    const envelope = `{ type: object, required: [total], properties: { items: ${ref('Things')}, total: { type: integer }, next_cursor: { type: [string, 'null'] }, has_more: { type: boolean }, note: { type: string } } }`
    const parameters = ['limit', 'after', 'sort', 'name', 'colour']
      .map((name) => `{ in: query, name: ${name}, schema: { type: ${name === 'limit' ? 'integer' : 'string'} } }`)
      .join(', ')
    const { actions } = await resourcesOf(contract(`/things: { ${list(envelope, parameters)}, ${create} }`))
    expect(actions.list).toMatchObject({
      envelope: 'items',
      query: { limit: 'limit', cursor: 'after', sort: 'sort', filters: [['name', 'name']] },
    })
    expect(Object.entries(actions.list?.meta ?? {}).map(([name, { role }]) => [name, role])).toEqual([
      ['total', 'total'],
      ['next_cursor', 'next'],
      ['has_more', 'has-more'],
    ])
  })

  it('of the records of another collection is a view of it', async () => {
    const { resources, actions } = await resourcesOf(
      contract(
        `/things: { ${create}, ${list()} }, /things/mine: { get: { operationId: mine, ${ok(200, ref('Things'))} } }`,
      ),
    )
    expect(resources.map(({ name }) => name)).toEqual(['things'])
    expect(actions.mine).toMatchObject({ resource: 'things', kind: 'list' })
  })

  it('below a record of another resource names the property and the resource of its parent', async () => {
    const text = contract(
      `/owners: { ${create.replace('create', 'createOwner').replaceAll('Thing', 'Owner')} },
       '/owners/{name}': { get: { operationId: getOwner, ${ok(200, ref('Owner'))} } },
       '/owners/{name}/things': { get: { operationId: ofOwner, ${ok(200, ref('Things'))} } },
       /things: { ${create}, ${list()} }`,
    )
    const owner = '    Owner: { type: object, required: [name], properties: { name: { type: string } } }'
    const { actions } = await resourcesOf(`${text}\n${owner}`)
    expect(actions.ofOwner).toMatchObject({
      resource: 'things',
      pathFilters: [{ parameter: 'name', property: 'name', resource: 'owners' }],
    })
  })

  it('has parameters that its path declares', async () => {
    const parameters = `parameters: [{ in: query, name: limit, schema: { type: integer } }, { in: query, name: name, schema: { type: string } }]`
    const { actions } = await resourcesOf(contract(`/things: { ${parameters}, ${list()}, ${create} }`))
    expect(actions.list?.query).toEqual({ limit: 'limit', filters: [['name', 'name']] })
  })

  it('that nothing adds to has the records of its example, or is mocked', async () => {
    const example = `get: { operationId: list, responses: { '200': { description: ok, content: { application/json: { schema: ${ref('Things')}, example: [{ id: 7 }] } } } } }`
    const { resources } = await resourcesOf(contract(`/things: { ${example} }`))
    expect(resources).toMatchObject([{ name: 'things', examples: [{ id: 7 }] }])
    const { mocked } = await resourcesOf(contract(`/things: { ${list()} }`))
    expect(mocked.list).toBe('no operation creates its records, and the list has no example')
  })
})

describe('contracts of others', () => {
  it.each([
    [
      'swagger-petstore.yaml',
      ['pet', 'order', 'user'],
      {
        addPet: 'create',
        updatePet: 'replace',
        findPetsByStatus: 'list',
        getPetById: 'get',
        deletePet: 'remove',
        placeOrder: 'create',
        getUserByName: 'get',
        uploadFile: 'no property of the record identifies it',
        getInventory: 'no response describes a record',
      },
    ],
    [
      'museum.yaml',
      ['special-events'],
      {
        listSpecialEvents: 'list',
        createSpecialEvent: 'create',
        getSpecialEvent: 'get',
        updateSpecialEvent: 'merge',
        deleteSpecialEvent: 'remove',
        buyMuseumTickets: 'no property of the record identifies it',
      },
    ],
  ])('%s: stateful and mocked operations, with the reason', async (file, resources, kinds) => {
    const text = readFileSync(fileURLToPath(new URL(`specs/${file}`, import.meta.url)), 'utf8')
    const reading = await resourcesOf(text)
    expect(reading.resources.map(({ name }) => name)).toEqual(resources)
    const actions = Object.entries(reading.actions).map(([id, { kind }]) => [id, kind])
    expect({ ...reading.mocked, ...Object.fromEntries(actions) }).toMatchObject(kinds)
  })
})
