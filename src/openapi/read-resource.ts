import { isNode, type Node, type Place } from '../contract/document.js'
import { exampleOf, exampleValue, fits, fullExample } from '../contract/example-value.js'
import { idNames, isOwnId, PARAMETER, plainName, singularOf } from '../contract/names.js'
import {
  type Fill,
  type IdData,
  type ParentData,
  type PropertyData,
  parentField,
  type ResourceData,
} from '../contract/resource-data.js'
import {
  allowsNull,
  type Fields,
  isObject,
  isOpen,
  isUnion,
  type RecordField,
  readRecordFields,
  requiredNames,
  typeOf,
} from '../contract/schema-fields.js'
import {
  type CollectionShape,
  findAddress,
  findId,
  findRecord,
  findSelfLink,
  isPathText,
  linkedProperties,
} from './evidence.js'
import { countFill, idFill, idForm, sampleId } from './made-ids.js'
import { type OperationShape, ofCollection, parametersOf, success } from './operations.js'
import { isJsonPatch, unwrapRecord, unwrapSent } from './record-schema.js'
import { shapeFor } from './request-shape.js'
import { queryRoles } from './roles.js'
import { timestampFormat, UPDATED } from './timestamps.js'

export interface FoundResource {
  readonly resource: ResourceData
  readonly fields: Fields
  readonly record: Place
  readonly operations: readonly OperationShape[]
  /** A response describes the record. */
  readonly isDocumented: boolean
  /** It has one record, such as `/settings`. */
  readonly isSingle: boolean
  /** Has a path for one record, or takes new ones: not only a list. */
  readonly isWritten: boolean
  /** Properties of another type in requests than in responses. */
  readonly unlike: readonly string[]
}

