import { isNode, type Node, type Place } from '../contract/document.js'
import { fits, fullExample } from '../contract/example-value.js'
import { isSingular, literalsOf, plainName, refersTo, singularOf } from '../contract/names.js'
import {
  type IdData,
  type LinkData,
  type ParentData,
  RESERVED_NAME,
  type ResourceAction,
  type ResourceData,
} from '../contract/resource-data.js'
import { mainPart, type RecordField, readRecordFields } from '../contract/schema-fields.js'
import { type CollectionShape, findRecord, isSameSchema } from './evidence.js'
import { sampleId } from './made-ids.js'
import { grouped, type OperationShape, ofCollection, parametersOf, success } from './operations.js'
import { addsWithoutBody, readAction } from './read-action.js'
import { type FoundResource, readResource } from './read-resource.js'
import { listExamples, returnedRecord, unwrapSent } from './record-schema.js'
import { filteredProperty } from './roles.js'
import { withShortNames } from './short-names.js'

export interface ResourceReading {
  readonly resources: readonly ResourceData[]
  /** What each operation does, or why it is mocked, by its id. */
  readonly outcomes: ReadonlyMap<string, ResourceAction | string>
  /** Printed at the start: properties that are not stored as they were sent. */
  readonly notes: readonly string[]
}

export function readResources(operations: readonly OperationShape[]): ResourceReading {
  const outcomes = new Map<string, ResourceAction | string>()
  const collections = readCollections(operations)
  const alone = collections.flatMap((collection) => {
    const read = readResource(collection)
    if (typeof read !== 'string') return [read]
    for (const { id } of collection.operations) outcomes.set(id, read)
    return []
  })
  const found = withShallow(withCreates(alone, collections), collections)
  const { parentsOf, originOf, byDepth } = readOrigins(found)
  const withViews = grouped(found, (foundResource) => originOf.get(foundResource))
  for (const foundResource of found) {
    const origin = originOf.get(foundResource) ?? foundResource
    const operations = withViews.get(origin)?.flatMap((view) => view.operations) ?? []
    const parents = parentsOf.get(foundResource) ?? []
    for (const operation of foundResource.operations) {
      const action = readAction(operation, { ...foundResource, resource: origin.resource, operations })
      const isView = origin !== foundResource && parents.length > 0
      const isShallow = operation.collection !== foundResource.resource.path
      const more = isView ? { pathFilters: parents } : isShallow ? { isShallow } : {}
      outcomes.set(operation.id, typeof action === 'string' ? action : { ...action, ...more })
    }
  }
  const byResource = grouped([...outcomes], ([, one]) => (typeof one === 'string' ? undefined : one.resource))
  const seeds = new Map<string, ResourceData>()
  // Whether records can belong to others depends on these.
  for (const foundResource of byDepth) {
    const own = byResource.get(foundResource.resource.path) ?? []
    if (own.length === 0) continue
    const actions = own.map(([, action]) => action as ResourceAction)
    const seeded = withFirstRecords(foundResource, actions, seeds)
    if (typeof seeded === 'string') for (const [id] of own) outcomes.set(id, seeded)
    else seeds.set(seeded.path, seeded)
  }
  const resources = found.flatMap(({ resource, ...rest }) => {
    const seeded = seeds.get(resource.path)
    if (seeded === undefined) return []
    const own = { ...rest, resource: seeded }
    const others = found.filter((other) => seeds.has(other.resource.path))
    const links = readLinks(own, others)
    const twins = others.flatMap((other) => readTwin(own, other) ?? [])
    const isChecked = byResource.get(seeded.path)?.some(([, action]) => Object(action).hasMissing)
    const references = isChecked ? readReferences(own, [...seeds.values()]) : {}
    return [
      {
        ...seeded,
        ...(Object.keys(links).length > 0 && { links }),
        ...(twins.length > 0 && { twins }),
        ...(Object.keys(references).length > 0 && { references }),
      },
    ]
  })
  const kept = new Set(resources.map(({ path }) => path))
  checkPaths(found, kept)
  for (const foundResource of found)
    if (kept.has(foundResource.resource.path)) addActions(foundResource, operations, outcomes)
  const halves = found.flatMap(({ resource: { path }, operations }) => {
    const isCreate = ({ id }: OperationShape) => Object(outcomes.get(id)).kind === 'create'
    const create = kept.has(path) ? operations.find(isCreate) : undefined
    return operations.flatMap(({ id, method, effect, path: own }) => {
      const reason = create && effect === 'get' ? outcomes.get(id) : undefined
      if (create === undefined || typeof reason !== 'string') return []
      const [stored, mocked] = [create.method, method].map((value) => value.toUpperCase())
      return [`${stored} ${create.path} is stored, but ${mocked} ${own} is mocked: ${reason}.`]
    })
  })
  const notes = found.flatMap(({ resource: { path }, unlike }) => {
    if (unlike.length === 0 || !kept.has(path)) return []
    return [
      `${path}: the type of ${unlike.join(', ')} in requests differs from the one in responses. A file, or a text of another format, becomes a value of the response; other values are ignored.`,
    ]
  })
  return { ...withShortNames({ resources, outcomes }), notes: [...halves, ...notes] }
}

