import type { Contract, Operation } from '../../contract/contract.js'
import { rootPlace } from '../../contract/document.js'
import type { EngineRequest } from '../../contract/engine.js'
import { INT64_MAXIMUM, type Int64 } from '../../contract/int64.js'
import { stringifyJson } from '../../contract/json.js'
import { limitName } from '../../drift/bodies.js'
import { buildRequest } from '../build-request.js'
import type { SeenItems } from './seen-items.js'

export interface Probe {
  readonly name: string
  readonly request: EngineRequest
  readonly expected?: 400 | 401 | 404
  /** The instance may have a reason of its own to refuse it with 400. */
  readonly isRefusable?: boolean
  /** It asks for some of the records. */
  readonly isOfRecords?: true
}

type Values = ReadonlyMap<string, unknown>

export interface Example {
  readonly name: string
  readonly values: Values
}

/** An id that is unlikely to exist: near the largest one, and not a round number. */
const UNLIKELY_ID: Int64 = INT64_MAXIMUM - 8_191_919n
/** 2^53 + 1, which a double cannot hold. */
const LONG_NUMBER = 9_007_199_254_740_993n

export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Reads the requests that the contract's named examples add up to: values with the same example name belong together. */
export async function readExamples(contract: Contract): Promise<(operation: Operation) => readonly Example[]> {
  const paths = rootPlace(await contract.document()).child('paths')
  return (operation) => {
    const item = paths?.child(operation.path)
    const parameters = [item, item?.child(operation.method.toLowerCase())].flatMap(
      (at) => at?.items('parameters') ?? [],
    )
    const examples = new Map<string, Map<string, unknown>>()
    const inPath = new Map<string, unknown>()
    for (const parameter of parameters) {
      const name = parameter.string('name') ?? ''
      for (const [title, example] of parameter.entries('examples')) {
        const value = example.child('value')?.value
        if (parameter.string('in') === 'path' && !inPath.has(name)) inPath.set(name, value)
        examples.set(title, (examples.get(title) ?? new Map()).set(name, value))
      }
    }
    if (examples.size === 0) return [{ name: 'the request', values: new Map() }]
    // An example without values for its path gets the values of the first example.
    return [...examples].map(([name, values]) => ({ name, values: new Map([...inPath, ...values]) }))
  }
}

export function exampleProbes(operation: Operation, examples: readonly Example[], ids: Values): readonly Probe[] {
  return examples.flatMap(({ name, values }) => {
    const request = requestWith(operation, values, ids)
    return request === undefined ? [] : [{ name: operation.takesBody ? 'the example' : name, request }]
  })
}

/** @returns `most` is undefined if a response has one page, of an unknown length */
export function wholeList(
  operation: Operation,
): { readonly request: EngineRequest; readonly most: Int64 | undefined } | undefined {
  if (!isList(operation)) return undefined
  const limit = operation.parameters.find((parameter) => isLimit(operation, parameter))
  if (limit?.maximum === undefined) {
    const { limit: size = limit?.name, page, offset, cursor, before } = operation.action?.query ?? {}
    const hasPages = [size, page, offset, cursor, before].some((name) => name !== undefined)
    return { request: plainRequest(operation), most: hasPages ? undefined : INT64_MAXIMUM }
  }
  return { request: plainRequest(operation, queryOf(limit.name, limit.maximum)), most: limit.maximum }
}

export function bareListProbes(operation: Operation): readonly Probe[] {
  if (!isList(operation) || operation.parameters.length === 0) return []
  return [{ name: 'no parameters', request: plainRequest(operation) }]
}

export function listProbes(operation: Operation, examples: readonly Example[]): readonly Probe[] {
  if (!isList(operation)) return []
  const known = new Set(
    examples.flatMap(({ values }) => [...values].map(([name, value]) => `${name} ${String(value)}`)),
  )
  return operation.parameters
    .flatMap((parameter) =>
      [...(parameter.enum ?? []), ...(isLimit(operation, parameter) ? [parameter.maximum ?? []].flat() : [])].map(
        (value) => ({
          parameter,
          value,
        }),
      ),
    )
    .map(({ parameter: { name }, value }) => ({
      name: `${name} ${String(value)}`,
      request: plainRequest(operation, queryOf(name, value)),
      isOfRecords: true as const,
    }))
    .filter(({ name }) => !known.has(name))
}

function isList({ method, path, parameters }: Operation): boolean {
  return method === 'GET' && !path.includes('{') && !parameters.some(({ required }) => required)
}

function isLimit(operation: Operation, { in: place, name, type }: Operation['parameters'][number]): boolean {
  return place === 'query' && name === limitName(operation) && type === 'integer'
}

function queryOf(name: string, value: unknown): string {
  return String(new URLSearchParams([[name, String(value)]]))
}

