import { type Content, jsonContent, type Place } from '../contract/document.js'
import { essenceOf, isFormType } from '../contract/media-types.js'
import { isSingular, literalsOf, PARAMETER, plainName } from '../contract/names.js'
import { type Fields, isAny, isObject, readRecordFields } from '../contract/schema-fields.js'

export const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace']

export interface OperationShape {
  /** The operationId, or method and path. */
  readonly id: string
  readonly method: string
  /** The method that does the same to a path without verbs: `delete` for `POST /things/{id}/delete`. */
  readonly effect: string
  readonly path: string
  readonly item: Place
  readonly place: Place
  /** The path of the collection that it is about, as `plainPath` writes it. */
  readonly collection: string
  /** The path parameter that identifies one record, the last of several; undefined for the collection itself. */
  readonly parameter: string | undefined
  /** All of them, if the record has a composite key. */
  readonly keys?: readonly string[]
  /** Path parameters that hold a whole path, as in gRPC, with its template: `name` and `shelves/{shelves}`. */
  readonly names?: Readonly<Record<string, string>>
  /** Its path has a verb, which `collection` has not. */
  readonly hasVerb?: true
}

/** The operation that does this to a whole collection. */
export function ofCollection(effect: string, operations: readonly OperationShape[]): OperationShape | undefined {
  return operations.find((operation) => operation.effect === effect && operation.parameter === undefined)
}

export function readOperations(root: Place): readonly OperationShape[] {
  const paths = root.children('paths')
  const read = paths.flatMap(([path, item]) => {
    if (!path.startsWith('/')) throw item.error('must begin with "/"')
    const names = readNames(path, item, paths)
    const place = { ...readPath(plainPath(withNames(path, names))), ...(Object.keys(names).length > 0 && { names }) }
    return METHODS.flatMap((method): readonly OperationShape[] => {
      const own = item.child(method)
      if (own === undefined) return []
      return [{ id: operationId(item, method, path), method, effect: method, path, item, place: own, ...place }]
    })
  })
  return withPlurals(withoutVerbs(read))
}

function readPath(path: string): Pick<OperationShape, 'collection' | 'parameter' | 'keys'> {
  const segments = path.split('/')
  const keys = KEYS.test(segments.at(-1) ?? '')
    ? [...path.matchAll(/\{([^{}]*)\}(?=[^/]*$)/g)].map(([, key]) => key)
    : []
  const isItem = keys.length > 0 && segments.length > 2 && !PARAMETER.test(segments.at(-2) ?? '')
  if (!isItem) return { collection: path, parameter: undefined }
  const named = keys.length > 1 ? { keys: keys as readonly string[] } : {}
  return { collection: segments.slice(0, -1).join('/'), parameter: keys.at(-1), ...named }
}

/** `shelves/[^/]+/books/[^/]+` */
const NAME_PATTERN = /^\^?((?:[\w-]+\/\[\^\/\][+*]\/?)+)\$?$/

/**
 * Parameters that hold a whole path, by their pattern. Without one, `/v1/{name}` is below the only collection beside it
 * that takes new records.
 */
function readNames(
  path: string,
  item: Place,
  paths: readonly (readonly [string, Place])[],
): Readonly<Record<string, string>> {
  const parameters = [item, ...METHODS.flatMap((method) => item.child(method) ?? [])].flatMap((place) =>
    place.items('parameters'),
  )
  return Object.fromEntries(
    [...path.matchAll(/\/\{([^{}]+)\}/g)].flatMap(([, name = '']) => {
      const schema = parameters
        .find((parameter) => parameter.string('in') === 'path' && parameter.string('name') === name)
        ?.child('schema')
      const [, pattern] = NAME_PATTERN.exec(schema?.string('pattern') ?? '') ?? []
      const template = pattern?.replaceAll(/([\w-]+)\/\[\^\/\][+*]/g, '$1/{$1}')
      const found = template ?? (path.endsWith(`/{${name}}`) ? besideName(path, name, paths) : undefined)
      return found === undefined ? [] : [[name, found]]
    }),
  )
}

