import type { Operation } from '../../contract/contract.js'
import type { EngineRequest } from '../../contract/engine.js'
import { INT64_MAXIMUM, type Int64 } from '../../contract/int64.js'
import { stringifyJson } from '../../contract/json.js'
import type { Example } from './examples.js'

/** A request of a run, and what it is called in the report. */
export interface Probe {
  readonly name: string
  readonly request: EngineRequest
}

/** An id that nobody is likely to have given: near the largest, and no round number. */
const UNLIKELY_ID: Int64 = INT64_MAXIMUM - 8_191_919n
/** A category that a double cannot name: 2^53 + 1. */
const LONG_NUMBER = 9_007_199_254_740_993n

export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The requests that the contract gives as examples, those of a path with the id of something that is there. */
export function exampleProbes(operation: Operation, examples: readonly Example[], foundId: unknown): readonly Probe[] {
  return examples.flatMap((example) => {
    const request = requestOf(operation, example.values, foundId)
    return request === undefined ? [] : [{ name: operation.takesBody ? 'the example' : example.name, request }]
  })
}

/** What a list is asked before its examples, with nothing said; and after them, with each value of its filters and its largest limit. */
export function listProbes(operation: Operation, examples: readonly Example[]): readonly (readonly Probe[])[] {
  if (operation.method !== 'GET' || operation.path.includes('{') || operation.parameters.length === 0) return []
  if (operation.parameters.some(({ required }) => required)) return []
  const exampled = examples.flatMap(({ values }) => [...values])
  const filters = operation.parameters.flatMap(({ name, enum: values = [] }) =>
    values.map((value): readonly [string, unknown] => [name, value]),
  )
  const largest = operation.parameters.flatMap(({ name, type, maximum }): (readonly [string, unknown])[] =>
    name === 'limit' && type === 'integer' && maximum !== undefined ? [[name, maximum]] : [],
  )
  const others = [...filters, ...largest].filter(
    ([name, value]) => !exampled.some((one) => one[0] === name && String(one[1]) === String(value)),
  )
  return [
    [{ name: 'nothing said', request: bare(operation, '') }],
    others.map(([name, value]) => ({
      name: `${name} ${value}`,
      request: bare(operation, String(new URLSearchParams([[name, String(value)]]))),
    })),
  ]
}

/** A request for an item by its id; undefined where a path names it otherwise. */
export function itemRequest(operation: Operation, id: unknown): EngineRequest | undefined {
  const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
  if (operation.method !== 'GET' || inPath.length !== 1 || inPath[0]?.type !== 'integer') return undefined
  return requestOf(operation, new Map(), id)
}

/** A request for what is not there, of an operation that documents that. */
export function missingItemProbe(operation: Operation): Probe | undefined {
  const request = operation.responses.has(404) ? itemRequest(operation, UNLIKELY_ID) : undefined
  return request && { name: 'an id that is not there', request }
}

/** The example of what is created with nothing but what it must have, and a number that a double cannot hold. */
export function barestCreation(operation: Operation): Probe | undefined {
  const { body } = operation
  const example = exampleOf(operation)
  if (body === undefined || example === undefined) return undefined
  const required = body.fields.filter((field) => field.required)
  if (required.length === body.fields.length && !required.some(isLong)) return undefined
  const content = Object.fromEntries(
    required.map((field) => [field.name, isLong(field) ? LONG_NUMBER : example[field.name]]),
  )
  return { name: 'only what is required', request: withBody(operation, stringifyJson(content)) }
}

function isLong({ type, maximum }: { readonly type: string; readonly maximum?: Int64 }): boolean {
  return type === 'integer' && (maximum === undefined || maximum > LONG_NUMBER)
}

/** Bodies that the contract does not allow, of an operation that documents what it answers to them. */
export function invalidCreations(operation: Operation): readonly Probe[] {
  const { body } = operation
  const example = exampleOf(operation)
  if (body === undefined || example === undefined || !operation.responses.has(400)) return []
  const missing = body.fields.find(({ required }) => required)
  const choice = body.fields.find((field) => field.enum !== undefined && field.type === 'string')
  return [
    ...(missing === undefined ? [] : [without(operation, example, missing.name)]),
    ...(choice === undefined
      ? []
      : [
          {
            name: `an unknown ${choice.name}`,
            request: withBody(operation, stringifyJson({ ...example, [choice.name]: 'no-such-value' })),
          },
        ]),
    { name: 'a body that is no JSON', request: withBody(operation, '{"name":') },
  ]
}

function without(operation: Operation, example: Readonly<Record<string, unknown>>, name: string): Probe {
  const others = Object.fromEntries(Object.entries(example).filter(([one]) => one !== name))
  return { name: `no ${name}`, request: withBody(operation, stringifyJson(others)) }
}

function exampleOf({ body }: Operation): Readonly<Record<string, unknown>> | undefined {
  const example: unknown = body?.example === undefined ? undefined : JSON.parse(body.example)
  return typeof example === 'object' && example !== null && !Array.isArray(example) ? { ...example } : undefined
}

function withBody(operation: Operation, body: string): EngineRequest {
  const request = bare(operation, '')
  return { ...request, headers: { ...request.headers, 'content-type': 'application/json' }, body }
}

function bare({ method, path }: Operation, query: string): EngineRequest {
  return { method, path, query, headers: { accept: 'application/json' }, body: '' }
}

/** @returns undefined if a path parameter has no value */
function requestOf(
  operation: Operation,
  values: ReadonlyMap<string, unknown>,
  foundId: unknown,
): EngineRequest | undefined {
  const inPath = [...operation.path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  const textOf = (name: string) => (inPath.length === 1 ? (foundId ?? values.get(name)) : values.get(name))
  if (inPath.some((name) => textOf(name) === undefined)) return undefined
  const path = operation.path.replace(/\{([^{}]*)\}/g, (_, name: string) => encodeURIComponent(String(textOf(name))))
  const query = new URLSearchParams(
    [...values].flatMap(([name, value]): [string, string][] => (inPath.includes(name) ? [] : [[name, String(value)]])),
  )
  const body = operation.body?.example ?? ''
  const request = body === '' ? bare(operation, '') : withBody(operation, body)
  return { ...request, path, query: String(query) }
}
