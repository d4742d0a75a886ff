import { isMap, type JsonMap } from './json-map.js'

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']

/** What a contract is to be shown with. */
export interface ServedContract {
  readonly document: JsonMap
  /** The bearer scheme that takes the sandbox's keys. */
  readonly scheme: string
}

/**
 * Makes of a contract what can be tried out here: this sandbox is its only
 * server, since nobody should write to production from this page, and every
 * operation takes a key as bearer token, since the sandbox asks for one
 * whatever the contract says.
 *
 * @param contract an OpenAPI 3 document; it is left as it is
 * @param baseUrl  where the sandbox serves it
 */
export function servedContract(contract: JsonMap, baseUrl: string): ServedContract {
  const components = mapAt(contract, 'components')
  const schemes = mapAt(components, 'securitySchemes')
  const known = Object.keys(schemes).filter((name) => isBearer(schemes[name]))
  const scheme = known[0] ?? 'sandboxKey'
  const takesKey = (security: unknown) =>
    Array.isArray(security) &&
    security.some((way) => isMap(way) && Object.keys(way).some((name) => known.includes(name)))
  const security = takesKey(contract.security) ? contract.security : [{ [scheme]: [] }]

  function servePath(path: unknown): unknown {
    if (!isMap(path)) return path
    const { $ref, ...own } = path
    const { servers: _, ...served }: JsonMap = { ...sharedPath(contract, $ref), ...own }
    for (const method of METHODS) {
      const operation = served[method]
      if (isMap(operation)) served[method] = serveOperation(operation)
    }
    return withPlainParameters(served)
  }
  function serveOperation({ servers: _, ...operation }: JsonMap): JsonMap {
    const asksForKey = operation.security === undefined || takesKey(operation.security)
    return withPlainParameters(asksForKey ? operation : { ...operation, security })
  }

  return {
    scheme,
    document: {
      ...contract,
      servers: [{ url: baseUrl, description: 'This sandbox' }],
      security,
      paths: Object.fromEntries(
        Object.entries(mapAt(contract, 'paths')).map(([path, content]) => [path, servePath(content)]),
      ),
      components: {
        ...components,
        securitySchemes: known.length > 0 ? schemes : { ...schemes, [scheme]: { type: 'http', scheme: 'bearer' } },
      },
    },
  }
}

/** An operation as the contract has it; empty if there is none. */
export function operationAt(contract: JsonMap, path: string, method: string): JsonMap {
  return mapAt(mapAt(mapAt(contract, 'paths'), path), method)
}

/** Takes the examples off optional parameters: Swagger UI would fill them in, and a first try would be a filtered one. */
function withPlainParameters(holder: JsonMap): JsonMap {
  if (!Array.isArray(holder.parameters)) return holder
  const parameters = holder.parameters.map((parameter: unknown) => {
    if (!isMap(parameter) || parameter.required === true) return parameter
    const { example: _, examples: __, ...plain } = parameter
    return plain
  })
  return { ...holder, parameters }
}

const SHARED_PATHS = '#/components/pathItems/'

/** The path that a reference names, so that nothing of it is overlooked. */
function sharedPath(contract: JsonMap, reference: unknown): JsonMap {
  if (typeof reference !== 'string' || !reference.startsWith(SHARED_PATHS)) return {}
  const name = reference.slice(SHARED_PATHS.length).replaceAll('~1', '/').replaceAll('~0', '~')
  return mapAt(mapAt(mapAt(contract, 'components'), 'pathItems'), name)
}

function isBearer(scheme: unknown): boolean {
  return isMap(scheme) && scheme.type === 'http' && String(scheme.scheme).toLowerCase() === 'bearer'
}

function mapAt(map: JsonMap, name: string): JsonMap {
  const value = map[name]
  return isMap(value) ? value : {}
}