function besideName(path: string, name: string, paths: readonly (readonly [string, Place])[]): string | undefined {
  const before = path.slice(0, -`{${name}}`.length)
  if (!/^(?:.*\.)?name$/.test(name) || before.includes('{')) return undefined
  const beside = paths.filter(([other, item]) => {
    const rest = other.startsWith(before) ? other.slice(before.length) : ''
    return /^[\w-]+$/.test(rest) && item.child('post') !== undefined
  })
  const [only, ...more] = beside.map(([other]) => other.slice(before.length))
  return only !== undefined && more.length === 0 ? `${only}/{${only}}` : undefined
}

function withNames(path: string, names: Readonly<Record<string, string>>): string {
  return path.replace(/\{([^{}]*)\}/g, (whole, name: string) => names[name] ?? whole)
}

/** One parameter, or the several of a composite key. */
const KEYS = /^\{[^{}]*\}(?:,\{[^{}]*\})*$/

/** Keys as segments of their own, as in `/products('{id}')` of OData; without a slash or `.json` at the end. */
function plainPath(path: string): string {
  return path
    .replace(/(?<=.)\/$|\.json$/, '')
    .replace(
      /\((?:\w+=)?('?)\{[^{}]*\}\1(?:,(?:\w+=)?('?)\{[^{}]*\}\2)*\)/g,
      (keys) => `/${keys.match(/\{[^{}]*\}/g)?.join()}`,
    )
}

/** Verbs at the end of a path, or before its parameter: the methods that may have them, and their effect. */
const VERBS: readonly (readonly [verb: RegExp, methods: string, effect: string, on: 'list' | 'record' | 'both'])[] = [
  [/^(?:create|add|new|insert|register|sign[-_]?up)(.*)$/i, 'post put', 'post', 'list'],
  [/^(?:bulk|batch)[-_]?(?:create|add|insert)?(.*)$/i, 'post', 'post', 'list'],
  [/^(?:update|edit|modify|patch|change)(.*)$/i, 'post put patch', 'patch', 'both'],
  [/^(?:delete|remove|destroy)(.*)$/i, 'post put delete', 'delete', 'both'],
  [/^(?:list|index|(?:get|find)?[-_]?all)(.*)$/i, 'get', 'get', 'list'],
  [/^(?:get|find|show|view|read|fetch)(.*)$/i, 'get', 'get', 'record'],
]

/** What follows a verb in `/tasks/create-task` and `/tasks/getById/{id}`. */
function isOf(noun: string, collection: string): boolean {
  const plain = plainName(noun)
  const many = plainName(literalsOf(collection).at(-1) ?? '')
  return (
    /^(?:|one|new|item|byid|many|bulk|batch|with(?:list|array))$/.test(plain) ||
    plain === many ||
    isSingular(plain, collection)
  )
}

/**
 * `/things/create`, `/things/{id}/delete` and `/things/delete/{id}` as `/things` and `/things/{id}`, if at least two
 * operations are about these, one of which reads.
 */
function withoutVerbs(read: readonly OperationShape[]): readonly OperationShape[] {
  const plain = read.map((shape) => withoutVerb(shape) ?? shape)
  const byCollection = grouped(plain, ({ collection }) => collection)
  return plain.map((shape, index) => {
    const group = byCollection.get(shape.collection) ?? []
    const isKnown = group.length > 1 && group.some(({ effect }) => effect === 'get')
    return isKnown ? shape : (read[index] ?? shape)
  })
}

function withoutVerb(shape: OperationShape): OperationShape | undefined {
  if (shape.names !== undefined) return undefined
  const segments = plainPath(shape.path).split('/')
  const isAfter = PARAMETER.test(segments.at(-2) ?? '')
  const isBefore = shape.parameter !== undefined
  const at = segments.length - (isBefore ? 2 : 1)
  const rest = segments.filter((_, index) => index !== at)
  if (rest.length < 2 || PARAMETER.test(segments[at] ?? '')) return undefined
  const target = readPath(rest.join('/'))
  if (isBefore || isAfter ? target.parameter === undefined : target.parameter !== undefined) return undefined
  for (const [verb, methods, effect, on] of VERBS) {
    const [, noun] = verb.exec(segments[at] ?? '') ?? []
    if (noun === undefined || !isOf(noun, target.collection) || !methods.includes(shape.method)) continue
    if (on !== 'both' && (on === 'record') !== (target.parameter !== undefined)) continue
    return { ...shape, ...target, hasVerb: true, effect: effect === 'patch' && shape.method === 'put' ? 'put' : effect }
  }
  return undefined
}