export function readResource(collection: CollectionShape): FoundResource | string {
  const { path, operations, isSingle } = collection
  const { found: documented, because = 'the request of the operation that creates it' } = findRecord(collection) ?? {}
  const refused = operations.find(({ item }) => item.child('x-sandbox-resource')?.value === false)
  if (refused !== undefined) return `x-sandbox-resource is false (${refused.item.name})`
  const methods = documented === undefined ? ['post'] : ['post', 'put']
  const [create] = methods.flatMap((wanted) => ofCollection(wanted, operations) ?? [])
  const record = documented ?? (create && unwrapSent(create, new Map())?.schema)
  if (record === undefined) return whyNoRecord(operations)
  const fields = readRecordFields(record)
  const sentBy = (operation: OperationShape) => {
    const body = unwrapSent(operation, fields)
    return body && !isJsonPatch(body) ? readRecordFields(body.schema) : undefined
  }
  const isDocumented = documented !== undefined
  const writes = operations.filter(
    (operation) => operation === create || operation.effect === 'put' || operation.effect === 'patch',
  )
  const requests = writes.flatMap((operation) => sentBy(operation) ?? [])
  const sent = create && sentBy(create)
  const put = operations.find(({ effect }) => effect === 'put')
  // Without another operation that creates records, PUT may.
  const given = sent ?? (put && sentBy(put))
  const inPath = identifierSchema(operations)
  const read = readId({ collection, record, fields, inPath, sent, isDocumented })
  if (typeof read === 'string') return read
  const { id, why } = read
  if (id.kind === 'from-client' && inPath?.string('format') === 'uuid')
    return `the path takes a UUID, but "${id.property}" may be any text (${inPath.name})`
  const own = [...fields.keys()].find((name) => name in Object.prototype)
  if (own !== undefined) return `the sandbox cannot keep a property named "${own}"`
  if (id.isUnseen && isOpen(record) && !fits({ ...Object(exampleValue(record)), [id.property]: sampleId(id) }, record))
    return `no property of the record identifies it, and it can have no other (${record.name})`
  if (fields.size === 0 && !fits({ [id.property]: sampleId(id) }, record))
    return `the schema of the record does not allow its id (${record.name})`
  const undeclared = isDocumented ? requiredNames(record).find((name) => !fields.has(name)) : undefined
  if (undeclared !== undefined) return `nothing says how to fill the required property "${undeclared}" (${record.name})`
  const usual = listDefaults(operations, fields)
  const properties: Record<string, PropertyData> = {}
  const unlike: string[] = []
  const aliases: Record<string, string> = {}
  for (const [name, field] of fields) {
    const isRequired = isDocumented && field.required && name !== id.property
    const isUnsent = !requests.some((request) => request.get(name)?.readOnly === false)
    const isStamped = timestampFormat(name, field, isUnsent) !== undefined
    const asked = given?.get(name)
    const isAskedDefault = asked?.default !== undefined && field.places.every((place) => fits(asked.default, place))
    const alias = isDocumented && name !== id.property ? aliasOf(name, fields, requests) : undefined
    if (alias !== undefined) aliases[alias] = name
    const isNullable = isDocumented && !field.writeOnly && isNullField(field)
    const isMade = isUnsent && alias === undefined && name !== id.property
    const made =
      isMade && isOwnId(name, path) ? idFill(field) : isMade && isDocumented ? countFill(name, field) : undefined
    const fill =
      made ??
      (isRequired || usual.has(name) || field.default !== undefined || isAskedDefault || isStamped || isNullable
        ? fillOf(name, field, usual.get(name), isUnsent, asked)
        : undefined)
    const shape = isDocumented && name !== id.property ? shapeFor(alias ?? name, field, requests) : undefined
    if (shape === 'unlike' || (typeof shape === 'object' && 'becomes' in shape)) unlike.push(name)
    // A schema of the request alone decides what is sent.
    const readOnly = field.readOnly && !requests.some((request) => request.get(name)?.readOnly === false)
    const isSent = sent?.get(alias ?? name)?.required === true && shape !== 'unlike' && !readOnly
    if (isRequired && fill === undefined && !isSent)
      return `nothing says how to fill the required property "${name}" (${field.place.name})`
    properties[name] = {
      readOnly: readOnly || shape === 'unlike',
      ...(typeof shape === 'object' && { shape }),
      required: field.required,
      ...(isNullable && { isNullable }),
      ...(field.choices && { choices: field.choices }),
      ...(fill === undefined ? {} : { fill }),
    }
  }
  const isSecret = (name: string, field: RecordField) =>
    (field.writeOnly || field.format === 'password') && !(isDocumented && fields.has(name))
  const secrets = requests.flatMap((request) =>
    [...request].flatMap(([name, field]) => (isSecret(name, field) ? [[name]] : [])),
  )
  const hidden = [...hiddenPaths(record), ...secrets]
  const single = isSingle ? readSingle(collection, record, id) : undefined
  if (typeof single === 'string') return single
  const address = (id.isUnseen && id.parts === undefined ? findAddress : findSelfLink)(fields, sent)
  const [tag] = [...fields].flatMap(([name, { type, readOnly }]) =>
    /^_?e_?tag$/i.test(name) && type === 'string' && (readOnly || !requests.some((one) => one.has(name))) ? [name] : [],
  )
  const { place: inner } = fields.get('attributes') ?? {}
  const attributes = inner === undefined ? [] : [...readRecordFields(inner).keys()]
  const ofOne = operations.filter(({ parameter }) => parameter !== undefined)
  const one = ofOne.find(({ effect }) => effect === 'get') ?? ofOne[0]
  const isUsual = one === undefined || one.names !== undefined || one.path === `${path}/{${one.parameter}}`
  const resource = {
    name: path,
    path,
    ...(!isUsual && { item: one.path }),
    parents: readParents(path, operations, fields, id),
    id,
    properties,
    because: { record: `${because} (${record.name})`, id: why },
    ...(single && { single }),
    ...(attributes.length > 0 && { attributes }),
    ...(address && { address }),
    ...(tag !== undefined && { tag }),
    ...(hidden.length > 0 && { hidden }),
    ...(Object.keys(aliases).length > 0 && { aliases }),
    ...((isOpen(record) || isUnion(record)) && ({ isOpen: true } as const)),
    unique: [...fields].filter(([, { isUnique }]) => isUnique).map(([name]) => name),
  }
  const isWritten = create !== undefined || operations.some((operation) => operation.parameter !== undefined)
  return { resource, fields, record, operations, isDocumented, isSingle, isWritten, unlike }
}

