import { decodePercent } from './query.js'

export type JsonObject = { readonly [name: string]: unknown }

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/**
 * A document with one operation, and those components that it refers to, directly or through others.
 *
 * @returns the whole document if a reference leads elsewhere, such as into another path
 */
export function excerptFor(document: JsonObject, path: string, method: string): JsonObject {
  const { paths, components, ...others } = document
  const item = Object.entries(Object(Object(paths)[path])).filter(
    ([name]) => name === method || !METHODS.includes(name),
  )
  const excerpt = { ...others, paths: { [path]: Object.fromEntries(item) } }
  const securitySchemes: unknown = Object(components).securitySchemes
  const kept: Record<string, Record<string, unknown>> = {}
  const unread: unknown[] = [excerpt, securitySchemes]
  while (unread.length > 0) {
    const value = unread.pop()
    if (typeof value !== 'object' || value === null) continue
    unread.push(...Object.values(value))
    const reference: unknown = Reflect.get(value, '$ref')
    if (typeof reference !== 'string') continue
    const [, section = '', name = ''] = /^#\/components\/([^/]+)\/([^/]+)/.exec(reference)?.map(readPointer) ?? []
    const component: unknown = Object(Object(components)[section])[name]
    if (component === undefined) return document
    const keptHere = kept[section] ?? {}
    kept[section] = keptHere
    if (Object.hasOwn(keptHere, name)) continue
    keptHere[name] = component
    unread.push(component)
  }
  return { ...excerpt, components: { ...kept, ...(securitySchemes !== undefined && { securitySchemes }) } }
}

/** @source RFC 6901: JSON Pointer */
function readPointer(part: string): string {
  return decodePercent(part).replaceAll('~1', '/').replaceAll('~0', '~')
}
