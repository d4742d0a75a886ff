import type { Contract, Operation } from './contract.js'
import { jsonContent, operationPlace, type Place, rootPlace } from './document.js'
import type { EngineResponse } from './engine.js'
import { quote } from './excerpt.js'
import { parseJson, parseShallowJson } from './json.js'
import { toJsonSchema } from './json-schema.js'
import { essenceOf, isInRange, isJsonType } from './media-types.js'
import { type Fields, readAllFields } from './schema-fields.js'
import { hasNoBody } from './sendable.js'
import { type ValidatorMaker, validatorMaker } from './validator-maker.js'
import { findViolations } from './validators.js'

export interface ResponseRules {
  of(operation: Operation): OperationRules | undefined
}

export interface OperationRules {
  /** As the contract names them: `200`, `4XX`, `default`. */
  readonly statuses: readonly string[]
  /** The documentation of a status: its own entry, its range's, or the default one. */
  of(status: number): StatusRules | undefined
}

export interface StatusRules {
  readonly headers: readonly HeaderRules[]
  /** Media types, lower case; empty where none is documented, or services need not keep them. */
  readonly mediaTypes: readonly string[]
  /** Documented fields of a record, or of the records of a list, in or without an envelope. */
  readonly fields: Fields
  /** Finds how a JSON value breaks the schema, as sentence parts: `name is required`. */
  findViolations(value: unknown): readonly string[]
}

export interface HeaderRules {
  readonly name: string
  readonly required: boolean
  /** Finds how a value breaks the schema, as a sentence part that continues the name. */
  findViolation(text: string): string | undefined
}

/**
 * Bodies that only the sandbox documents (`x-sandbox-choice: body`) are optional for services.
 *
 * @param patterns linear where strangers choose the text
 */
export async function readResponseRules(contract: Contract, patterns: 'linear' | 'native'): Promise<ResponseRules> {
  const root = rootPlace(await contract.document())
  // The first mistake of a response is enough: one of a million items may have as many.
  const compile = await validatorMaker(patterns, { maxErrors: 1 })
  const rules = new Map(
    contract.operations.map((operation) => {
      const responses = operationPlace(root, operation)?.children('responses') ?? []
      const byStatus = responses.map(
        ([status, response]) => [status.toUpperCase(), statusRules(response, compile, operation)] as const,
      )
      return [operation.id, operationRules(new Map(byStatus))]
    }),
  )
  return { of: ({ id }) => rules.get(id) }
}

function documentedContent(response: Place): readonly (readonly [string, Place])[] {
  return response.child('x-sandbox-choice')?.value === 'body' ? [] : response.entries('content')
}

function operationRules(rules: ReadonlyMap<string, StatusRules>): OperationRules {
  return {
    statuses: [...rules.keys()].map((status) => (status === 'DEFAULT' ? 'default' : status)),
    of: (status) => rules.get(String(status)) ?? rules.get(`${Math.floor(status / 100)}XX`) ?? rules.get('DEFAULT'),
  }
}

function statusRules(response: Place, compile: ValidatorMaker, { action }: Operation): StatusRules {
  const content = documentedContent(response).length === 0 ? undefined : jsonContent(response)?.content
  const schema = content?.child('schema')
  const record = [action?.outer, action?.envelope].reduce(within, schema)
  const validator = schema && compile(() => toJsonSchema((content as Place).written('schema'), { of: 'response' }))
  return {
    headers: response.entries('headers').map(([name, place]) => ({
      name,
      required: place.flag('required'),
      findViolation: headerReader(place, compile),
    })),
    mediaTypes: documentedContent(response).map(([mediaType]) => essenceOf(mediaType)),
    fields: record ? readAllFields(record.child('items') ?? record) : new Map(),
    findViolations: (value) => findViolations(validator, value, 'body').map(({ message }) => message),
  }
}

function within(schema: Place | undefined, name: string | undefined): Place | undefined {
  return name === undefined ? schema : schema && readAllFields(schema).get(name)?.place
}

function headerReader(header: Place, compile: ValidatorMaker): HeaderRules['findViolation'] {
  const schema = header.child('schema')
  const types = [Object(schema?.value).type].flat()
  // The form of lists and objects in a header is not checked.
  if (schema === undefined || types.includes('array') || types.includes('object')) return () => undefined
  const validator = compile(() => toJsonSchema(header.written('schema'), { of: 'response' }))
  const isText = types.includes('string') || types.includes(undefined)
  return (text) => {
    if (validator(isText ? text : scalarOf(text)) === true) return undefined
    return `${validator.errors?.[0]?.message ?? 'is not valid'} (it is ${quote(text)})`
  }
}

function scalarOf(text: string): unknown {
  try {
    return parseJson(text.trim())
  } catch {
    return text
  }
}

/** A response's body; numbers in JSON are exact. */
export type ReadResponse =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'other' }
  | { readonly kind: 'malformed'; readonly problem: string }

export function readResponse({ headers, body, isUtf8 }: EngineResponse): ReadResponse {
  if (body === '' || !isJsonType(essenceOf(headers['content-type'] ?? ''))) return { kind: 'other' }
  if (isUtf8 === false) return { kind: 'malformed', problem: 'the body is not valid UTF-8' }
  try {
    return { kind: 'json', value: parseShallowJson(body) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { kind: 'malformed', problem: `the body is not valid JSON: ${error.message}` }
  }
}

/** `X-RateLimit-Limit is missing`. @param isIgnored takes a header's name in lower case */
export function findHeaderViolations(
  rules: OperationRules,
  { status, headers }: EngineResponse,
  isIgnored: (key: string) => boolean = () => false,
): readonly string[] {
  return (rules.of(status)?.headers ?? []).flatMap(({ name, required, findViolation }) => {
    const key = name.toLowerCase()
    if (isIgnored(key)) return []
    const text = headers[key]
    const violation = text === undefined ? (required ? 'is missing' : undefined) : findViolation(text)
    return violation === undefined ? [] : [`${name} ${violation}`]
  })
}

export function findContentViolations(
  rules: OperationRules,
  response: EngineResponse,
  read: ReadResponse,
  isHead: boolean,
): { readonly status: readonly string[]; readonly body: readonly string[] } {
  const { status } = response
  const documented = rules.of(status)
  if (documented === undefined) {
    const ones = rules.statuses.join(', ')
    return { status: [`the status ${status} is not documented (the documented ones are ${ones || 'none'})`], body: [] }
  }
  return { status: [], body: isHead || hasNoBody(status) ? [] : contentViolations(documented, response, read) }
}

function contentViolations(
  { mediaTypes, findViolations }: StatusRules,
  { headers, body }: EngineResponse,
  read: ReadResponse,
): readonly string[] {
  if (mediaTypes.length === 0) return read.kind === 'malformed' ? [read.problem] : []
  const wanted = mediaTypes.join(' or ')
  if (body === '') return [`the body is missing, but ${wanted} is documented`]
  const contentType = headers['content-type']
  if (contentType === undefined) return [`Content-Type is missing, where ${wanted} is documented`]
  const essence = essenceOf(contentType)
  if (!mediaTypes.some((mediaType) => isInRange(mediaType, essence)))
    return [`the media type is ${quote(contentType)}, not ${wanted}`]
  if (read.kind === 'malformed') return [read.problem]
  if (read.kind === 'other') return []
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]
  const isUtf8 = charset === undefined || /^utf-?8$/i.test(charset)
  return [...(isUtf8 ? [] : [`the charset is ${quote(charset)}, where JSON is UTF-8`]), ...findViolations(read.value)]
}