interface Origins {
  readonly parentsOf: ReadonlyMap<FoundResource, readonly ParentData[]>
  /** Itself, or the resource that it is a view of. */
  readonly originOf: ReadonlyMap<FoundResource, FoundResource>
  readonly byDepth: readonly FoundResource[]
}

function readOrigins(found: readonly FoundResource[]): Origins {
  const recordOf = new Map(found.map(({ resource, record }) => [resource.path, record.value]))
  const parentsOf = new Map(found.map((foundResource) => [foundResource, namedParents(foundResource, recordOf)]))
  const byDepth = [...found].sort((a, b) => a.resource.parents.length - b.resource.parents.length)
  const originOf = new Map(
    found.map((foundResource) => {
      const parents = parentsOf.get(foundResource) ?? []
      const origins = byDepth.filter((other) => isViewOf(foundResource, parents, other))
      return [foundResource, origins.find(isRead) ?? origins[0] ?? foundResource]
    }),
  )
  return { parentsOf, originOf, byDepth }
}

/** Reads resources again with the request of a view that creates their records: `POST /projects/{projectId}/tasks`. */
function withCreates(
  found: readonly FoundResource[],
  collections: readonly CollectionShape[],
): readonly FoundResource[] {
  const views = grouped([...readOrigins(found).originOf], ([, origin]) => origin)
  return found.map((origin) => {
    const creates = (views.get(origin) ?? []).flatMap(([view]) => ofCollection('post', view.operations) ?? [])
    const collection = collections.find(({ path }) => path === origin.resource.path)
    if (collection === undefined || creates.length === 0 || ofCollection('post', origin.operations)) return origin
    const whole = readResource({ ...collection, operations: [...collection.operations, ...creates] })
    return typeof whole === 'string' ? origin : { ...whole, operations: origin.operations }
  })
}

/** `/comments/{id}` beside `/posts/{postId}/comments`, without a list of its own, has the records of the latter. */
function withShallow(
  found: readonly FoundResource[],
  collections: readonly CollectionShape[],
): readonly FoundResource[] {
  const byPath = new Map(found.map((one) => [one.resource.path, one]))
  const byName = grouped(found, ({ resource }) => literalsOf(resource.path).at(-1))
  const isOfRecord = ({ parameter, item }: OperationShape) =>
    parameter !== undefined && item.child('x-sandbox-resource')?.value !== false
  const shallow = collections.flatMap((collection) => {
    const { path, operations } = collection
    const own = byPath.get(path)
    const isOwner = ({ resource, record }: FoundResource) =>
      resource.path.split('{').length > path.split('{').length &&
      resource.path.startsWith(path.slice(0, path.lastIndexOf('/') + 1)) &&
      (own === undefined || isSameRecord(path, own.record, resource.path, record))
    const named = operations.every(isOfRecord) ? (byName.get(literalsOf(path).at(-1)) ?? []) : []
    const owners = named.filter(isOwner)
    return owners.length > 0 ? [{ collection, owners }] : []
  })
  if (shallow.length === 0) return found
  const { originOf } = readOrigins(found)
  const moved = new Set<string>()
  const more = new Map<FoundResource, readonly OperationShape[]>()
  for (const { collection, owners } of shallow) {
    const [owner, ...others] = owners.filter((one) => originOf.get(one) === one)
    if (owner === undefined || others.length > 0) continue
    moved.add(collection.path)
    more.set(owner, [...(more.get(owner) ?? []), ...collection.operations])
  }
  return found.flatMap((one) => {
    if (moved.has(one.resource.path)) return []
    const added = more.get(one)
    return [added === undefined ? one : { ...one, operations: [...one.operations, ...added] }]
  })
}

