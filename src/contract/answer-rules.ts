import type { Contract, Operation } from './contract.js'
import { type Place, rootPlace } from './document.js'
import type { EngineAnswer } from './engine.js'
import { quote } from './excerpt.js'
import { parseJson, parseShallowJson } from './json.js'
import { toJsonSchema } from './json-schema.js'
import { readFields } from './read-contract.js'
import { hasNoBody } from './sendable.js'
import { compileValidators, type Validator } from './validators.js'
import { findViolations, type Known } from './violations.js'

/** What a contract documents of answers, made ready to be held against many. */
export interface AnswerRules {
  /** What is documented of an operation's answers; undefined for one that the contract does not have. */
  of(operation: Operation): OperationRules | undefined
}

export interface OperationRules {
  /** As the contract names them: `200`, `4XX`, `default`. */
  readonly statuses: readonly string[]
  /** Every header that any of its answers documents, lower case. */
  readonly headers: ReadonlySet<string>
  /** What is documented of a status: its own entry, that of its range, or the default one. */
  of(status: number): StatusRules | undefined
}

export interface StatusRules {
  readonly headers: readonly HeaderRules[]
  /** Media types, lower case; empty where none is documented, or nobody is held to them. */
  readonly mediaTypes: readonly string[]
  /** Fields that are documented of a JSON object, or of the items of a list. */
  readonly fields: ReadonlySet<string>
  /** Finds how a JSON value breaks the schema, as sentence parts: `name is required`. */
  findBreaches(value: unknown): readonly string[]
}

export interface HeaderRules {
  /** As the contract writes it. */
  readonly name: string
  /** The same in lower case. */
  readonly key: string
  readonly required: boolean
  /** Finds how a value breaks the schema, as a sentence part that continues the name; undefined if it does not. */
  findBreach(text: string): string | undefined
}

const JSON_MEDIA_TYPE = /^application\/(?:[^;\s]+\+)?json$/

/**
 * Reads what a contract documents of its answers. Nobody is held to a body that the
 * service does not document (`x-sandbox-choice: body`).
 *
 * @param patterns linear where strangers choose what is matched
 * @throws SpecError for a pattern that cannot be matched so
 */
export async function readAnswerRules(contract: Contract, patterns: 'linear' | 'native'): Promise<AnswerRules> {
  const root = rootPlace(parseJson(await contract.text('json')))
  const places = contract.operations.flatMap((operation) => responsesOf(root, operation))
  const schemas = Object.fromEntries(
    places.flatMap(({ name, response }) => [
      ...bodySchema(name, response),
      ...response
        .entries('headers')
        .flatMap(([header, place]) =>
          place.child('schema') === undefined
            ? []
            : [[headerName(name, header), toJsonSchema(place.written('schema'))]],
        ),
    ]),
  )
  // The first mistake of an answer is enough: one of a million items may have as many.
  const validators = await compileValidators(schemas, patterns, { allErrors: false })
  const byOperation = new Map<string, Map<string, StatusRules>>()
  for (const { operation, status, name, response } of places) {
    const rules = byOperation.get(operation.id) ?? new Map<string, StatusRules>()
    byOperation.set(operation.id, rules.set(status, statusRules(name, response, validators)))
  }
  const made = new Map([...byOperation].map(([id, rules]) => [id, operationRules(rules)]))
  return { of: ({ id }) => made.get(id) }
}

interface ResponsePlace {
  readonly operation: Operation
  /** As the contract names it, upper case: `200`, `4XX`, `DEFAULT`. */
  readonly status: string
  /** Of its schema. */
  readonly name: string
  readonly response: Place
}

function responsesOf(root: Place, operation: Operation): readonly ResponsePlace[] {
  const place = root.child('paths')?.child(operation.path)?.child(operation.method.toLowerCase())
  return (place?.children('responses') ?? []).map(([status, response]) => ({
    operation,
    status: status.toUpperCase(),
    name: `${operation.id} ${status}`,
    response,
  }))
}

function bodySchema(name: string, response: Place): readonly (readonly [string, ReturnType<typeof toJsonSchema>])[] {
  const content = heldJson(response)
  return content?.child('schema') === undefined ? [] : [[name, toJsonSchema(content.written('schema'))]]
}

/** The JSON of a response that answers are held to. */
function heldJson(response: Place): Place | undefined {
  return heldContent(response).find(([mediaType]) => JSON_MEDIA_TYPE.test(essenceOf(mediaType)))?.[1]
}

function heldContent(response: Place): readonly (readonly [string, Place])[] {
  return response.child('x-sandbox-choice')?.value === 'body' ? [] : response.entries('content')
}

function headerName(response: string, header: string): string {
  return `${response} ${header}`
}

function operationRules(rules: ReadonlyMap<string, StatusRules>): OperationRules {
  return {
    statuses: [...rules.keys()].map((status) => (status === 'DEFAULT' ? 'default' : status)),
    headers: new Set([...rules.values()].flatMap(({ headers }) => headers.map(({ name }) => name.toLowerCase()))),
    of: (status) => rules.get(String(status)) ?? rules.get(`${Math.floor(status / 100)}XX`) ?? rules.get('DEFAULT'),
  }
}

