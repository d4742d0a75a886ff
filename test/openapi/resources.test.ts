import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { rootPlace } from '../../src/contract/document.js'
import { parseDocument } from '../../src/contract/parse-document.js'
import type { ResourceAction } from '../../src/contract/resource-data.js'
import { toNormalForm } from '../../src/openapi/normal-form.js'
import { readOperations } from '../../src/openapi/operations.js'
import { readContractText } from '../../src/openapi/read-text.js'
import { readResources } from '../../src/openapi/resources.js'

async function resourcesOf(text: string) {
  const { document } = await toNormalForm(parseDocument('openapi.yaml', text))
  const root = rootPlace(document)
  const { outcomes, resources } = readResources(readOperations(root))
  const isMocked = ([, outcome]: readonly [string, unknown]) => typeof outcome === 'string'
  return {
    resources,
    actions: Object.fromEntries([...outcomes].filter((one) => !isMocked(one))) as Record<string, ResourceAction>,
    mocked: Object.fromEntries([...outcomes].filter(isMocked)) as Record<string, string>,
  }
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
      ['toys', [{ parameter: 'ownerId', resource: 'owners', field: 'ownerId', isInteger: true }]],
    ])
    const ofThings = paths.replaceAll('ownerId', 'id').replaceAll('{ type: object }', ref('Thing'))
    const { resources: toys } = await resourcesOf(contract(ofThings))
    expect(toys[1]?.parents).toEqual([{ parameter: 'id', resource: 'owners', field: 'ownerId', isInteger: true }])
  })

  it('have different names if only parameters distinguish their paths', async () => {
    const things = `${list()}, ${create}`
    const nested = things.replaceAll('operationId: ', 'operationId: nested_')
    const { resources } = await resourcesOf(contract(`/things: { ${things} }, '/{kind}/things': { ${nested} }`))
    expect(resources.map(({ name }) => name)).toEqual(['things', '{kind}/things'])
  })

  it('have the shortest name by which the contract has no other', async () => {
    const paths = ['/v1/pets', '/v1/shops/pets', '/v2/{kind}/shops', '/constructor', '/__proto__', '/a/$sandbox']
    const things = (index: number) => `${list()}, ${create}`.replaceAll('operationId: ', `operationId: o${index}_`)
    const { resources } = await resourcesOf(
      contract(paths.map((path, index) => `'${path}': { ${things(index)} }`).join(', ')),
    )
    expect(resources.map(({ name }) => name)).toEqual([
      'v1/pets',
      'shops/pets',
      'shops',
      'constructor',
      '__proto__',
      'a/$sandbox',
    ])
    const { mocked } = await resourcesOf(contract(`/$sandbox: { ${list()}, ${create} }`))
    expect(mocked.list).toBe('the sandbox keeps its own data under the name "$sandbox"')
  })

  it('must differ by more than the names of parameters', async () => {
    const things = `${list()}, ${create}`
    const other = things.replaceAll('operationId: ', 'operationId: other_')
    const twins = contract(`'/shops/{id}/things': { ${things} }, '/shops/{name}/things': { ${other} }`)
    await expect(resourcesOf(twins)).rejects.toThrow(
      'paths./shops/{name}/things is the same path as paths./shops/{id}/things',
    )
  })

  it.each([
    ['the path parameter', '{ownerId}', 'name: { type: string }', ['ownerId']],
    ['the parent, if the parameter is id', '{id}', 'name: { type: string }', ['ownerId']],
    ['the parent, if another property has the name', '{key}', 'key: { type: boolean }', ['ownerId']],
    ['$parent, if both names are taken', '{key}', 'key: { type: boolean }, ownerId: { type: boolean }', ['$parent']],
    ['the property that has it, in any case', '{ownerId}', 'owner_id: { type: integer }', ['owner_id', 'owner_id']],
    ['the property named as the parent', '{id}', 'ownerId: { type: integer }', ['ownerId', 'ownerId']],
  ])('name the field of a parent by %s', async (_what, parameter, property, [field, own]) => {
    const toy = `{ type: object, properties: { id: { type: integer }, ${property} } }`
    const parameters = `parameters: [{ name: '${parameter.slice(1, -1)}', in: path, required: true, schema: { type: integer } }]`
    const paths = `'/owners/${parameter}/toys': { ${parameters},
      post: { operationId: add, requestBody: { ${json(toy)} }, ${ok(201, toy)} },
      get: { operationId: toys, ${ok(200, `{ type: array, items: ${toy} }`)} } }`
    const { resources } = await resourcesOf(contract(paths))
    expect(resources[0]?.parents).toMatchObject([{ field, ...(own && { property: own }) }])
    expect(Object.hasOwn(resources[0]?.parents[0] ?? {}, 'property')).toBe(own !== undefined)
  })

  it('are mocked if the path takes a UUID and the client chooses any text', async () => {
    const schema = '{ type: object, required: [code], properties: { code: { type: string } } }'
    const parameter = '{ name: code, in: path, required: true, schema: { type: string, format: uuid } }'
    const paths = `/units: { post: { operationId: create, requestBody: { ${json(schema)} }, ${ok(201, schema)} } },
      '/units/{code}': { get: { operationId: get, parameters: [${parameter}], ${ok(200, schema)} } }`
    const { mocked } = await resourcesOf(contract(paths))
    expect(mocked.get).toBe(
      'the path takes a UUID, but "code" may be any text (paths./units/{code}.get.parameters[0].schema)',
    )
  })

  it('have errors of a documented range, with a code of any type', async () => {
    const error =
      '{ type: object, required: [code, message], properties: { code: { type: integer }, message: { type: string } } }'
    const failing = list().replace('responses: {', `responses: { 4XX: { description: no, ${json(error)} },`)
    const { operations } = await readContractText(contract(`/things: { ${failing}, ${create} }`), {
      name: 'openapi.yaml',
    })
    expect(operations.find(({ id }) => id === 'list')?.errors).toEqual([
      { status: '4xx', contentType: 'application/json', body: '{"code":"{status}","message":"{message}"}' },
    ])
  })

  it('fill a nullable property whose alternatives are objects with an object', async () => {
    const check = '{ type: object, required: [state], properties: { state: { type: string, enum: [open] } } }'
    const other = '{ type: object, required: [until], properties: { until: { type: integer } } }'
    const field = `{ type: object, nullable: true, oneOf: [${check}, ${other}] }`
    const schema = `{ type: object, required: [id, check], properties: { id: { type: integer }, check: ${field} } }`
    const paths = `/things: { post: { operationId: create, requestBody: { ${json('{ type: object }')} }, ${ok(201, schema)} },
      get: { operationId: list, ${ok(200, `{ type: array, items: ${schema} }`)} } }`
    const { resources } = await resourcesOf(contract(paths))
    expect(resources[0]?.properties.check?.fill).toMatchObject({ kind: 'value', value: { state: 'open' } })
  })

  it('do not have their callbacks called, which a note says', async () => {
    const calling = create.replace('operationId: create', 'operationId: create, callbacks: { done: {} }')
    const { notes } = await readContractText(contract(`/things: { ${list()}, ${calling} }`), { name: 'openapi.yaml' })
    expect(notes).toEqual(['The sandbox does not call the callbacks of create.'])
  })

  it('have methods of OpenAPI 3.2 that are not served, which a note says', async () => {
    const responses = ok(200, ref('Things'))
    const methods = `query: { ${responses} }, additionalOperations: { COPY: { ${responses} } }`
    const document = contract(`/things: { ${list()}, ${create}, ${methods} }`).replace('3.1.0', '3.2.0')
    const { notes } = await readContractText(document, { name: 'openapi.yaml' })
    expect(notes).toEqual([
      'The sandbox does not serve QUERY /things, COPY /things: it has the methods of OpenAPI 3.1.',
    ])
  })

  it('that no operation reads are mocked', async () => {
    const { mocked } = await resourcesOf(contract(`/things: { ${create} }`))
    expect(mocked).toEqual({ create: 'no operation reads its records (paths./things)' })
  })

  it('are turned off by x-sandbox-resource', async () => {
    const { mocked } = await resourcesOf(contract(`/things: { x-sandbox-resource: false, ${list()}, ${create} }`))
    const reason = 'x-sandbox-resource is false (paths./things)'
    expect(mocked).toEqual({ list: reason, create: reason })
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

  it('that nothing adds to has the records of its example, or one made for its schema', async () => {
    const example = `get: { operationId: list, responses: { '200': { description: ok, content: { application/json: { schema: ${ref('Things')}, example: [{ id: 7 }] } } } } }`
    const { resources } = await resourcesOf(contract(`/things: { ${example} }`))
    expect(resources).toMatchObject([{ name: 'things', examples: [{ id: 7 }] }])
    const listed = await resourcesOf(contract(`/things: { ${list()} }`))
    expect(listed.resources).toMatchObject([{ name: 'things', isFixed: true, examples: [{ id: 1, name: 'string' }] }])
    expect(listed.actions.list).toMatchObject({ kind: 'list' })
  })

  it.each([
    [
      'records without an id',
      `/things: { ${list('{ type: array, items: { type: object, required: [count], properties: { count: { type: integer } } } }')} }`,
      /identifies it/,
    ],
    [
      'records that nothing identifies',
      `'/things/{thing}': { ${list('{ type: object }')} }`,
      /no property identifies them/,
    ],
    ['a search', `/things/search: { ${list()} }`, /is a search/],
    [
      'a list with a required query',
      `/things: { ${list(ref('Things'), '{ in: query, name: near, required: true, schema: { type: string } }')} }`,
      /is a search/,
    ],
    ['one object', `/stats: { ${list(ref('Thing'))} }`, /GET returns one object/],
    ['records of an unknown parent', `'/{shop}/things': { ${list()} }`, /belong to records that are not stored/],
    [
      'a collection whose POST takes no record, and does not say that it makes one',
      `/things: { ${list()}, post: { operationId: run, ${ok(200, ref('Thing'))} } }`,
      /its POST cannot create its records/,
    ],
  ])('of %s is mocked', async (_what, paths, reason) => {
    const { resources, mocked } = await resourcesOf(contract(paths))
    expect(resources).toEqual([])
    expect(mocked.list).toMatch(reason)
  })
})