function readCollections(operations: readonly OperationShape[]): readonly CollectionShape[] {
  const collections = [...grouped(operations, ({ collection }) => collection)].map(([path, all]) => {
    const own = [...all].sort((a, b) => Number(a.hasVerb ?? false) - Number(b.hasVerb ?? false))
    const { parameter } = own.find((operationShape) => operationShape.parameter !== undefined) ?? {}
    return { path, operations: own, parameter, isSingle: parameter === undefined && isSingle(path, own) }
  })
  const records = new Map(collections.map((collection) => [collection, findRecord(collection)?.found]))
  const withParameter = collections.filter(({ parameter }) => parameter !== undefined)
  return collections.map((collection) => {
    const record = records.get(collection)
    if (collection.isSingle || collection.parameter !== undefined || record === undefined) return collection
    const twin = withParameter.find((other) => {
      const own = records.get(other)
      return own !== undefined && isSameRecord(collection.path, record, other.path, own)
    })
    return { ...collection, parameter: twin?.parameter }
  })
}

/** Whether a path has one record: GET returns an object, and PUT or PATCH takes properties of it. */
function isSingle(path: string, operations: readonly OperationShape[]): boolean {
  const find = (effect: string) => operations.find((operation) => operation.effect === effect)
  const record = returnedRecord(find('get'), path)
  const write = find('put') ?? find('patch')
  const sent = write && record && unwrapSent(write, readRecordFields(record))?.schema
  if (record === undefined || sent === undefined) return false
  const fields = readRecordFields(record)
  const post = find('post')
  const isCreated = post !== undefined && returnedRecord(post, path)?.value !== record.value
  return !isCreated && [...readRecordFields(sent).keys()].some((name) => fields.has(name))
}

/**
 * Makes operations below the path of a record that return it, such as `POST /bookings/{id}/cancel`, show this record
 * instead of a made-up one.
 */
function addActions(
  found: FoundResource,
  operations: readonly OperationShape[],
  outcomes: Map<string, ResourceAction | string>,
): void {
  const names = (schema: Place) => [...readRecordFields(schema).keys()].sort().join()
  const get = found.operations.find(({ id, parameter }) => parameter && Object(outcomes.get(id)).kind === 'get')
  if (get === undefined) return
  const base = get.path.replace(/\/$/, '')
  for (const operation of operations) {
    const { id, method, path, item, place } = operation
    const isBelow = path.startsWith(base) && /^[/:][^/{}]+\/?$/.test(path.slice(base.length))
    if (!isBelow || !/^(?:post|put|patch|delete)$/.test(method) || typeof outcomes.get(id) !== 'string') continue
    const record = returnedRecord(operation, found.resource.path) ?? success(place)?.schema
    if (record === undefined || item.child('x-sandbox-resource')?.value === false) continue
    if (record.value !== found.record.value && names(record) !== names(found.record)) continue
    const shown = readAction({ ...operation, effect: 'get', parameter: get.parameter }, found)
    if (typeof shown === 'string') continue
    const { envelope, isListed } = unwrapSent(operation, found.fields) ?? {}
    const { isShallow }: Partial<ResourceAction> = Object(outcomes.get(get.id))
    outcomes.set(id, {
      ...shown,
      ...(isShallow && { isShallow }),
      kind: 'show',
      ...(envelope !== undefined && !isListed && { bodyEnvelope: envelope }),
    })
  }
}

/** A collection of its own with records that have such an id. */
function isWhole({ resource: { parents, single, id } }: FoundResource, { property }: IdData): boolean {
  return parents.length === 0 && single === undefined && id.property === property
}

/**
 * The properties for which requests have the id of a record of another resource, and responses the record: `owner` with
 * the schema of the records of `/users`, or with a part of it if the name is that of a record of `/owners`. The whole
 * record, without a name, if a PUT adds it to a list of records of another resource.
 */