/** The name in requests of a property that they do not have: `ownerId` of `owner`, `tag_ids` of `tags`, `FullName` of `full_name`. */
function aliasOf(name: string, fields: Fields, requests: readonly Fields[]): string | undefined {
  if (requests.some((request) => request.has(name))) return undefined
  const wanted = idNames(name)
  const sent = requests.flatMap((request) => [...request.keys()])
  return sent.find((value) => !fields.has(value) && wanted.includes(plainName(value)))
}

const MAX_HIDDEN_DEPTH = 4

function hiddenPaths(schema: Place, depth = 0): readonly (readonly string[])[] {
  if (depth > MAX_HIDDEN_DEPTH) return []
  return [...readRecordFields(schema)].flatMap(([name, { place, writeOnly }]) =>
    writeOnly ? [[name]] : hiddenPaths(place.child('items') ?? place, depth + 1).map((path) => [name, ...path]),
  )
}

/** The schema of the path parameter that identifies a record. */
function identifierSchema(operations: readonly OperationShape[]): Place | undefined {
  const { path, parameter } = operations.find((operation) => operation.parameter !== undefined) ?? {}
  if (parameter === undefined) return undefined
  return schemaInPath(
    operations.filter((operation) => operation.path === path),
    parameter,
  )
}

function schemaInPath(operations: readonly OperationShape[], parameter: string): Place | undefined {
  return operations
    .flatMap(parametersOf)
    .find((place) => place.string('in') === 'path' && place.string('name') === parameter)
    ?.child('schema')
}

interface IdQuestion {
  readonly collection: CollectionShape
  readonly record: Place
  readonly fields: Fields
  readonly inPath: Place | undefined
  readonly sent: Fields | undefined
  readonly isDocumented: boolean
}

interface ReadId {
  readonly id: IdData
  readonly why: string
}

function readId({ collection, record, fields, inPath, sent, isDocumented }: IdQuestion): ReadId | string {
  const { path, parameter, operations, isSingle } = collection
  const keys = operations.find((operation) => operation.keys !== undefined)?.keys
  if (keys !== undefined) return readKeys(keys, fields, record)
  const [whole = ''] = operations.flatMap((operation) =>
    operation.parameter === undefined ? [] : Object.keys(operation.names ?? {}).slice(-1),
  )
  const pathText = [...fields].find(([name, { type }]) => whole.split('.').at(-1) === name && type === 'string')
  if (pathText !== undefined) {
    const id = { property: pathText[0], kind: 'uuid', template: pathTemplate(path, parameter) } as const
    return { id, why: 'the path parameter holds it whole' }
  }
  const typeInPath = inPath && typeOf(inPath)
  const linked = linkedProperties(operations, parameter)
  const finding = findId({ fields, collection: path, parameter, inPath, sent, linked }, collection)
  const isUnnamed = fields.size === 0 || !isDocumented || isSingle
  if (finding === undefined && !isUnnamed)
    return `no property of the record identifies it, and neither Location nor another response has its id (${record.name})`
  const unseen = isSingle ? '$id' : 'id'
  const { found = { property: unseen, field: undefined }, because = 'the record has no other' } = finding ?? {}
  const { property: name, field } = found
  const type = field?.type ?? typeInPath ?? 'integer'
  const places = [...(field?.places ?? []), ...(inPath ? [inPath] : [])]
  const unfit = `(${places[0]?.name ?? record.name})`
  const template = field && isPathText(name, field, path, parameter) ? pathTemplate(path, parameter) : ''
  const as = (kind: IdData['kind'], more: Partial<IdData> = {}): ReadId => {
    const isUnseen = isDocumented && fields.size > 0 && !fields.has(name)
    return { id: { property: name, kind, ...more, ...(isUnseen && { isUnseen }) }, why: because }
  }
  if (template !== '' && (sent?.get(name)?.required !== true || field?.readOnly))
    return as(typeInPath === 'integer' ? 'integer' : 'uuid', { template })
  if (type === 'integer' || type === 'number') {
    const { required: isAsked, readOnly: isIgnored } = sent?.get(name) ?? {}
    // A required id with the name of the record may be of a schema that responses share.
    const isSent = isAsked && !isIgnored && !field?.readOnly && !isOwnId(name, path)
    const isCounted = places.every((schema) => fits(1, schema) || fits('1', schema))
    return isCounted
      ? as('integer', isSent ? { isSent } : {})
      : `the ids of the sandbox begin with 1, which the schema of the id does not allow ${unfit}`
  }
  if (type !== 'string') return `"${name}" identifies the record, but is neither a text nor an integer ${unfit}`
  const isSent = sent?.get(name) !== undefined && sent.get(name)?.readOnly !== true && field?.readOnly !== true
  const isOther = typeInPath === 'integer' || field?.format === 'uuid'
  const isAsked = isSent && sent?.get(name)?.required === true
  const isChosen = isSent && !isOther && (isAsked || !/^id$/i.test(name))
  const form = idForm(places)
  if (isChosen) return as('from-client', typeof form === 'object' ? form : {})
  if (typeof form === 'string') return `${form} ${unfit}`
  return as('uuid', isAsked && !isOwnId(name, path) ? { ...form, isSent } : form)
}

