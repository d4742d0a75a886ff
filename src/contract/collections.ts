import type { Place } from './document.js'
import { typeOf } from './schema-fields.js'

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace']

export const PARAMETER = /^\{([^{}]*)\}$/

export interface PathShape {
  readonly path: string
  readonly item: Place
  readonly collection: string
  /** The parameter that identifies one record; undefined for the collection itself. */
  readonly parameter: string | undefined
}

export type Collections = ReadonlyMap<string, readonly PathShape[]>

export function groupByCollection(root: Place): Collections {
  const collections = new Map<string, PathShape[]>()
  for (const shape of pathsOf(root)) {
    const known = collections.get(shape.collection)
    if (known === undefined) collections.set(shape.collection, [shape])
    else known.push(shape)
  }
  return collections
}

export function pathsOf(root: Place): readonly PathShape[] {
  return root.children('paths').map(([path, item]) => shapeOf(path, item))
}

function shapeOf(path: string, item: Place): PathShape {
  const bare = path.replace(/(?<=.)\/$/, '')
  const segments = bare.split('/')
  const [, parameter] = PARAMETER.exec(segments.at(-1) ?? '') ?? []
  const isItem = parameter !== undefined && segments.length > 2 && !PARAMETER.test(segments.at(-2) ?? '')
  return {
    path,
    item,
    collection: isItem ? segments.slice(0, -1).join('/') : bare,
    parameter: isItem ? parameter : undefined,
  }
}

/** The operationId, or method and path. A HEAD with the operationId of the GET beside it is the same to its author. */
function operationIdOf(item: Place, method: string, path: string): string {
  const id = item.child(method)?.string('operationId')
  const isTwin = method === 'head' && id === item.child('get')?.string('operationId')
  return id === undefined || isTwin ? `${method.toUpperCase()}${path}` : id
}

export interface OperationShape {
  readonly operationId: string
  readonly method: string
  readonly place: Place
  readonly isItem: boolean
  readonly item: Place
}

export function operationsOf({ path, item, parameter }: PathShape): readonly OperationShape[] {
  return METHODS.flatMap((method) => {
    const place = item.child(method)
    if (place === undefined) return []
    const operationId = operationIdOf(item, method, path)
    return [{ operationId, method, place, isItem: parameter !== undefined, item }]
  })
}

export function literalsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '' && !PARAMETER.test(segment))
}

export function parameterSchema(paths: readonly PathShape[]): Place | undefined {
  const shape = paths.find(({ parameter }) => parameter !== undefined)
  if (shape === undefined) return undefined
  const parameters = [
    ...shape.item.items('parameters'),
    ...operationsOf(shape).flatMap(({ place }) => place.items('parameters')),
  ]
  return parameters
    .find((one) => one.string('in') === 'path' && one.string('name') === shape.parameter)
    ?.child('schema')
}

export function parameterType(paths: readonly PathShape[]): string | undefined {
  const schema = parameterSchema(paths)
  return schema && typeOf(schema)
}

export function plainName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}
