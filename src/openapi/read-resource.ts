import type { Node, Place } from '../contract/document.js'
import { exampleValue, fits } from '../contract/example-value.js'
import {
  type Fill,
  type IdData,
  idOfForm,
  type ParentData,
  type PropertyData,
  parentField,
  type ResourceData,
} from '../contract/resource-data.js'
import {
  type Fields,
  isOpen,
  type RecordField,
  readRecordFields,
  requiredNames,
  typeOf,
} from '../contract/schema-fields.js'
import { literalsOf, type OperationShape, PARAMETER, parametersOf, plainName } from './operations.js'
import { isSingular, singularOf, unwrapSent } from './record-schema.js'
import { shapeFor } from './request-shape.js'

/** Operations on the same collection, and what they return as a record. */
export interface CollectionShape {
  readonly path: string
  readonly operations: readonly OperationShape[]
  readonly record: Place | undefined
  /** The path parameter of its records, or of records with the same schema: `key` for `/pets/recent` beside `/pets/{key}`. */
  readonly parameter: string | undefined
}

export interface FoundResource {
  readonly resource: ResourceData
  readonly fields: Fields
  readonly record: Place
  readonly operations: readonly OperationShape[]
  /** A response describes the record. */
  readonly isDocumented: boolean
  /** Has a path for one record, or takes new ones: not only a list. */
  readonly isWritten: boolean
  /** Properties of another type in requests than in responses. */
  readonly unlike: readonly string[]
}