function statusRules(
  name: string,
  response: Place,
  validators: Readonly<Record<string, Validator | undefined>>,
): StatusRules {
  const schema = heldJson(response)?.child('schema')
  const fields = schema === undefined ? [] : readFields(schema.child('items') ?? schema)
  const known = new Map(fields.map((field) => [field.name, field]))
  return {
    headers: response.entries('headers').map(([header, place]) => ({
      name: header,
      key: header.toLowerCase(),
      required: place.flag('required'),
      findBreach: headerReader(place.child('schema'), validators[headerName(name, header)]),
    })),
    mediaTypes: heldContent(response).map(([mediaType]) => essenceOf(mediaType)),
    fields: new Set(known.keys()),
    findBreaches: (value) => bodyBreaches(validators[name], value, known),
  }
}

function bodyBreaches(validator: Validator | undefined, value: unknown, known: Known): readonly string[] {
  return findViolations(validator, value, 'body', known).map(({ message }) => message)
}

/** Reads a header's text as what its schema asks for, and holds it to that. */
function headerReader(schema: Place | undefined, validator: Validator | undefined): HeaderRules['findBreach'] {
  const types = [Object(schema?.value).type].flat()
  const isText = types.length === 0 || types.includes('string') || types.includes(undefined)
  // How lists and objects are written in a header is a matter of its own.
  if (types.includes('array') || types.includes('object')) return () => undefined
  return (text) => {
    const value = isText ? text : scalarOf(text)
    if (validator === undefined || validator(value) === true) return undefined
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

/** An answer's body, read: JSON exactly. */
export type ReadAnswer =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'other' }
  | { readonly kind: 'malformed'; readonly problem: string }

/** Reads the body of an answer that says that it is JSON. */
export function readAnswer({ headers, body }: EngineAnswer): ReadAnswer {
  if (body === '' || !JSON_MEDIA_TYPE.test(essenceOf(headers['content-type'] ?? ''))) return { kind: 'other' }
  try {
    return { kind: 'json', value: parseShallowJson(body) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { kind: 'malformed', problem: `the body is not valid JSON: ${error.message}` }
  }
}

/** What is wrong with a header: a sentence part that continues its name. */
export interface HeaderBreach {
  readonly name: string
  readonly breach: string
}

/**
 * Finds how an answer's headers break what is documented of its status.
 *
 * @param isLeftOut of which headers nothing is to be found, by their name in lower case
 */
export function findHeaderBreaches(
  rules: OperationRules,
  { status, headers }: EngineAnswer,
  isLeftOut?: (key: string) => boolean,
): readonly HeaderBreach[] {
  const found: HeaderBreach[] = []
  for (const { name, key, required, findBreach } of rules.of(status)?.headers ?? []) {
    if (isLeftOut?.(key) === true) continue
    const text = headers[key]
    const breach = text === undefined ? (required ? 'is missing' : undefined) : findBreach(text)
    if (breach !== undefined) found.push({ name, breach })
  }
  return found
}

/** Finds how an answer's status, media type and body break what is documented. */
export function findContentBreaches(
  rules: OperationRules,
  answer: EngineAnswer,
  read: ReadAnswer,
  isHead: boolean,
): { readonly status: readonly string[]; readonly body: readonly string[] } {
  const { status } = answer
  const documented = rules.of(status)
  if (documented === undefined) {
    const ones = rules.statuses.join(', ')
    return { status: [`the status ${status} is not documented (the documented ones are ${ones || 'none'})`], body: [] }
  }
  return { status: [], body: isHead || hasNoBody(status) ? [] : contentBreaches(documented, answer, read) }
}

function contentBreaches(
  { mediaTypes, findBreaches }: StatusRules,
  { headers, body }: EngineAnswer,
  read: ReadAnswer,
): readonly string[] {
  if (mediaTypes.length === 0) return read.kind === 'malformed' ? [read.problem] : []
  const wanted = mediaTypes.join(' or ')
  if (body === '') return [`there is no body, where ${wanted} is documented`]
  const contentType = headers['content-type']
  if (contentType === undefined) return [`Content-Type is missing, where ${wanted} is documented`]
  const essence = essenceOf(contentType)
  if (!mediaTypes.some((mediaType) => isOf(mediaType, essence)))
    return [`the media type is ${quote(contentType)}, not ${wanted}`]
  if (read.kind === 'malformed') return [read.problem]
  if (read.kind === 'other') return []
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]
  const isUtf8 = charset === undefined || /^utf-?8$/i.test(charset)
  return [...(isUtf8 ? [] : [`the charset is ${quote(charset)}, where JSON is UTF-8`]), ...findBreaches(read.value)]
}

/** `Application/JSON; charset=utf-8` is `application/json`. */
function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** Whether a media type is one of a documented range. */
function isOf(range: string, mediaType: string): boolean {
  if (range === '*/*') return true
  return range.endsWith('/*') ? mediaType.startsWith(range.slice(0, -1)) : range === mediaType
}
