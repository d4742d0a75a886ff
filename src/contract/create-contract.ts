import type { Contract, Operation, Reading, Route, Values } from './contract.js'
import type { ContractData, OperationData } from './contract-data.js'
import { bodyReader } from './read-body.js'
import { pathReader, queryReader } from './read-parameters.js'
import { usedParameters } from './resource-data.js'
import type { Validators } from './validators.js'

const NOTHING_READ: Reading<Values> = Object.freeze({
  values: Object.freeze({}),
  violations: Object.freeze([]),
  unknown: Object.freeze([]),
})

const NO_BODY = { readBody: () => NOTHING_READ, checkBody: () => NOTHING_READ.violations }

/** @param mocked ids of the operations that Prism mocks */
export function createContract(
  data: ContractData,
  validators: Validators,
  text: Contract['text'],
  mocked: readonly string[] = [],
): Contract {
  const operations = data.operations.map((one) => createOperation(one, validators, mocked.includes(one.id)))
  return { ...data, operations, route: createRouter(operations), text }
}

function createOperation(data: OperationData, validators: Validators, isMocked: boolean): Operation {
  const { id, parameters, body } = data
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  return {
    ...data,
    responses: new Map(data.responses.map((response) => [response.status, response])),
    takesBody: body !== undefined,
    isMocked,
    readQuery: queryReader(inQuery, validators[`${id}_query`], data.action && usedParameters(data.action)),
    readPath: pathReader(inPath, validators[`${id}_path`]),
    ...(body === undefined ? NO_BODY : bodyReader(body, validators[`${id}_body`], validators[`${id}_closed`])),
  }
}

const UNKNOWN: Route = Object.freeze({ kind: 'unknown' })
const METHOD_ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']
const TEMPLATE_PARAMETER = /\{[^{}]*\}/g

interface Resource {
  readonly path: string
  readonly operations: Map<string, Operation>
}

/** Exact, with or without a trailing slash. Paths without parameters win; parameters stay percent-encoded. */
function createRouter(operations: readonly Operation[]): (method: string, path: string) => Route {
  const resources = new Map<string, Resource>()
  for (const operation of operations) {
    const { path, method } = operation
    // Paths that differ in the names of their parameters are one.
    const template = path.replace(TEMPLATE_PARAMETER, '{}')
    const resource = resources.get(template) ?? { path, operations: new Map<string, Operation>() }
    resources.set(template, resource)
    if (!resource.operations.has(method)) resource.operations.set(method, operation)
  }
  for (const { operations: own } of resources.values()) {
    const get = own.get('GET')
    if (get !== undefined && !own.has('HEAD')) own.set('HEAD', get)
  }
  const templates = [...resources.values()]
    .filter(({ path }) => path.includes('{'))
    .sort((one, other) => other.path.indexOf('{') - one.path.indexOf('{'))
    .map((resource) => ({ pattern: toPattern(resource.path), resource }))

  return (method, path) => {
    const fixed = path.includes('{') ? undefined : resources.get(path)
    if (fixed !== undefined) return routeTo(fixed, method, [])
    for (const { pattern, resource } of templates) {
      const match = pattern.exec(path)
      if (match !== null) return routeTo(resource, method, match.slice(1))
    }
    return UNKNOWN
  }
}

function routeTo({ operations }: Resource, method: string, captured: readonly string[]): Route {
  const operation = operations.get(method)
  if (operation !== undefined) return { kind: 'operation', operation, captured }
  const allow = [...operations.keys()].sort((one, other) => METHOD_ORDER.indexOf(one) - METHOD_ORDER.indexOf(other))
  return { kind: 'method-not-allowed', allow }
}

function toPattern(path: string): RegExp {
  const literals = path.split(TEMPLATE_PARAMETER).map((literal) => literal.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  return new RegExp(`^${literals.join('([^/]+?)')}$`)
}
