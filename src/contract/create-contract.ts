import type { Contract, Operation, Reading, Route, Values } from './contract.js'
import type { ContractData, OperationData } from './contract-data.js'
import { bodyReader } from './read-body.js'
import { headerReader, pathReader, queryReader } from './read-parameters.js'
import { usedParameters } from './resource-data.js'
import type { Validators } from './validators.js'

const NOTHING_READ: Reading<Values> = Object.freeze({
  values: Object.freeze({}),
  violations: Object.freeze([]),
  unknown: Object.freeze([]),
})

const NO_VIOLATIONS = NOTHING_READ.violations
const NO_BODY = { readBody: () => NOTHING_READ, checkBody: () => NO_VIOLATIONS }

/** @param mocked ids of the operations that Prism mocks */
export function createContract(
  data: ContractData,
  validators: Validators,
  texts: Pick<Contract, 'document' | 'text'>,
  mocked: readonly string[] = [],
): Contract {
  const keys = new Set((data.otherKeys ?? []).flatMap((key) => (key.in === 'query' ? key.name : [])))
  const operations = data.operations.map((operation) =>
    createOperation(operation, validators, keys, mocked.includes(operation.id)),
  )
  return { ...data, operations, route: createRouter(operations), ...texts }
}

function createOperation(
  data: OperationData,
  validators: Validators,
  keys: ReadonlySet<string>,
  isMocked: boolean,
): Operation {
  const { id, parameters, body } = data
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  return {
    ...data,
    responses: new Map(data.responses.map((response) => [response.status, response])),
    takesBody: body !== undefined,
    isMocked,
    readQuery: queryReader(inQuery, validators[`${id}_query`], data.action && usedParameters(data.action), keys),
    readPath: pathReader(inPath, validators[`${id}_path`]),
    checkHeaders:
      data.headers === undefined ? () => NO_VIOLATIONS : headerReader(data.headers, validators[`${id}_headers`]),
    ...(body === undefined
      ? NO_BODY
      : bodyReader(body, {
          body: validators[`${id}_body`],
          form: validators[`${id}_form`],
          closed: validators[`${id}_closed`],
        })),
  }
}

const METHOD_ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
const TEMPLATE_PARAMETER = /\{[^{}]*\}/g

interface Resource {
  readonly path: string
  readonly operations: Map<string, Operation>
}

/** Exact, with or without a trailing slash. Literal segments win; parameters stay percent-encoded. */
function createRouter(operations: readonly Operation[]): (method: string, path: string) => Route {
  const unknown: Route = { kind: 'unknown', isPublic: areAllPublic(operations) }
  const resources = new Map<string, Resource>()
  for (const operation of operations) {
    const path = literalPath(wholeNames(operation))
    // Paths that differ in the names of their parameters are one.
    const template = path.replace(TEMPLATE_PARAMETER, (value) => (value.includes('*') ? value : '{}'))
    const resource = resources.get(template) ?? { path, operations: new Map<string, Operation>() }
    resources.set(template, resource)
    if (!resource.operations.has(operation.method)) resource.operations.set(operation.method, operation)
  }
  for (const { operations: own } of resources.values()) {
    const get = own.get('GET')
    if (get !== undefined && !own.has('HEAD')) own.set('HEAD', get)
  }
  const templates = [...resources.values()]
    .filter(({ path }) => path.includes('{'))
    .map((resource) => ({ pattern: toPattern(resource.path), resource, rank: rankOf(resource.path) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))

  return (method, given) => {
    const path = /^[\w\-./]*$/.test(given) ? given : normalPath(given)
    const fixed = path.includes('{') ? undefined : resources.get(path)
    if (fixed?.operations.has(method)) return routeTo(fixed, method, [])
    let other: Route | undefined = fixed && routeTo(fixed, method, [])
    for (const { pattern, resource } of templates) {
      const match = pattern.exec(path)
      if (match === null) continue
      const route = routeTo(resource, method, match.slice(1))
      if (route.kind === 'operation') return route
      other ??= route
    }
    return other ?? unknown
  }
}

function routeTo({ operations }: Resource, method: string, captured: readonly string[]): Route {
  const operation = operations.get(method)
  if (operation !== undefined) return { kind: 'operation', operation, captured }
  const allow = [...operations.keys()].sort((a, b) => METHOD_ORDER.indexOf(a) - METHOD_ORDER.indexOf(b))
  return { kind: 'method-not-allowed', allow, isPublic: areAllPublic([...operations.values()]) }
}

function areAllPublic(operations: readonly Operation[]): boolean {
  return operations.every((operation) => operation.isPublic)
}

function toPattern(path: string): RegExp {
  const literals = path.split(TEMPLATE_PARAMETER).map((literal) => literal.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  // Keys of OData may be quoted.
  const keys = /(?<=\\\(.*)'?\(\[\^\/\]\+\?\)'?(?=.*\\\))/g
  const names = path.match(TEMPLATE_PARAMETER) ?? []
  const groups = names.map((name) => (name.includes('*') ? nameGroup(name) : '([^/]+?)'))
  const pattern = literals
    .map((literal, index) => literal + (groups[index] ?? ''))
    .join('')
    .replace(keys, "'?([^/]+?)'?")
  return new RegExp(`^${pattern}$`)
}

/** Sorts literal segments before those with a parameter, and of these the one with the longest literal first. */
function rankOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.includes('{') ? 999 - segment.replace(TEMPLATE_PARAMETER, '').length : 0))
    .map((rank) => String(rank).padStart(3, '0'))
    .join()
}

/** The characters that a path may have both as they are and encoded. @source RFC 3986, section 3.3 */
const PLAIN = /[\w\-.~!$&'()*+,;=:@]/

/** What is written in more than one way: some clients encode `|`, and all encode a space. */
const UNUSUAL = /%[\da-f]{2}|[^\w\-.~!$&'()*+,;=:@/%{}]+/gi

function normalPath(path: string): string {
  return path.replace(UNUSUAL, (encoded) => {
    if (!encoded.startsWith('%')) return encodeURIComponent(encoded)
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
    return PLAIN.test(character) ? character : encoded.toUpperCase()
  })
}

/** `{name}` as `{shelves/*}`, if it holds a whole path. */
function wholeNames({ path, names = {} }: Operation): string {
  return path.replace(TEMPLATE_PARAMETER, (value) => {
    const template = names[value.slice(1, -1)]
    return template === undefined ? value : `{${template.replace(TEMPLATE_PARAMETER, '*')}}`
  })
}

/** Clients may encode its slashes. */
function nameGroup(parameter: string): string {
  return `(${parameter.slice(1, -1).replaceAll('/', '(?:/|%2F)').replaceAll('*', '(?:(?!%2F)[^/])+?')})`
}

function literalPath(path: string): string {
  return normalPath(path.replace(/%(?![\da-f]{2})/gi, '%25'))
}