describe('contracts of others', () => {
  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
    [
      'swagger-petstore',
      {
        pet: 'updatePet replace, addPet create, getPetById get, deletePet remove, findPetsByStatus list, findPetsByTags list',
        order: 'placeOrder create, getOrderById get, deleteOrder remove',
        user: 'createUser create, getUserByName get, updateUser replace, deleteUser remove, createUsersWithListInput create',
      },
      {
        'no property of the record identifies it, and neither Location nor another response has its id': 'uploadFile',
        'GET returns one object, and no PUT or PATCH takes its properties': 'getInventory',
        'no response describes a record as a JSON object': 'loginUser, logoutUser',
        'the request has no JSON object': 'updatePetWithForm',
      },
    ],
    [
      'conduit',
      {
        profiles: 'GetProfile get',
        articles:
          'CreateArticleFavorite show, GetArticles list, CreateArticle create, GetArticle get, UpdateArticle replace, DeleteArticle remove',
        comments: 'GetArticleComments list, CreateArticleComment create, DeleteArticleComment remove',
      },
      {
        'no property of the record identifies it, and neither Location nor another response has its id': 'Login',
        'GET returns one object, and no PUT or PATCH takes its properties':
          'GetCurrentUser, UpdateCurrentUser, GetTags',
      },
    ],
    [
      'webhooks',
      {
        app: 'v1.application.list list, v1.application.create create, v1.application.get get, v1.application.update replace, v1.application.delete remove, v1.application.patch merge',
        endpoint:
          'v1.endpoint.list list, v1.endpoint.create create, v1.endpoint.get get, v1.endpoint.update replace, v1.endpoint.delete remove',
      },
      {
        'GET returns one object, and no PUT or PATCH takes its properties': 'v1.endpoint.get-secret',
        'no response describes a record as a JSON object': 'v1.health.get, HEAD/api/v1/health',
      },
    ],
    [
      'scheduler',
      {
        pools: 'get_pools list, post_pool create, get_pool get, delete_pool remove, patch_pool merge',
        dagRuns:
          'get_dag_runs list, trigger_dag_run create, get_dag_run get, delete_dag_run remove, patch_dag_run merge',
      },
      {
        'GET returns one object, and no PUT or PATCH takes its properties': 'get_version',
        'the request has no property of the record': 'bulk_pools',
        'no operation reads its records': 'clear_dag_run',
      },
    ],
    [
      'tasks',
      {
        projects: 'getProjects list, createProject create, getProject get, updateProject replace, deleteProject remove',
        tags: 'getTags list, createTag create',
      },
      { 'the request has no property of the record': 'duplicateProject' },
    ],
    [
      'assistants',
      {
        assistants:
          'listAssistants list, createAssistant create, getAssistant get, modifyAssistant merge, deleteAssistant remove',
      },
      {
        'no response describes a record as a JSON object': 'downloadFile',
        'the response is not JSON': 'createSpeech',
      },
    ],
  ])('%s: stateful operations, and mocked operations with the reason', async (name, stateful, mocked) => {
    const text = readFileSync(fileURLToPath(new URL(`../contract/specs/${name}.yaml`, import.meta.url)), 'utf8')
    const reading = await resourcesOf(text)
    const actions = Object.entries(reading.actions).map(([id, { resource, kind }]) => [resource, `${id} ${kind}`])
    expect(reading.resources.map((resource) => resource.name)).toEqual(Object.keys(stateful))
    expect(grouped(actions)).toEqual(stateful)
    const bare = (reason: string) => reason.replace(/ \([^ ]*\)$/, '')
    expect(grouped(Object.entries(reading.mocked).map(([id, reason]) => [bare(reason), id]))).toEqual(mocked)
  })
})