/** A composite key: the sandbox keeps it as one text beside the properties. */
function readKeys(keys: readonly string[], fields: Fields, record: Place): ReadId | string {
  const parts = keys.map((key) => [...fields.keys()].find((name) => plainName(name) === plainName(key)))
  const missing = keys.find((_, index) => parts[index] === undefined)
  if (missing !== undefined) return `no property of the record is the part "${missing}" of its key (${record.name})`
  const id: IdData = { property: '$id', kind: 'from-client', parts: parts as readonly string[], isUnseen: true }
  return { id, why: 'its properties have the names of the path parameters' }
}

/** The one record of a collection, before anything was sent; absent if the contract documents that it may be missing. */
function readSingle(collection: CollectionShape, record: Place, { property }: IdData): ResourceData['single'] | string {
  const find = (effect: string) => collection.operations.find((operation) => operation.effect === effect)?.place
  const has = (place: Place | undefined, status: string) => place?.child('responses')?.child(status) !== undefined
  const [get, put] = [find('get'), find('put') ?? find('post')]
  if (has(get, '404') && (has(put, '201') || find('delete') !== undefined)) return {}
  const { content, schema } = (get && success(get)) ?? {}
  const { envelope } = (schema && unwrapRecord(schema, collection.path)) ?? {}
  const example = exampleOf(content?.content)
  const values = [
    envelope === undefined ? example : Object(example)[envelope],
    fullExample(record),
    exampleValue(record),
  ]
  const initial = values.find((value): value is Node => isNode(value) && fits(value, record))
  if (initial === undefined) return `no value of its schema is known for its one record (${record.name})`
  return { initial: { [property]: 1, ...initial } }
}

function whyNoRecord(operations: readonly OperationShape[]): string {
  const outcomes = operations.map(({ place }) => success(place))
  const single = outcomes.find((outcome) => isObject(outcome?.schema))
  if (single !== undefined && !operations.some(({ effect }) => effect === 'get'))
    return `no operation reads what it returns (${single.schema?.name})`
  if (single !== undefined)
    return `GET returns one object, and no PUT or PATCH takes its properties (${single.schema?.name})`
  return `no response describes a record as a JSON object (${outcomes[0]?.response.name ?? operations[0]?.place.name})`
}

/** `shelves/{shelf}/books/{book}`, without a version in front. */
function pathTemplate(collection: string, parameter = ''): string {
  return /(?:[^/{}]+\/\{[^{}]*\}\/?)*$/.exec(`${collection}/{${parameter}}`)?.[0] ?? ''
}