export function itemProbes(
  operation: Operation,
  items: SeenItems,
  { resources }: Pick<Contract, 'resources'>,
): readonly Probe[] {
  const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
  if (operation.method !== 'GET' || inPath.length !== 1 || inPath[0]?.type !== 'integer') return []
  const created = items.created.at(-1)?.id
  const { parents = [] } = resources.find(({ name }) => name === operation.action?.resource) ?? {}
  // Of a parent that is not a resource, any id will do.
  const isChecked = parents.length === 0 || parents.some(({ resource }) => resource !== undefined)
  const probe = (name: string, id: unknown, more: Partial<Probe> = {}) => {
    const request =
      id === undefined ? undefined : requestWith(operation, new Map(), new Map([[inPath[0]?.name ?? '', id]]))
    return request === undefined ? [] : [{ name, request, ...more }]
  }
  return [
    ...probe(
      'an id beyond 2^53',
      items.ids.slice(1).find((id) => typeof id === 'bigint'),
    ),
    ...probe('the created item', created),
    ...(operation.responses.has(404) && isChecked ? probe('an unknown id', UNLIKELY_ID, { expected: 404 }) : []),
  ]
}

/** Bodies beside the example; invalid ones where the contract documents a 400. */
export function creationProbes(operation: Operation): readonly Probe[] {
  const { body } = operation
  const example: unknown = body?.example === undefined ? undefined : JSON.parse(body.example)
  if (body === undefined || typeof example !== 'object' || example === null || Array.isArray(example)) return []
  const values: Readonly<Record<string, unknown>> = { ...example }
  const probe = (name: string, content: object, more: Partial<Probe> = {}): Probe => ({
    name,
    request: requestWithBody(operation, stringifyJson(content)),
    ...more,
  })
  const required = body.fields.filter((field) => field.required)
  const barest = Object.fromEntries(required.map(({ name }) => [name, values[name]]))
  const long = required.filter(
    ({ type, maximum }) => type === 'integer' && (maximum === undefined || maximum > LONG_NUMBER),
  )
  const valid = [
    ...(required.length < Object.keys(values).length ? [probe('required fields only', barest)] : []),
    ...body.fields.flatMap(({ name, enum: all = [] }) =>
      all
        .filter((value) => value !== values[name])
        .map((value) => probe(`${name} ${value}`, { ...values, [name]: value })),
    ),
    ...(long.length === 0
      ? []
      : [
          probe(
            'a number beyond 2^53',
            { ...barest, ...Object.fromEntries(long.map(({ name }) => [name, LONG_NUMBER])) },
            { isRefusable: true },
          ),
        ]),
  ]
  // The alternatives of a body may require and allow other fields together.
  const isValid = ({ request }: Probe) => operation.readBody(Buffer.from(request.body)).violations.length === 0
  if (!operation.responses.has(400)) return valid.filter(isValid)
  const invalid = (name: string, content: object) => probe(name, content, { expected: 400 })
  const broken = [
    ...required.map(({ name }) => {
      const { [name]: _, ...others } = values
      return invalid(`no ${name}`, others)
    }),
    ...body.fields.flatMap(({ name, type, enum: all }) => {
      if (type === 'string' && all !== undefined)
        return [invalid(`an unknown ${name}`, { ...values, [name]: 'no-such-value' })]
      if (type !== 'integer') return []
      return [
        invalid(`${name} as a text`, { ...values, [name]: '1' }),
        invalid(`${name} as a fraction`, { ...values, [name]: 1.5 }),
      ]
    }),
    { name: 'invalid JSON', request: requestWithBody(operation, '{"name":'), expected: 400 } as const,
  ]
  return [...valid.filter(isValid), ...broken.filter((probe) => !isValid(probe))]
}

function requestWithBody(operation: Operation, body: string): EngineRequest {
  const request = plainRequest(operation)
  return { ...request, headers: { ...request.headers, 'content-type': 'application/json' }, body }
}

function plainRequest({ method, path, headers = [] }: Operation, query = ''): EngineRequest {
  const required = headers.filter((header) => header.required && header.example !== undefined)
  const own = required.map(({ in: place, name, example }) =>
    place === 'cookie' ? ['cookie', `${name}=${String(example)}`] : [name.toLowerCase(), String(example)],
  )
  return { method, path, query, headers: { accept: 'application/json', ...Object.fromEntries(own) }, body: '' }
}

/** @param ids of records that exist, by path parameter */
function requestWith(operation: Operation, values: Values, ids: Values): EngineRequest | undefined {
  const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
  const segments = inPath.map(({ name, example }) => ids.get(name) ?? values.get(name) ?? example)
  if (segments.some((segment) => segment === undefined || String(segment) === '')) return undefined
  const query = operation.parameters.flatMap((parameter) => {
    const value = values.get(parameter.name) ?? (parameter.required ? parameter.example : undefined)
    return parameter.in === 'path' || value === undefined ? [] : [[parameter, [value].flat().map(String)] as const]
  })
  const built = buildRequest(operation, {
    path: segments.map(String),
    query: new Map(query),
    fields: new Map(),
  })
  const body = operation.body?.example ?? ''
  const request = body === '' ? plainRequest(operation) : requestWithBody(operation, body)
  return { ...request, path: built.path, query: built.query }
}