function grouped(pairs: readonly (readonly string[])[]): Readonly<Record<string, string>> {
  const groups: Record<string, string> = {}
  for (const [key = '', value = ''] of pairs)
    groups[key] = Object.hasOwn(groups, key) ? `${groups[key]}, ${value}` : value
  return groups
}

describe('a contract that cannot be kept', () => {
  const item = (schema: string) =>
    `/things: { ${create} }, '/things/{thingId}': { get: { operationId: get, ${ok(200, schema)} } }`
  const having = (properties: string, more = '') => item(`{ type: object, ${more}properties: { ${properties} } }`)

  it.each([
    ['an id that is an object', having('id: { type: object }')],
    [
      'a required property without a value',
      having('id: { type: integer }, code: { type: string, pattern: "x^" }', 'required: [code], '),
    ],
    ['an id that the sandbox cannot make', having('id: { type: string, pattern: "^[A-F]-[A-F]$" }')],
    ['an integer id that begins above 1', having('id: { type: integer, minimum: 1000 }, name: { type: string }')],
    ['a property that JavaScript objects have', having('id: { type: integer }, constructor: { type: string }')],
    ['a map of texts', item('{ type: object, additionalProperties: { type: string } }')],
    ['a schema that is made of itself', item('{ allOf: [{ $ref: "#/components/schemas/Loop" }] }')],
  ])('is mocked with a reason: %s', async (_what, paths) => {
    const loop = '\n    Loop: { allOf: [{ $ref: "#/components/schemas/Loop" }] }'
    const reading = await resourcesOf(contract(paths) + loop)
    expect(Object.keys(reading.mocked)).toContain('get')
    expect(reading.mocked.get).toMatch(/\bids?\b|fill|record|property/)
  })

  it.each([
    [
      'a type that JSON does not have, in a response',
      `/things: { ${create}, ${list('{ type: array, items: { type: object, properties: { id: { type: integer }, at: { type: date } } } }')} }`,
      'schema.items.properties.at has "type", which must be a type of JSON',
    ],
    [
      'an empty enum',
      `/things: { ${list()}, ${create.replace(ref('Thing'), '{ type: object, properties: { name: { enum: [] } } }')} }`,
      'schema.properties.name has "enum", which must be a list with at least one value',
    ],
  ])('is refused at its place: %s', async (_what, paths, problem) => {
    await expect(readContractText(contract(paths), { name: 'openapi.yaml' })).rejects.toThrow(problem)
  })

  it('drops what a schema says about itself', async () => {
    const text = contract(`/things: { ${create}, ${list()} }`).replace(
      /Thing: \{.*\} \}$/m,
      `Thing: { allOf: [${ref('Other')}, { type: object, required: [name], properties: { name: { type: string } } }] }
    Other: { allOf: [${ref('Thing')}], anyOf: [${ref('Thing')}], properties: { id: { type: integer } } }`,
    )
    const { operations, rules } = await readContractText(text, { name: 'openapi.yaml' })
    const messages = (body: object) =>
      operations
        .find(({ id }) => id === 'create')
        ?.checkBody({ ...body })
        .map(({ message }) => message)
    expect([messages({ name: 'a' }), messages({ id: 'x' })]).toEqual([
      [],
      [expect.stringMatching('id must be a whole number'), 'name is required'],
    ])
    expect(rules?.get('things')?.findViolations({ id: 1, name: 'a' })).toEqual([])
  })

  it('has a note without operations, and for an operation that no request reaches', async () => {
    const none = await readContractText(contract(''), { name: 'openapi.yaml' })
    expect(none.notes).toEqual([expect.stringContaining('has no operations')])
    const get = (id: string) => `get: { operationId: ${id}, ${ok(200, ref('Thing'))} }`
    const gone = `delete: { operationId: remove, responses: { '204': { description: gone } } }`
    const both = `'/things/{id}': { ${get('one')} }, '/things/{name}': { ${get('other')}, ${gone} }`
    const { notes, route } = await readContractText(contract(both), { name: 'openapi.yaml' })
    expect(notes).toContain('No request reaches other: it has the same path as one.')
    expect([route('GET', '/things/1'), route('DELETE', '/things/1')]).toMatchObject([
      { operation: { id: 'one' } },
      { operation: { id: 'remove' }, captured: ['1'] },
    ])
  })

  it('has records with records in them', async () => {
    const tree =
      '{ type: object, required: [id], properties: { id: { type: integer }, children: { type: array, items: { $ref: "#/components/schemas/Thing" } } } }'
    const text = contract(`/things: { ${create}, ${list()} }`).replace(/Thing: \{.*\} \}$/m, `Thing: ${tree}`)
    const { resources } = await readContractText(text, { name: 'openapi.yaml' })
    expect(resources.map(({ name }) => name)).toEqual(['things'])
  })
})

it('two thousand resources are read in one pass', async () => {
  const paths = Array.from({ length: 2000 }, (_, n) => `/things${n}: { ${create}, ${list()} }`)
  const operations = readOperations(rootPlace(await parseDocument('openapi.yaml', contract(paths.join(', ')))))
  let looks = 0
  const counted = new Proxy(operations, {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks++
      return Reflect.get(target, key)
    },
  })
  readResources(counted)
  expect(looks).toBe(operations.length)
})
