import type { Contract, Operation, Route, Violation } from '../contract/contract.js'
import type { Field, Parameter, ValueType } from '../contract/contract-data.js'
import { parseInt64 } from '../contract/int64.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import { didYouMean } from '../domain/suggest.js'
import { RequestError } from './request-error.js'

/** The input of a call, as strings. */
export interface CallInput {
  /** Values of the path parameters, in the path's order. */
  readonly path: readonly string[]
  readonly query: ReadonlyMap<Parameter, readonly string[]>
  readonly fields: ReadonlyMap<Field, readonly string[]>
  /** A whole body, whose fields are overridden by `fields`. */
  readonly body?: Uint8Array | undefined
}

/** A request before it has an address and a key. */
export interface BuiltRequest {
  readonly operation: Operation
  readonly method: string
  /** Relative to the base address: `/pets/1`. */
  readonly path: string
  /** Without its "?", empty if there is none. */
  readonly query: string
  readonly body: Uint8Array | undefined
  /** The ways in which it breaks the contract. */
  readonly violations: readonly Violation[]
  /** Fields of the body that the contract does not know; the service ignores them. */
  readonly unknownFields: readonly string[]
}

/** Builds an operation's request and checks it against the contract. @throws RequestError if it cannot be built at all */
export function buildRequest(operation: Operation, input: CallInput): BuiltRequest {
  const captured = input.path.map(encodePathValue)
  const query = [...input.query].flatMap(([parameter, texts]) => queryPairs(parameter, texts)).join('&')
  const body = buildBody(input)
  const path = fillPath(operation.path, captured)
  return checked({ operation, method: operation.method, path, query, body }, captured)
}

/**
 * Builds a request from its method and its target, as they are written in documents: `GET`, `/pets?limit=2`.
 *
 * @throws RequestError if the contract has no such operation
 */
export function requestTo(contract: Contract, method: string, target: string, body?: Uint8Array): BuiltRequest {
  const [whole = ''] = target.split('#', 1)
  const [path = '', ...rest] = encodeTarget(whole).split('?')
  const route = contract.route(method, path)
  if (route.kind !== 'operation') throw unknownRequest(contract, method, path, route)
  const { operation, captured } = route
  for (const value of captured) refuseDots(value)
  return checked({ operation, method, path, query: rest.join('?'), body }, captured)
}

function checked(
  request: Omit<BuiltRequest, 'violations' | 'unknownFields'>,
  captured: readonly string[],
): BuiltRequest {
  const { operation, query, body } = request
  const ofBody = operation.readBody(body ?? emptyBodyOf(operation))
  const readings = [operation.readPath(captured), operation.readQuery(query), ofBody]
  return {
    ...request,
    violations: readings.flatMap(({ violations }) => violations),
    unknownFields: ofBody.unknown,
  }
}

function unknownRequest(contract: Contract, method: string, path: string, route: Route): RequestError {
  const asked = `${method} ${path}`
  if (route.kind === 'method-not-allowed') {
    return new RequestError('UNKNOWN_OPERATION', [
      `The contract has no ${JSON.stringify(asked)}; ${path} takes ${route.allow.join(', ')}.`,
    ])
  }
  // Whoever copies an address has its base path, too.
  const below = path.replace(/^\/[^/]*/, '')
  const known = contract.operations.map((one) => `${one.method} ${one.path}`)
  const meant =
    contract.route(method, below).kind === 'operation'
      ? `; did you mean ${method} ${below}? The base address is put in front of it.`
      : didYouMean(asked, known, method.length + 2) || '.'
  return new RequestError('UNKNOWN_OPERATION', [`The contract has no ${JSON.stringify(asked)}${meant}`])
}

/** `new URL('/pets', base)` would drop the base address's own path. */
export function addressOf({ path, query }: Pick<BuiltRequest, 'path' | 'query'>, baseUrl: string): string {
  return `${baseUrl}${path}${query === '' ? '' : `?${query}`}`
}

function fillPath(path: string, captured: readonly string[]): string {
  let next = 0
  return path.replace(/\{[^}]*\}/g, () => captured[next++] ?? '')
}

/** Clients resolve "." and "..", encoded or not, and an empty segment would vanish. */
function encodePathValue(text: string): string {
  refuseDots(text)
  return encodeText(text)
}

function refuseDots(segment: string): void {
  if (segment === '' || /^(?:\.|%2e){1,2}$/i.test(segment)) {
    throw new RequestError('INVALID_REQUEST', [`${JSON.stringify(segment)} cannot be part of a path`])
  }
}

/** What no address can hold is encoded; what is there of the target's own encoding stays. */
function encodeTarget(target: string): string {
  return target.replace(/[^\x21-\x7e]+/g, encodeText)
}

function queryPairs(parameter: Parameter, texts: readonly string[]): readonly string[] {
  const name = encodeText(parameter.name)
  if (parameter.type === 'array' && !parameter.explode) return [`${name}=${texts.map(encodeText).join(',')}`]
  return texts.map((text) => `${name}=${encodeText(text)}`)
}

/** Half a surrogate pair, which encodes to nothing, becomes U+FFFD first. */
function encodeText(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}

/** If a required body is missing, an empty object makes the errors name each missing field. */
function emptyBodyOf({ body }: Operation): Uint8Array | undefined {
  return body?.required && body.fields.length > 0 ? Buffer.from('{}') : undefined
}

function buildBody({ fields, body }: CallInput): Uint8Array | undefined {
  if (fields.size === 0) return body
  const values: Record<string, unknown> = body === undefined ? {} : objectIn(body)
  for (const [field, texts] of fields) {
    // As an own field, whatever it is called.
    Object.defineProperty(values, field.name, {
      value: fieldValue(field, texts),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return Buffer.from(stringifyJson(values))
}

function objectIn(body: Uint8Array): Record<string, unknown> {
  let value: unknown
  try {
    value = parseShallowJson(Buffer.from(body).toString('utf8'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new RequestError('INVALID_REQUEST', [`--body: the body is not valid JSON: ${error.message}`])
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new RequestError('INVALID_REQUEST', ['--body: must be a JSON object where fields are given by flags too'])
}

function fieldValue(field: Field, texts: readonly string[]): unknown {
  if (field.type === 'array') return texts.map((text) => readValue(field.itemType ?? 'string', text))
  return readValue(field.type, texts.at(-1) ?? '')
}

/** A string that is not a value of the type stays a string, and the contract refuses it. */
function readValue(type: ValueType, text: string): unknown {
  switch (type) {
    case 'string':
      return text
    case 'integer':
      return parseInt64(text) ?? jsonOf(text, (value) => typeof value === 'number' || typeof value === 'bigint')
    case 'number':
      return jsonOf(text, (value) => typeof value === 'number' || typeof value === 'bigint')
    case 'boolean':
      return jsonOf(text, (value) => typeof value === 'boolean')
    default:
      return jsonOf(text, () => true)
  }
}

function jsonOf(text: string, isRight: (value: unknown) => boolean): unknown {
  try {
    const value = parseShallowJson(text)
    return isRight(value) ? value : text
  } catch {
    return text
  }
}