function readLinks(own: FoundResource, found: readonly FoundResource[]): Record<string, LinkData> {
  const { fields, resource, record } = own
  const links: Record<string, LinkData> = {}
  const isAdded = own.operations.some((operation) => addsWithoutBody(operation, own))
  const whole = isAdded
    ? found.find((other) => isWhole(other, resource.id) && isSameSchema(other.record, record))
    : undefined
  if (whole !== undefined)
    links[''] = { resource: whole.resource.path, key: resource.id.property, only: [...fields.keys()] }
  for (const [name, { place, type }] of fields) {
    const { key, items } = resource.properties[name]?.shape ?? {}
    const [id, inner] = type === 'array' ? [items?.key, place.child('items')] : [key, place]
    if (id === undefined || inner === undefined) continue
    const shown = readRecordFields(inner)
    const isOf = (target: FoundResource) => target.record.value === mainPart(inner).value
    const isNamed = ({ resource: { path } }: FoundResource) =>
      isSingular(name, path) || (type === 'array' && plainName(name) === plainName(literalsOf(path).at(-1) ?? ''))
    const flat = found.filter(({ resource: other }) => other.parents.length === 0 && other.id.property === id)
    const target = flat.find(isOf) ?? flat.find(isNamed)
    if (target === undefined) continue
    const isLike = (other: string, field: RecordField) => {
      const kept = target.fields.get(other)
      return kept !== undefined && kept.type === field.type && !field.writeOnly
    }
    const only = [...shown].flatMap(([other, field]) => (isLike(other, field) ? [other] : []))
    if (only.includes(id)) links[name] = { resource: target.resource.path, key: id, only }
  }
  return links
}

/** The other of `/users` and `/users/me`, or of one path that has the same schema: they may have the same record. */
function readTwin(own: FoundResource, other: FoundResource): LinkData | undefined {
  const [one, many] = own.isSingle ? [own, other] : [other, own]
  const { id, parents } = many.resource
  if (own.isSingle === other.isSingle || parents.length > 0 || one.resource.parents.length > 0) return undefined
  const isBelow = one.resource.path.startsWith(`${many.resource.path}/`)
  if (!isBelow && !isSameSchema(one.record, many.record)) return undefined
  const only = [...own.fields].flatMap(([name, { place }]) => {
    const there = other.fields.get(name)
    return there !== undefined && isSameSchema(place, there.place) ? [name] : []
  })
  return only.includes(id.property) ? { resource: other.resource.path, key: id.property, only } : undefined
}

/** The properties with the id of a record of another resource: `roomId` of `/rooms`. A record that is made up is no other. */
function readReferences({ fields, resource }: FoundResource, others: readonly ResourceData[]): Record<string, string> {
  const references = [...fields].flatMap(([name, { type }]) => {
    const [one, another] = others.filter(({ path }) => path !== resource.path && refersTo(name, path))
    if (one === undefined || another !== undefined || one.parents.length > 0 || one.isMadeUp) return []
    const { isUnseen, kind, template } = one.id
    const isLike = (type === 'integer') === (kind === 'integer') && (type === 'integer' || type === 'string')
    return isUnseen || template !== undefined || !isLike ? [] : [[name, one.path] as const]
  })
  return Object.fromEntries(references)
}

/**
 * A resource with the records that it starts with, or why its operations are mocked.
 * @param known the resources that its records may belong to, by path
 */
function withFirstRecords(
  { resource, operations, record, fields }: FoundResource,
  actions: readonly ResourceAction[],
  known: ReadonlyMap<string, ResourceData>,
): ResourceData | string {
  if (resource.single) return resource
  if (resource.path === `/${RESERVED_NAME}`) return `the sandbox keeps its own data under the name "${RESERVED_NAME}"`
  const place = `(${operations[0]?.item.name})`
  const has = (wanted: ResourceAction['kind']) => actions.some(({ kind }) => kind === wanted)
  if (!has('list') && !has('get')) return `no operation reads its records ${place}`
  if (has('create') || actions.some(({ createdStatus }) => createdStatus !== undefined)) return resource
  // Clients would never see what the mocked operation seems to create.
  const create = ofCollection('post', operations)
  if (create !== undefined) return `its ${create.method.toUpperCase()} cannot create its records ${place}`
  const fixed = { ...resource, isFixed: true } as const
  const isIdentified = fields.has(resource.id.property) || resource.id.parts !== undefined
  const examples = has('list') && resource.parents.length === 0 ? listExamples(resource, operations) : []
  if (examples.length > 0) return { ...fixed, examples }
  if (!isIdentified) return `no operation creates its records, and no property identifies them ${place}`
  if (resource.parents.length > 0) {
    const isKnown = has('list') && resource.parents.every(({ resource = '' }) => known.has(resource))
    return isKnown ? fixed : `no operation creates its records, and they belong to records that are not stored ${place}`
  }
  if (!has('get') && isSearch(resource.path, operations))
    return `no operation creates its records, and its list is a search ${place}`
  const made = madeUpRecord(resource.id, record)
  return made === undefined ? fixed : { ...fixed, examples: [made], isMadeUp: true }
}