export function readResource({
  path,
  operations,
  record: documented,
  parameter,
}: CollectionShape): FoundResource | string {
  if (operations.some(({ item }) => item.child('x-sandbox-resource')?.value === false))
    return 'x-sandbox-resource is false'
  const methods = documented === undefined ? ['post'] : ['post', 'put']
  const [create] = methods.flatMap(
    (wanted) => operations.find(({ method, parameter }) => method === wanted && parameter === undefined) ?? [],
  )
  const record = documented ?? (create && unwrapSent(create, new Map())?.schema)
  if (record === undefined) return 'no response describes a record'
  const fields = readRecordFields(record)
  const sentBy = (operation: OperationShape) => {
    const schema = unwrapSent(operation, fields)?.schema
    return schema && readRecordFields(schema)
  }
  const isDocumented = documented !== undefined
  const writes = operations.filter((one) => one === create || one.method === 'put' || one.method === 'patch')
  const requests = writes.flatMap((operation) => sentBy(operation) ?? [])
  const sent = create && sentBy(create)
  const inPath = identifierSchema(operations)
  const id = readId(fields, path, parameter, inPath, sent, isDocumented)
  if (typeof id === 'string') return id
  if (id.kind === 'from-client' && inPath?.string('format') === 'uuid')
    return `the path takes a UUID, but "${id.property}" may be any text`
  const own = [...fields.keys()].find((name) => name in Object.prototype)
  if (own !== undefined) return `the sandbox cannot keep a property named "${own}"`
  if (fields.size === 0 && !fits({ [id.property]: id.kind === 'integer' ? 1 : SAMPLE_UUID }, record))
    return 'the schema of the record does not allow its id'
  const undeclared = isDocumented ? requiredNames(record).find((name) => !fields.has(name)) : undefined
  if (undeclared !== undefined) return `nothing says how to fill the required property "${undeclared}"`
  const properties: Record<string, PropertyData> = {}
  const unlike: string[] = []
  const aliases: Record<string, string> = {}
  for (const [name, field] of fields) {
    const isRequired = isDocumented && field.required && name !== id.property
    const ownId = name === id.property || !isOwnId(name, path) ? undefined : ownIdOf(name, field, requests)
    const fill =
      ownId ??
      (isRequired || field.default !== undefined || timestampFormat(name, field) !== undefined
        ? fillOf(name, field)
        : undefined)
    const alias = isDocumented && name !== id.property ? aliasOf(name, fields, requests) : undefined
    if (alias !== undefined) aliases[alias] = name
    const shape = isDocumented && name !== id.property ? shapeFor(alias ?? name, field, requests) : undefined
    if (shape === 'unlike' || (typeof shape === 'object' && 'becomes' in shape)) unlike.push(name)
    // A schema of the request alone decides what is sent.
    const readOnly = field.readOnly && !requests.some((request) => request.get(name)?.readOnly === false)
    const isSent = sent?.get(name)?.required === true && shape !== 'unlike' && !readOnly
    if (isRequired && fill === undefined && !isSent) return `nothing says how to fill the required property "${name}"`
    properties[name] = {
      readOnly: readOnly || shape === 'unlike',
      ...(typeof shape === 'object' && { shape }),
      required: field.required,
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
  const resource = {
    name: path,
    path,
    parents: readParents(path, operations, fields, id),
    id,
    properties,
    ...(hidden.length > 0 && { hidden }),
    ...(Object.keys(aliases).length > 0 && { aliases }),
    ...(isOpen(record) && ({ isOpen: true } as const)),
    unique: [...fields].filter(([, { isUnique }]) => isUnique).map(([name]) => name),
  }
  const isWritten = create !== undefined || operations.some((one) => one.parameter !== undefined)
  return { resource, fields, record, operations, isDocumented, isWritten, unlike }
}

function isOwnId(name: string, collection: string): boolean {
  const [, one] = /^(.+?)_?(?:id|uuid|guid)$/i.exec(name) ?? []
  return /^_?(id|uuid|guid|gid|pk)$/i.test(name) || (one !== undefined && isSingular(one, collection))
}

/** The fill of an id that is not in the path, such as `id` of `/users/{username}`; undefined if a client may send it. */
function ownIdOf(name: string, { type, choices, places }: RecordField, requests: readonly Fields[]): Fill | undefined {
  if (choices !== undefined || requests.some((sent) => sent.get(name)?.readOnly === false)) return undefined
  if (type === 'integer') return places.every((one) => fits(1, one)) ? { kind: 'id', isCounted: true } : undefined
  const form = type === 'string' ? idForm(places) : ''
  return typeof form === 'string' ? undefined : { kind: 'id', isCounted: false, ...form }
}

/** The name in requests of a property that they do not have: `ownerId` of `owner`, `tag_ids` of `tags`. */
function aliasOf(name: string, fields: Fields, requests: readonly Fields[]): string | undefined {
  if (requests.some((request) => request.has(name))) return undefined
  const plain = plainName(name)
  const wanted = [`${plain}id`, `${plain}ids`, `${plain.replace(/s$/, '')}ids`]
  const sent = requests.flatMap((request) => [...request.keys()])
  return sent.find((one) => !fields.has(one) && wanted.includes(plainName(one)))
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
  const { path, parameter } = operations.find((one) => one.parameter !== undefined) ?? {}
  return operations
    .flatMap((one) => (parameter !== undefined && one.path === path ? parametersOf(one) : []))
    .find((one) => one.string('in') === 'path' && one.string('name') === parameter)
    ?.child('schema')
}

function readId(
  fields: Fields,
  collection: string,
  parameter: string | undefined,
  inPath: Place | undefined,
  sent: Fields | undefined,
  isDocumented: boolean,
): IdData | string {
  const typeInPath = inPath && typeOf(inPath)
  const name =
    idProperty(fields, collection, parameter, inPath, sent) ?? (fields.size === 0 || !isDocumented ? 'id' : undefined)
  const unidentified = 'no property of the record identifies it'
  if (name === undefined) return unidentified
  const field = fields.get(name)
  const type = field?.type ?? typeInPath ?? 'integer'
  const schemas = [...(field?.places ?? []), ...(inPath ? [inPath] : [])]
  const template = field && isPathText(name, field, collection, parameter) ? pathTemplate(collection, parameter) : ''
  if (template !== '' && (sent?.get(name)?.required !== true || field?.readOnly))
    return { property: name, kind: typeInPath === 'integer' ? 'integer' : 'uuid', template }
  if (type === 'integer' || type === 'number') {
    const isCounted = schemas.every((schema) => fits(1, schema) || fits('1', schema))
    return isCounted
      ? { property: name, kind: 'integer' }
      : 'the ids of the sandbox begin with 1, which the schema of the id does not allow'
  }
  if (type !== 'string') return unidentified
  const isSent = sent?.get(name) !== undefined && sent.get(name)?.readOnly !== true && field?.readOnly !== true
  const isChosen = isSent && field?.format !== 'uuid' && (sent?.get(name)?.required === true || name !== 'id')
  const form = idForm(schemas)
  if (isChosen) return { property: name, kind: 'from-client', ...(typeof form === 'object' && form) }
  return typeof form === 'string' ? form : { property: name, kind: 'uuid', ...form }
}

/** Whether a text is the path of its record, as in gRPC: `name` of `/cards/{card}`, or what the contract says is one. */
function isPathText(name: string, { type, readOnly, place }: RecordField, path: string, parameter = ''): boolean {
  const last = literalsOf(path).at(-1) ?? ''
  const { description, example, pattern, title } = Object(place.value)
  const saysSo = [description, example, pattern, title].some((one) =>
    ` ${String(one).replaceAll(/\w+:\/\/\S*/g, '')}`
      .split(/[^\w-](?=[\w-]+\/)/)
      .some((part) => part.startsWith(`${last}/`)),
  )
  const isNamed = plainName(name) === 'name' && isSingular(parameter.replace(/_?id$/i, ''), path)
  return type === 'string' && plainName(parameter) !== plainName(name) && (saysSo || (isNamed && readOnly))
}

/** `shelves/{shelf}/books/{book}`, without a version in front. */
function pathTemplate(collection: string, parameter = ''): string {
  return /(?:[^/{}]+\/\{[^{}]*\}\/?)*$/.exec(`${collection}/{${parameter}}`)?.[0] ?? ''
}

const SAMPLE_UUID = '3be6453c-03eb-8357-ae5a-984a0e574a54'

const OTHER_UUID = 'c2c5e3a4-1f0b-8d6e-b7a1-5d0f9c3e2b18'

/** The form of new ids, undefined for UUIDs; or why the sandbox cannot make one. */
function idForm(schemas: readonly Place[]): { readonly pattern: string } | string | undefined {
  // A path parameter may be an integer that the record has as a text.
  const areFit = (id: string) =>
    schemas.every((schema) => fits(id, schema) || (/^\d+$/.test(id) && fits(BigInt(id), schema)))
  if (areFit(SAMPLE_UUID)) return undefined
  const patterns = schemas.flatMap((schema) => schema.string('pattern') ?? [])
  const prefixes = patterns.map((pattern) => /^\^([A-Za-z]+[_-])/.exec(pattern)?.[1] ?? '')
  const lengths = schemas.flatMap(({ value }) => [Object(value).minLength, Object(value).maxLength])
  const forms = [...[32, 24, ...lengths].map((length) => `[0-9a-f]{${length}}`), '[1-9]\\d{17}']
  const usual = [...prefixes, ''].flatMap((prefix) => forms.map((form) => `^${prefix}${form}$`))
  const found = [...usual, ...patterns].find((pattern) => {
    const [one, other] = [SAMPLE_UUID, OTHER_UUID].map((uuid) => idOfForm(pattern, uuid))
    return one !== undefined && other !== undefined && one !== other && areFit(one) && areFit(other)
  })
  return found !== undefined
    ? { pattern: found }
    : `no id of the sandbox matches the schema of the record's id (${patterns[0] ?? 'no pattern'})`
}

/** Names of keys, the most usual first. */
const KEY_NAMES = 'pk sid uid key code slug token ref reference handle number'.split(' ')

/**
 * The property that identifies a record, by this evidence, the strongest first:
 *
 * 1. the name of the path parameter, in any case, and the last word of it
 * 2. `id`
 * 3. the end of the parameter's name, such as `name` for `pool_name`; a name after the collection, such as `itemId` of
 *    `/items`. What clients send is more likely a reference, such as `card_token` for `gift_card_token`
 * 4. a text that is the path of the record
 * 5. the usual name of a key, such as `pk`
 * 6. the format UUID, the title "ID", or a description as the identifier
 * 7. the only read-only property
 *
 * It has the type of the parameter; from 4 on it must.
 */
function idProperty(
  fields: Fields,
  collection: string,
  parameter: string | undefined,
  inPath: Place | undefined,
  sent: Fields | undefined,
): string | undefined {
  const words = parameter?.match(/[A-Z]?[a-z\d]+|[A-Z]+/g) ?? []
  const ends = words.map((_, index) => plainName(words.slice(index).join('')))
  const names = [...fields.keys()]
  const find = (wanted: readonly string[]) =>
    wanted.flatMap((one) => names.find((name) => plainName(name) === plainName(one)) ?? [])
  const named = names.filter((name) => {
    const [, one] = /^(.+?)_?(?:id|key|uuid|guid|token|code|number|no)$/i.exec(name) ?? []
    return one !== undefined && isSingular(one, collection)
  })
  const others = [...find(ends), ...find(['uuid', 'guid', 'gid']), ...named]
  const isOurs = (name: string) => !sent?.has(name) || fields.get(name)?.readOnly === true
  const last = words.length > 1 ? find(ends.slice(-1)).filter((name) => isOurs(name) && fields.get(name)?.required) : []
  const found = [...find([parameter ?? '']), ...last, ...find(['id']), ...others.filter(isOurs), ...others]
  const type = inPath && typeOf(inPath)
  const isCounted = (one: string | undefined) => one === 'integer' || one === 'number'
  const hasType = (name: string) => type === undefined || isCounted(type) === isCounted(fields.get(name)?.type)
  const strong = found.find(hasType) ?? found[0]
  if (strong !== undefined || parameter === undefined) return strong
  const where = (test: (field: RecordField, name: string) => boolean) =>
    [...fields].flatMap(([name, field]) => (test(field, name) ? [name] : []))
  const isScalar = ({ type: own, choices }: RecordField) =>
    (isCounted(own) || own === 'string') && choices === undefined
  const [readOnly, ...more] = where((field, name) => field.readOnly && isScalar(field) && !isTimestamp(name, field))
  return [
    ...where((field, name) => isPathText(name, field, collection, parameter)),
    ...find(KEY_NAMES),
    ...where(({ format, place }, name) => isOurs(name) && (format === 'uuid' || isSaidToIdentify(place))),
    ...(readOnly !== undefined && more.length === 0 ? [readOnly] : []),
  ].find((name) => hasType(name) && isScalar(fields.get(name) as RecordField))
}

function isSaidToIdentify({ value }: Place): boolean {
  const { title, description } = Object(value)
  return (
    /^id$/i.test(title) || /^(the |a |an )?(unique |primary )+(\w+ )?(id|key|identifier|value)\b/i.test(description)
  )
}

function isTimestamp(name: string, { format }: RecordField): boolean {
  return /^date/.test(format ?? '') || /(_at|At|_on|_?date|Date)$/.test(name)
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
    const type = parameterType(operations, parameter)
    const wanted = [parameter, `${singularOf(resource)}Id`]
    const isParent = (name: string) => {
      const own = fields.get(name)?.type
      if (name === id.property || /^(boolean|object|array)$/.test(own ?? '')) return false
      const isNamed = wanted.some((one) => plainName(one) === plainName(name))
      return name === parameter || (isNamed && type !== undefined && type === own)
    }
    const property = [...fields.keys()].sort((name) => (name === parameter ? -1 : 0)).find(isParent)
    const field = property ?? [...wanted, parentField(parents.length)].find((name) => !taken.has(name)) ?? ''
    taken.add(field)
    parents.push({
      parameter,
      resource,
      field,
      ...(property !== undefined && { property }),
      ...(type === 'integer' && { isInteger: true }),
    })
  }
  return parents
}

function parameterType(operations: readonly OperationShape[], parameter: string): string | undefined {
  const found = operations
    .flatMap(parametersOf)
    .find((one) => one.string('in') === 'path' && one.string('name') === parameter)
    ?.child('schema')
  return found && typeOf(found)
}

const CREATED = /^(created|inserted|added|placed|started)(_?(at|on|time|date))?$/i

const UPDATED = /^(updated|modified|changed|last_?(updated|modified))(_?(at|on|time|date))?$/i

/** The form of an instant that the service sets; undefined for other properties. */
function timestampFormat(
  name: string,
  { type, format, place }: RecordField,
): 'date-time' | 'date' | 'seconds' | 'milliseconds' | undefined {
  if (!CREATED.test(name) && !UPDATED.test(name)) return undefined
  if (type === 'string') return format === 'date-time' || format === 'date' ? format : undefined
  const { description, example }: Node = Object(place.value)
  const isEpoch = /^(?:unix|epoch|timestamp)/i.test(format ?? '') || /\b(?:epoch|unix)\b/i.test(String(description))
  if (type !== 'integer' || !isEpoch) return undefined
  return Number(example) > 1e11 || /milli/i.test(`${format} ${description}`) ? 'milliseconds' : 'seconds'
}

/** The default of an omitted property; undefined if the schema has no value. */
function fillOf(name: string, field: RecordField): Fill | undefined {
  const format = timestampFormat(name, field)
  if (format !== undefined) return { kind: UPDATED.test(name) ? 'updated-at' : 'created-at', format }
  const { places } = field
  const values = [field.default, ...places.map(exampleValue)]
  const value = values.find((one) => one !== undefined && places.every((place) => fits(one, place)))
  return value === undefined ? undefined : { kind: 'value', value }
}
