import { curlCommand, KEY_REFERENCE, withKeyQuery } from '../advice/curl.js'
import type { Contract, Operation, Route, Violation } from '../contract/contract.js'
import type { Field, KeyHeader, Parameter, ValueType } from '../contract/contract-data.js'
import { parseInt64 } from '../contract/int64.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import { concreteType, isFormType } from '../contract/media-types.js'
import { Failure } from '../domain/failures.js'
import { redactAddress } from '../domain/redaction.js'
import { addressOf } from '../domain/space-address.js'
import { didYouMean } from '../domain/suggest.js'
import type { ClientRequest } from './exchange.js'
import { masked } from './headers.js'

export interface CallInput {
  readonly path: readonly string[]
  readonly query: ReadonlyMap<Parameter, readonly string[]>
  readonly fields: ReadonlyMap<Field, readonly string[]>
  /** A whole body; `fields` override its fields. */
  readonly body?: Uint8Array | undefined
}

export interface BuiltRequest {
  readonly operation: Operation
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: Uint8Array | undefined
  readonly violations: readonly Violation[]
  /** Fields of the body that the contract does not have; the service ignores them. */
  readonly unknownFields: readonly string[]
}

export function buildRequest(operation: Operation, input: CallInput): BuiltRequest {
  const captured = input.path.map((text) => encodeText(checkSegment(text)))
  const query = [...input.query].flatMap(([parameter, texts]) => queryPairs(parameter, texts)).join('&')
  const body = buildBody(operation, input)
  let next = 0
  const path = operation.path.replace(/\{[^}]*\}/g, () => captured[next++] ?? '')
  return checked({ operation, method: operation.method, path, query, body }, captured)
}

/** @param target as in documents: `/pets?limit=2` @throws Failure if the contract has no such operation */
export function requestTo(contract: Contract, method: string, target: string, body?: Uint8Array): BuiltRequest {
  const [whole = ''] = target.split('#', 1)
  // Existing percent-encoding stays.
  const [path = '', ...rest] = whole.replace(/[^\x21-\x7e]+/g, encodeText).split('?')
  const route = contract.route(method, path)
  if (route.kind !== 'operation') throw unknownRequest(contract, method, path, route)
  const { operation, captured } = route
  captured.forEach(checkSegment)
  return checked({ operation, method, path, query: rest.join('?'), body }, captured)
}

function checked(
  request: Omit<BuiltRequest, 'violations' | 'unknownFields'>,
  captured: readonly string[],
): BuiltRequest {
  const { operation, query, body } = request
  const { required = false, fields = [] } = operation.body ?? {}
  // In place of a missing body an empty object makes the errors name each missing field.
  const empty = isFormType(contentTypeOf(operation)) ? '&' : '{}'
  const read = operation.readBody(body ?? (required && fields.length > 0 ? Buffer.from(empty) : undefined))
  const readings = [operation.readPath(captured), operation.readQuery(query), read]
  return { ...request, violations: readings.flatMap(({ violations }) => violations), unknownFields: read.unknown }
}

function unknownRequest(contract: Contract, method: string, path: string, route: Route): Failure {
  const asked = `${method} ${path}`
  if (route.kind === 'method-not-allowed') {
    return new Failure('UNKNOWN_OPERATION', [
      `The contract has no ${JSON.stringify(asked)}; ${path} takes ${route.allow.join(', ')}.`,
    ])
  }
  // A copied address includes the base path.
  const below = path.replace(/^\/[^/]*/, '')
  const known = contract.operations.map((operation) => `${operation.method} ${operation.path}`)
  const meant =
    contract.route(method, below).kind === 'operation'
      ? `; did you mean ${method} ${below}? The base address is put in front of it.`
      : didYouMean(asked, known, method.length + 2) || '.'
  return new Failure('UNKNOWN_OPERATION', [`The contract has no ${JSON.stringify(asked)}${meant}`])
}

/** `new URL('/pets', base)` would drop the base address's own path. */
export function requestUrl(request: Pick<BuiltRequest, 'path' | 'query'>, baseUrl: string): string {
  return baseUrl + addressOf(request)
}

/** Clients resolve "." and "..", also encoded, and drop empty segments. */
function checkSegment(segment: string): string {
  if (segment !== '' && !/^(?:\.|%2e){1,2}$/i.test(segment)) return segment
  throw new Failure('INVALID_REQUEST', [`${JSON.stringify(segment)} cannot be part of a path`])
}

