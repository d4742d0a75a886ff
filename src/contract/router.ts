import type { Operation, Route } from './contract.js'

const UNKNOWN: Route = Object.freeze({ kind: 'unknown' })
/** The order in which Allow names methods. */
const METHOD_ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
const TEMPLATE_PARAMETER = /\{[^{}]*\}/g

/** What can be done at one path of the contract. */
interface Resource {
  readonly operations: ReadonlyMap<string, Operation>
  /** Made once, because most paths have no parameters. */
  readonly routes: ReadonlyMap<string, Route>
  readonly notAllowed: Route
}

/**
 * Makes a function that finds an operation by method and path. A path must match
 * exactly: a trailing slash makes it a different one. Paths without parameters go
 * before those with; parameters are taken as they are, still percent-encoded.
 */
export function createRouter(operations: readonly Operation[]): (method: string, path: string) => Route {
  const resources = [...groupByPath(operations)].map(([path, own]) => [path, toResource(own)] as const)
  const fixed = new Map(resources.filter(([path]) => !path.includes('{')))
  const templates = resources
    .filter(([path]) => path.includes('{'))
    .sort(([a], [b]) => literalStart(b) - literalStart(a))
    .map(([path, resource]) => ({ pattern: toPattern(path), resource }))

  return (method, path) => {
    const resource = fixed.get(path)
    if (resource !== undefined) return resource.routes.get(method) ?? resource.notAllowed
    for (const { pattern, resource } of templates) {
      const match = pattern.exec(path)
      if (match === null) continue
      const operation = resource.operations.get(method)
      return operation === undefined ? resource.notAllowed : { kind: 'operation', operation, captured: match.slice(1) }
    }
    return UNKNOWN
  }
}

function toResource(own: readonly Operation[]): Resource {
  const operations = new Map(own.map((operation) => [operation.method, operation]))
  const get = operations.get('GET')
  if (get !== undefined && !operations.has('HEAD')) operations.set('HEAD', get)
  const allow = [...operations.keys()].sort((a, b) => METHOD_ORDER.indexOf(a) - METHOD_ORDER.indexOf(b))
  const routes = [...operations].map(
    ([method, operation]) => [method, Object.freeze({ kind: 'operation', operation, captured: [] })] as const,
  )
  return {
    operations,
    routes: new Map<string, Route>(routes),
    notAllowed: Object.freeze({ kind: 'method-not-allowed', allow: Object.freeze(allow) }),
  }
}

function groupByPath(operations: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> {
  const groups = new Map<string, Operation[]>()
  for (const operation of operations) {
    const group = groups.get(operation.path)
    if (group === undefined) groups.set(operation.path, [operation])
    else group.push(operation)
  }
  return groups
}

function literalStart(path: string): number {
  return path.indexOf('{')
}

function toPattern(path: string): RegExp {
  const literals = path.split(TEMPLATE_PARAMETER).map((literal) => literal.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  return new RegExp(`^${literals.join('([^/]+?)')}$`)
}