/** `/task` and `/task/{id}` as `/tasks`, which has the list. */
function withPlurals(read: readonly OperationShape[]): readonly OperationShape[] {
  const byCollection = grouped(read, ({ collection }) => collection)
  const plurals = new Map<string, string>()
  const place = ({ effect, parameter }: OperationShape) => `${effect} ${parameter !== undefined}`
  for (const [one, own] of byCollection) {
    const [, before = '', last = ''] = /^(.*\/)([^/{}]+)$/.exec(one) ?? []
    const many = [...byCollection.keys()].find(
      (other) =>
        other !== one &&
        other.startsWith(before) &&
        !other.slice(before.length).includes('/') &&
        isSingular(last, other),
    )
    const places = new Set(byCollection.get(many ?? '')?.map(place))
    if (many === undefined || !places.has('get false') || own.some((shape) => places.has(place(shape)))) continue
    if (own.some((shape) => place(shape) === 'get false')) continue
    plurals.set(one, many)
  }
  if (plurals.size === 0) return read
  return read.map((shape) => {
    const [one, many] =
      [...plurals].find(([path]) => shape.collection === path || shape.collection.startsWith(`${path}/`)) ?? []
    if (one === undefined) return shape
    return { ...shape, collection: `${many}${shape.collection.slice(one.length)}` }
  })
}

/** A HEAD with the operationId of the GET beside it is the same to its author. */
function operationId(item: Place, method: string, path: string): string {
  const id = item.child(method)?.string('operationId')
  const isTwin = method === 'head' && id === item.child('get')?.string('operationId')
  return id === undefined || isTwin ? `${method.toUpperCase()}${path}` : id
}

export function parametersOf({ item, place }: OperationShape): readonly Place[] {
  return [...item.items('parameters'), ...place.items('parameters')]
}

const NO_FIELDS: Fields = new Map()

/** The properties of an object that are parameters of their own in a query, as in the style of forms. */
export function explodedFields(parameter: Place): Fields {
  const schema = parameter.child('schema')
  const isForm = parameter.string('in') === 'query' && (parameter.string('style') ?? 'form') === 'form'
  const isExploded = isForm && parameter.child('explode')?.value !== false && schema !== undefined
  return isExploded && isObject(schema) ? readRecordFields(schema) : NO_FIELDS
}

/** The JSON content of a request, else its form. */
export function bodyContent(operation: Place): Place | undefined {
  const body = operation.child('requestBody')
  return (
    jsonContent(body)?.content ?? body?.entries('content').find(([mediaType]) => isFormType(essenceOf(mediaType)))?.[1]
  )
}

interface Success {
  /** 0 for `2XX` and `default`. */
  readonly status: number
  readonly response: Place
  readonly content: Content | undefined
  /** Undefined if the body may be anything. */
  readonly schema: Place | undefined
}

/** The documented success of an operation: the lowest 2xx, else `2XX`, else `default`. */
export function success(operation: Place): Success | undefined {
  const responses = operation.children('responses')
  const named = (wanted: RegExp) => responses.filter(([name]) => wanted.test(name))
  const exact = named(/^2\d\d$/).sort(([a], [b]) => Number(a) - Number(b))
  const [found] = [...exact, ...named(/^2XX$/i), ...named(/^default$/)]
  if (found === undefined) return undefined
  const [status, response] = found
  const content = jsonContent(response)
  const schema = content?.content.child('schema')
  return {
    status: exact.length > 0 ? Number(status) : 0,
    response,
    content,
    schema: schema && isAny(schema) ? undefined : schema,
  }
}

export function grouped<Key, Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): ReadonlyMap<Key, readonly Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
