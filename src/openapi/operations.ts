import { type Content, jsonContent, type Place } from '../contract/document.js'
import { essenceOf, isFormType } from '../contract/media-types.js'
import { type Fields, isAny, isObject, readRecordFields } from '../contract/schema-fields.js'

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace']

export const PARAMETER = /^\{([^{}]*)\}$/

export interface OperationShape {
  /** The operationId, or method and path. */
  readonly id: string
  readonly method: string
  readonly path: string
  readonly item: Place
  readonly place: Place
  /** The path of the collection that it is about, as `plainPath` writes it. */
  readonly collection: string
  /** The path parameter that identifies one record; undefined for the collection itself. */
  readonly parameter: string | undefined
}

export function readOperations(root: Place): readonly OperationShape[] {
  return root.children('paths').flatMap(([path, item]) => {
    if (!path.startsWith('/')) throw item.error('must begin with "/"')
    const bare = plainPath(path)
    const segments = bare.split('/')
    const [, last] = PARAMETER.exec(segments.at(-1) ?? '') ?? []
    const isItem = last !== undefined && segments.length > 2 && !PARAMETER.test(segments.at(-2) ?? '')
    const collection = isItem ? segments.slice(0, -1).join('/') : bare
    return METHODS.flatMap((method) => {
      const place = item.child(method)
      if (place === undefined) return []
      const id = operationId(item, method, path)
      return [{ id, method, path, item, place, collection, parameter: isItem ? last : undefined }]
    })
  })
}

/** Keys as segments of their own, as in `/products('{id}')` of OData; without a slash or `.json` at the end. */
function plainPath(path: string): string {
  return path.replace(/(?<=.)\/$|\.json$/, '').replace(/\((?:\w+=)?('?)(\{[^{}]*\})\1\)/g, '/$2')
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

export function literalsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '' && !PARAMETER.test(segment))
}

export function plainName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}