/** Results of a search are not records: without a query there are none. */
function isSearch(path: string, operations: readonly OperationShape[]): boolean {
  const list = ofCollection('get', operations)
  const asked = (list ? parametersOf(list) : []).some(
    (place) => place.string('in') === 'query' && place.flag('required'),
  )
  return asked || /^(?:search|find|query|lookup|suggest|autocomplete)/i.test(literalsOf(path).at(-1) ?? '')
}

function madeUpRecord(id: IdData, record: Place): Node | undefined {
  const made = fullExample(record)
  if (!isNode(made) || (id.template ?? id.parts) !== undefined) return undefined
  const own = id.kind === 'integer' ? undefined : made[id.property]
  const value = { ...made, [id.property]: own || sampleId(id) }
  return fits(value, record, 'response') ? value : undefined
}

/** @throws SpecError for paths that only the names of parameters distinguish: no name would */
function checkPaths(found: readonly FoundResource[], kept: ReadonlySet<string>): void {
  const known = new Map<string, string>()
  for (const { resource, operations } of found) {
    const { path } = resource
    if (!kept.has(path)) continue
    const plain = path.replaceAll(/\{[^{}]*\}/g, '{}')
    const twin = known.get(plain)
    if (twin !== undefined)
      throw operations[0]?.item.error(`is the same path as ${twin}: use the same names of parameters`)
    known.set(plain, operations[0]?.item.name ?? path)
  }
}

/**
 * The parents in a path. Records of which it only has a list, of the name of their own, may name theirs by its record:
 * `author`, `user.id`.
 * @param recordOf the schemas of records by the path of their collection
 */
function namedParents(
  { resource: { parents }, fields, isWritten }: FoundResource,
  recordOf: ReadonlyMap<string, unknown>,
): readonly ParentData[] {
  if (isWritten) return parents
  return parents.map((parent) => {
    const { resource = '', isInteger = false } = parent
    const like = [...fields].flatMap(([name, { place }]) =>
      mainPart(place).value === recordOf.get(resource) ? [name] : [],
    )
    const [name = singularOf(resource), ...more] = like
    const property = more.length === 0 ? filteredProperty(name, fields) : undefined
    const type = fields.get(property ?? '')?.type
    const isId = property?.includes('.') || (type === 'string' && !isInteger) || (type === 'integer' && isInteger)
    return parent.property === undefined && property !== undefined && isId ? { ...parent, property } : parent
  })
}

/** `POST /auth/register` creates a record of `/users`. */
const SIGN_UP = /^(?:register|registration|sign[-_]?up)$/i

/**
 * `/pets/findByStatus` and `/owners/{ownerId}/pets` are views of `/pets`: lists of the same records. So is
 * `/shops/{shopId}/owners/{ownerId}/pets` of `/shops/{shopId}/pets`.
 */
function isViewOf(foundResource: FoundResource, own: readonly ParentData[], origin: FoundResource): boolean {
  if (foundResource === origin || foundResource.isSingle || origin.isSingle) return false
  const [path, other] = [foundResource.resource.path, origin.resource.path]
  if (!isSameRecord(path, foundResource.record, other, origin.record)) return false
  const { length: outer } = origin.resource.parents
  const isBeside = outer === 0 || path.startsWith(other.slice(0, other.lastIndexOf('/') + 1))
  if (!isBeside || !origin.isWritten) return false
  const [last, wanted] = [foundResource, origin].map(({ resource: { path } }) => literalsOf(path).at(-1))
  const { parents } = last === wanted ? { parents: own } : foundResource.resource
  const inner = parents.slice(outer)
  if (inner.length === 0) return !foundResource.isWritten || SIGN_UP.test(last ?? '')
  return inner.every(({ property }) => property !== undefined)
}

/** An equal schema may be of a collection with the same name only. */
function isSameRecord(path: string, record: Place, otherPath: string, other: Place): boolean {
  return (
    record.value === other.value ||
    (literalsOf(path).at(-1) === literalsOf(otherPath).at(-1) && isSameSchema(record, other))
  )
}

/** Has a list, or a path for one record: not only a POST, as `/users/me/photo`, which returns a record of `/users`. */
function isRead({ operations }: FoundResource): boolean {
  return operations.some(({ effect, parameter }) => effect === 'get' || parameter !== undefined)
}