function queryPairs(parameter: Parameter, texts: readonly string[]): readonly string[] {
  const name = encodeText(parameter.name)
  const { type, style, explode } = parameter
  const separator = style === 'pipeDelimited' ? '%7C' : style === 'spaceDelimited' ? '%20' : ','
  if (type === 'array' && !explode) return [`${name}=${texts.map(encodeText).join(separator)}`]
  if (style === 'deepObject' && type === 'other') {
    const parts = entriesIn(Buffer.from(texts.at(-1) ?? ''), `--${parameter.name}`)
    return parts.map(([part, value]) => `${name}[${encodeText(part)}]=${encodeText(String(value))}`)
  }
  return texts.map((text) => `${name}=${encodeText(text)}`)
}

/** Lone surrogates, which cannot be encoded, become U+FFFD. */
function encodeText(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}

/** The media type in which an operation gets its body: JSON if it takes JSON. */
export function contentTypeOf({ body }: Operation): string {
  return concreteType(body?.mediaTypes[0] ?? 'application/json')
}

function buildBody(operation: Operation, { fields, body }: CallInput): Uint8Array | undefined {
  if (fields.size === 0) return body
  const contentType = contentTypeOf(operation)
  if (isFormType(contentType)) {
    if (contentType.startsWith('multipart') || body !== undefined)
      throw new Failure('INVALID_REQUEST', [
        `call cannot write a body of ${contentType} by flags. Send it with --body, and its Content-Type with --header.`,
      ])
    const parameters = operation.body?.formFields ?? []
    const pairs = [...fields].flatMap(([{ name }, texts]) => {
      const parameter = parameters.find((one) => one.name === name)
      return parameter === undefined ? [] : queryPairs(parameter, texts)
    })
    return Buffer.from(pairs.join('&'))
  }
  const given = [...fields].map(([{ name, type, itemType = 'string' }, texts]): readonly [string, unknown] => [
    name,
    type === 'array' ? texts.map((text) => readValue(itemType, text)) : readValue(type, texts.at(-1) ?? ''),
  ])
  return Buffer.from(stringifyJson(Object.fromEntries([...(body === undefined ? [] : entriesIn(body)), ...given])))
}

function entriesIn(body: Uint8Array, flag = '--body'): readonly (readonly [string, unknown])[] {
  let value: unknown
  try {
    value = parseShallowJson(Buffer.from(body).toString('utf8'))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Failure('INVALID_REQUEST', [`${flag}: not valid JSON: ${error.message}`])
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value)
  throw new Failure('INVALID_REQUEST', [
    `${flag}: must be a JSON object${flag === '--body' ? ' where fields are given by flags too' : ''}`,
  ])
}

/** A text that is not a value of the type stays a string, which the contract refuses. */
function readValue(type: ValueType, text: string): unknown {
  if (type === 'string') return text
  const integer = type === 'integer' ? parseInt64(text) : undefined
  if (integer !== undefined) return integer
  try {
    const value = parseShallowJson(text)
    const kinds = { integer: ['number', 'bigint'], number: ['number', 'bigint'], boolean: ['boolean'] }
    return type === 'array' || type === 'other' || kinds[type].includes(typeof value) ? value : text
  } catch {
    return text
  }
}

/**
 * The request as a curl command; the key stays in the environment.
 *
 * @param fallback a key that is not a secret
 * @param keyQuery what the key follows in the query; the address does not have it
 */
export function toCurl(
  { url, headers, body, ...request }: ClientRequest,
  keyHeaders: readonly KeyHeader[],
  fallback?: string,
  keyQuery?: string,
): string {
  const text = body && Buffer.from(body).toString('utf8')
  const key = fallback === undefined ? {} : { key: `\${${KEY_REFERENCE.slice(1)}:-${fallback}}` }
  return curlCommand({
    ...request,
    url: redactAddress(url),
    headers: masked(headers, keyHeaders),
    keyHeaders,
    body: text,
    ...key,
    ...(keyQuery === undefined ? {} : { keyQuery }),
  })
}

export function toHttpText(
  { method, url, headers, body }: ClientRequest,
  keyHeaders: readonly KeyHeader[],
  keyQuery = '',
): string {
  const lines = masked(headers, keyHeaders, KEY_REFERENCE).map(([name, value]) => `${name}: ${value}`)
  const text = body === undefined ? [] : ['', Buffer.from(body).toString('utf8')]
  return [`${method} ${withKeyQuery(redactAddress(url), keyQuery, KEY_REFERENCE)}`, ...lines, ...text].join('\n')
}