/**
 * The first name that is free: the path parameter, the parent with `Id`, `$parent`. A property of the record with such a
 * name, or in another case and with the type of the parameter, holds the parent's id.
 */
function readParents(
  path: string,
  operations: readonly OperationShape[],
  fields: Fields,
  id: IdData,
): readonly ParentData[] {
  const segments = path.split('/')
  const taken = new Set([...fields.keys(), id.property, 'id'])
  const parents: ParentData[] = []
  for (const [index, segment] of segments.entries()) {
    const [, parameter] = PARAMETER.exec(segment) ?? []
    if (parameter === undefined) continue
    const resource = segments.slice(0, index).join('/')
    const schema = schemaInPath(operations, parameter)
    const type = schema && typeOf(schema)
    const wanted = [parameter, `${singularOf(resource)}Id`]
    const isParent = (name: string) => {
      const own = fields.get(name)?.type
      if (name === id.property || /^(boolean|object|array)$/.test(own ?? '')) return false
      const isNamed = wanted.some((value) => plainName(value) === plainName(name))
      return name === parameter || (isNamed && type !== undefined)
    }
    const property = [...fields.keys()].sort((name) => (name === parameter ? -1 : 0)).find(isParent)
    const own = property === undefined ? undefined : fields.get(property)?.type
    const field = property ?? [...wanted, parentField(parents.length)].find((name) => !taken.has(name)) ?? ''
    taken.add(field)
    parents.push({
      parameter,
      // `/stock/{warehouse}` is no record if others are below it: `/stock/{warehouse}/{sku}`.
      ...(/^[^{]/.test(segments[index + 1] ?? '') && { resource }),
      field,
      ...(property !== undefined && { property }),
      ...((own === 'integer' || own === 'string') && own !== type && { type: own }),
      ...(type === 'integer' && { isInteger: true }),
    })
  }
  return parents
}

function isNullField({ places }: RecordField): boolean {
  return places.every((place) => allowsNull(place) && fits(null, place))
}

/** What the list is filtered by without parameters, such as `state=open`: new records are in it. */
function listDefaults(operations: readonly OperationShape[], fields: Fields): ReadonlyMap<string, unknown> {
  const list = ofCollection('get', operations)
  const parameters = list ? parametersOf(list) : []
  const { filters } = queryRoles(parameters, fields)
  return new Map(
    parameters.flatMap((parameter) => {
      const name = parameter.string('name') ?? ''
      if (!filters.some(([filter]) => filter === name)) return []
      const value = parameter.child('schema')?.child('default')?.value
      // A record without a flag has not set it.
      const isValue =
        value !== undefined && value !== false && fields.get(name)?.places.every((place) => fits(value, place))
      return isValue ? [[name, value] as const] : []
    }),
  )
}

/**
 * The default of an omitted property; undefined if the schema has no value.
 * @param usual of lists @param asked the same property of the create request
 */
function fillOf(
  name: string,
  field: RecordField,
  usual: unknown,
  isUnsent: boolean,
  asked: RecordField | undefined,
): Fill | undefined {
  const format = timestampFormat(name, field, isUnsent)
  if (format !== undefined) return { kind: UPDATED.test(name) ? 'updated-at' : 'created-at', format }
  const { places } = field
  const isFit = (item: unknown) => item !== undefined && places.every((place) => fits(item, place))
  const given = [asked?.default, field.default, usual].filter(isFit)
  if (given.length === 0 && isNullField(field)) return { kind: 'value', value: null }
  const examples = [...places, ...(asked?.places ?? [])].map(exampleValue)
  const fitting = [...given, ...examples.filter(isFit)]
  const value =
    fitting.find((item) => asked === undefined || asked.places.every((place) => fits(item, place))) ?? fitting[0]
  return value === undefined ? undefined : { kind: 'value', value, ...(!given.includes(value) && { isMadeUp: true }) }
}
