import { isFastApi, isNode, jsonContent, type Node, type Place } from '../contract/document.js'
import { exampleOf, exampleValue, fits } from '../contract/example-value.js'
import { stringifyJson } from '../contract/json.js'
import { isNamedLogin } from '../contract/login-names.js'
import { concreteType } from '../contract/media-types.js'
import { SUCCESS } from '../contract/names.js'
import { type ErrorData, type ErrorWords, FILLED } from '../contract/resource-data.js'
import { alternativesOf, isObject, type RecordField, readRecordFields, typeOf } from '../contract/schema-fields.js'
import { bodyContent, type OperationShape } from './operations.js'
import { defined } from './parameters.js'

export type CommonErrors = Readonly<Record<string, ErrorData>>

/** The documented errors, unless they have the shape of the service's own. @param common the forms of those without content */
export function readErrors(operation: Place, common: CommonErrors): readonly ErrorData[] {
  const errors = readForms(operation, common)
  const schema = bodyContent(operation)?.child('schema')
  const [[envelope, field] = [], ...others] = schema === undefined ? [] : readRecordFields(schema)
  const isEnvelope = others.length === 0 && field?.type === 'object'
  const bad = errors.find(({ status }) => status === '400')
  return errors.map(({ hasFields, ...error }) => ({
    ...error,
    ...(isEnvelope && BY_NAME.test(error.ofFields ?? error.body) && { envelope: `${envelope}.` }),
    ...(hasFields && error.status === '422' && bad?.hasFields === undefined && ({ isForInvalid: true } as const)),
  }))
}

type ErrorForm = ErrorData & Pick<ErrorShape, 'hasFields'>

function readForms(operation: Place, commonErrors: CommonErrors): readonly ErrorForm[] {
  return operation.children('responses').flatMap(([status, response]) => {
    if (!ERROR_STATUSES.test(status)) return []
    const isEmpty = response.entries('content').length === 0
    const common = commonErrors[status] ?? commonErrors.default
    if (isEmpty && common !== undefined) return [{ ...common, status: status.toLowerCase() }]
    const [text] = response.entries('content').filter(([mediaType]) => mediaType.startsWith('text/'))
    const { mediaType = '', content } = jsonContent(response) ?? {}
    if (content === undefined && text !== undefined)
      return [{ status: status.toLowerCase(), contentType: concreteType(text[0]), body: FILLED.message }]
    const schema = content?.child('schema')
    const example = exampleOf(content)
    if (content === undefined || (schema === undefined && example === undefined)) return []
    const { isOwn: isOwnShape, ...shape } =
      schema === undefined ? { isOwn: false, body: stringifyJson(example) } : errorOf(schema, example)
    const { body } = shape
    if ((isOwnShape && mediaType === 'application/json') || body === undefined) return []
    return [{ ...shape, status: status.toLowerCase(), contentType: concreteType(mediaType), body }]
  })
}

interface ErrorShape {
  readonly isOwn: boolean
  /** Undefined if no value of the schema is known. */
  readonly body: string | undefined
  readonly ofFields?: string
  readonly hasFields?: true
  readonly words?: ErrorWords
}

function wordsOf(value: unknown): ErrorWords | undefined {
  const { detail, message, statusCode }: Node = Object(value)
  if (Array.isArray(message))
    return message[0] === FILLED.message && statusCode !== undefined ? 'class-validator' : undefined
  const entry: unknown = Array.isArray(detail) ? detail[0] : undefined
  return isNode(entry) && Array.isArray(entry.loc) && 'msg' in entry && 'type' in entry ? 'pydantic' : undefined
}

/** Many operations share the schema of their errors, and validators of it take time. */
const shapes = new WeakMap<object, ErrorShape>()

function errorOf(schema: Place, example?: unknown): ErrorShape {
  const key = Object(schema.value)
  const known = example === undefined ? shapes.get(key) : undefined
  if (known !== undefined) return known
  const values = [false, true].map((isOfFields) => errorValue(schema, example, { ...TOP, isOfFields }))
  const [body, ofFields] = values.map((value) => (value === undefined ? undefined : stringifyJson(value)))
  const words = wordsOf(values[1])
  const isOfFields = ofFields !== undefined && ofFields !== body
  const hasFields = OF_FIELDS.test(ofFields ?? '') && ({ hasFields: true } as const)
  const shape = { isOwn: isOwn(schema), body, ...(isOfFields && { ofFields }), ...hasFields, ...(words && { words }) }
  if (example === undefined) shapes.set(key, shape)
  return shape
}

const ERROR_STATUSES = /^(?:[45](?:\d\d|XX)|default)$/i
/** It has a place of the request, so it is the form of invalid requests only. */
const OF_ENTRIES = placeholders(FILLED.place, FILLED.pointer, FILLED.steps, FILLED.path)
/** An object by field. */
const BY_NAME = placeholders(FILLED.ofField)
const OF_FIELDS = placeholders(OF_ENTRIES.source, FILLED.ofField)

function placeholders(...all: readonly string[]): RegExp {
  return new RegExp(all.join('|').replaceAll(/\\?([{}])/g, '\\$1'))
}

/** The forms that most documented errors of each status share, and by default, most of all. */
export function readCommonErrors(operations: readonly OperationShape[]): CommonErrors {
  // Those of OAuth have a form of their own.
  const others = operations.filter(({ method, ...names }) => !isNamedLogin({ ...names, method: method.toUpperCase() }))
  const all = others
    .flatMap(({ place }) => place.children('responses'))
    .filter(([status]) => ERROR_STATUSES.test(status))
  const statuses = new Set(all.map(([status]) => status))
  return defined({
    ...Object.fromEntries([...statuses].map((one) => [one, readCommonError(all.filter(([status]) => status === one))])),
    default: readCommonError(all),
  })
}

/**
 * Undefined if it is the service's own, or they share none. FastAPI documents only lists of problems, and has a sentence in
 * their place otherwise.
 */
function readCommonError(errors: ReturnType<Place['children']>): ErrorData | undefined {
  const found = new Map<string, { readonly mediaType: string; readonly schema: Place; count: number }>()
  for (const [, response] of errors) {
    const { mediaType = '', content } = jsonContent(response) ?? {}
    const schema = content?.child('schema')
    if (schema === undefined) continue
    const key = mediaType + stringifyJson(schema.value)
    const known = found.get(key) ?? { mediaType, schema, count: 0 }
    known.count++
    found.set(key, known)
  }
  for (const { mediaType, schema } of [...found.values()].sort((a, b) => b.count - a.count)) {
    const { isOwn: isOwnShape, words: _, hasFields: __, ...shape } = errorOf(schema)
    if (mediaType === 'application/json' && isOwnShape) return undefined
    const value: unknown = isFastApi(schema.document) ? errorValue(schema, undefined, TOP) : undefined
    const hasSentence = isNode(value) && Array.isArray(value.detail)
    const bodies = hasSentence ? { body: stringifyJson({ ...value, detail: FILLED.message }) } : shape
    const { body = '' } = bodies
    if (body.includes(FILLED.message) && !OF_ENTRIES.test(body))
      return { status: 'default', contentType: concreteType(mediaType), ...bodies, body }
  }
  return undefined
}

function isOwn(schema: Place | undefined): boolean {
  if (schema === undefined || !fits(OWN_SHAPE, schema)) return false
  const fields = readRecordFields(schema)
  const others = [...fields].filter(([name]) => !Object.hasOwn(OWN_SHAPE, name))
  const isOfErrors = ([name, { place }]: readonly [string, RecordField]) =>
    isProblemList(place) || [SENTENCE, STATUS, PROBLEMS].some((names) => names.test(name))
  return fields.size === 0 || (fields.has('message') && !others.some(isOfErrors))
}

const OWN_SHAPE = { code: 'invalid_request', message: FILLED.message, status: 400 }

const SENTENCE =
  /^(?:message|msg|details?|title|error|errors|issue|fault_?string|(?:default|error)_?message|error_?description|description|reason)$/i
/** Of a list of problems, or an object of problems by field. */
const PROBLEMS = /(?:errors|messages|issues|violations|problems|invalid[-_]?param(?:eter)?s)$/i
const BY_FIELD = /(?:field|validation)_?(?:errors|messages|violations)$/i
/** Of problems that are not of one field, in an object by field. */
const GENERAL = /^(?:base|non_?field_?errors|__all__|_?(?:general|global|root|form)(?:_?errors)?)$/i
const STATUS = /^(?:status|status_?code|code)$/i
/** Of an entry in a list: the field, and the rule that it breaks. */
const PLACE =
  /^(?:(?:field|property|parameter|param|attribute|argument)(?:_?(?:name|path))?|name|key|path|loc|location|pointer|instancePath|dataPath|target)$/i
const RULE = /^(?:code|type|rule|kind|keyword|constraint)$/i
const CODE = /^(?:error_?)?(?:code|name|type)$/i
/** A text without an example. */
const MADE_UP = /^x*$/
const MAX_DEPTH = 5

interface Where {
  /** The property that has the value. */
  readonly name: string
  readonly depth: number
  readonly isInList: boolean
  /** Whether it is the error of a request with wrong fields. */
  readonly isOfFields: boolean
}

const TOP: Where = { name: '', depth: 0, isInList: false, isOfFields: false }

/** The example of an error, or the simplest value, with the sentence, the code and the status of the service in its fields for them. */
function errorValue(schema: Place, example: unknown, where: Where): unknown {
  const { depth, isInList, isOfFields } = where
  const inside = { ...where, depth: depth + 1 }
  const [alternative] = readRecordFields(schema).size > 0 ? [] : alternativesOf(schema).filter(isObject)
  if (alternative !== undefined && depth <= MAX_DEPTH) return errorValue(alternative, example, inside)
  const simplest = example ?? exampleValue(schema)
  if (depth > MAX_DEPTH) return simplest
  if (typeOf(schema) === 'array') {
    const items = schema.child('items')
    const first: unknown = Array.isArray(example) ? example[0] : undefined
    const item =
      items && (isText(items) ? FILLED.message : errorValue(items, first, { ...inside, name: '', isInList: true }))
    return PLACEHOLDER.test(stringifyJson(item ?? '')) ? [item] : simplest
  }
  if (!isNode(simplest)) return simplest
  const byField = messagesByField(schema, where)
  if (byField !== undefined) return byField
  const fields = readRecordFields(schema)
  // As NestJS and Spring write it.
  const hasPhrase = fields.has('message') && [...fields.keys()].some((name) => STATUS.test(name) && name !== 'code')
  const hasSentence = isInList && [...fields].some(([name, { type }]) => SENTENCE.test(name) && type === 'string')
  const entries = [...fields].flatMap(([name, field]): [string, unknown][] => {
    const { place, type, required } = field
    if (hasPhrase && name === 'error' && type === 'string' && fits(FILLED.phrase, place)) return [[name, FILLED.phrase]]
    // An entry of a list needs no entries of its own.
    if (hasSentence && !required && type === 'array' && isObject(place.child('items'))) return []
    const isKept = required || name in simplest
    const isWanted =
      isKept || isProblemList(place) || WANTED.some((names) => names.test(name)) || (isInList && isOfEntry(name))
    const value = isWanted ? errorField(field, simplest[name], { ...where, name }) : undefined
    const isEmpty = !isKept && typeof value === 'object' && !PLACEHOLDER.test(stringifyJson(value))
    return value === undefined || isEmpty ? [] : [[name, value]]
  })
  const isOfField = ([name]: [string, unknown]) => {
    const field = fields.get(name)
    const value = field?.required === false && errorField(field, simplest[name], { ...where, name, isOfFields: true })
    return OF_FIELDS.test(stringifyJson(value ?? ''))
  }
  const left = isOfFields ? [] : entries.filter(isOfField)
  const others = entries.filter((entry) => !left.includes(entry))
  const filled: Record<string, unknown> = { ...simplest, ...Object.fromEntries(entries) }
  if (stringifyJson(others).includes(FILLED.message)) for (const [name] of left) delete filled[name]
  if (!fits(filled, schema) && !hasPlaceholder(filled)) return simplest
  return depth > 0 || stringifyJson(filled).includes(FILLED.message) ? filled : withAnyText(filled, schema)
}

const PLACEHOLDER = /\{\w[\w ]*\}/

/** A list of any name whose entries have a field and a sentence. */
function isProblemList(schema: Place): boolean {
  const names = [...readRecordFields(schema.child('items') ?? schema).keys()]
  return typeOf(schema) === 'array' && [PLACE, SENTENCE].every((wanted) => names.some((name) => wanted.test(name)))
}

function isText(schema: Place): boolean {
  return typeOf(schema) === 'string' && fits(FILLED.message, schema)
}

/** With the sentence in the first text, where none has a known name. */
function withAnyText(value: Node, schema: Place): Node {
  const texts = [...readRecordFields(schema)].filter(
    ([name, { type }]) => !/code|type|status|id$/i.test(name) && type === 'string',
  )
  const [text] = texts.find(([, { place }]) => fits(FILLED.message, place)) ?? []
  return text === undefined ? value : { ...value, [text]: FILLED.message }
}

const WANTED = [SENTENCE, STATUS, PROBLEMS, SUCCESS]
const isOfEntry = (name: string) => PLACE.test(name) || RULE.test(name) || name === 'source'

/** An object with the messages of each field: `{ "name": ["is required"] }`. The last is of problems without a field. */
function messagesByField(schema: Place, { name, depth, isOfFields }: Where): Node | undefined {
  const declared = [...readRecordFields(schema)]
  const isUndeclared =
    declared.length === 0 && Object(schema.value).additionalProperties === undefined && PROBLEMS.test(name)
  const open = declared.length === 0 ? schema.child('additionalProperties') : undefined
  const forms = declared.map(([key, { place, required }]) => [key, required ? undefined : messageForm(place)] as const)
  const [[, form] = []] =
    open !== undefined ? [['', messageForm(open)] as const] : isUndeclared ? [['', 'list'] as const] : forms
  if (form === undefined || forms.some(([, other]) => other !== form)) return undefined
  const names = declared.map(([key]) => key)
  if (names.length > 0) {
    const isOfError = form === 'text' ? [SENTENCE, STATUS, PLACE, RULE] : [SENTENCE, STATUS]
    const isByField = BY_FIELD.test(name) || names.some((key) => !isOfError.some((words) => words.test(key)))
    if (!isByField || (form === 'text' && !PROBLEMS.test(name))) return undefined
  }
  const usual = depth === 0 ? 'non_field_errors' : 'base'
  const filled = (keys: readonly string[]): Node =>
    Object.fromEntries(keys.map((key) => [key, form === 'text' ? FILLED.ofField : [FILLED.ofField]]))
  const known = names.find((key) => GENERAL.test(key)) ?? names.find((key) => PROBLEMS.test(key))
  const general = known ?? (fits(filled([usual]), schema) ? usual : String(names[0]))
  if (!isOfFields) return filled([general])
  // Undeclared names may be those of an example.
  const isOfExample = PROBLEMS.test(name) && known === undefined && fits(filled([...names, 'other']), schema)
  const isClosed = names.length > 0 && !isOfExample
  return filled(isClosed ? [...names.filter((key) => key !== general), general] : [FILLED.place])
}

function messageForm(schema: Place): 'text' | 'list' | undefined {
  if (isText(schema)) return 'text'
  const items = typeOf(schema) === 'array' ? schema.child('items') : undefined
  return items !== undefined && isText(items) ? 'list' : undefined
}

/** What an entry of a list has in this field, other than a sentence. */
function entryField(name: string, place: Place, type: string | undefined): unknown {
  if (PLACE.test(name) && type === 'array') {
    // Only `loc` begins with the part of the request.
    const start = /^loc/i.test(name) ? [] : ['']
    return fits(['body', 0], place)
      ? [FILLED.path, ...start]
      : fits(['body'], place)
        ? [FILLED.steps, ...start]
        : undefined
  }
  if (PLACE.test(name) && fits('/a', place) && /pointer|^(?:instance|data)Path$/i.test(name)) return FILLED.pointer
  if (PLACE.test(name) && fits('a', place)) return FILLED.place
  return RULE.test(name) && fits('required', place) && fits('format', place) ? FILLED.rule : undefined
}

function errorField({ place, type, choices = [] }: RecordField, example: unknown, where: Where): unknown {
  const { name } = where
  const ofEntry = where.isInList ? entryField(name, place, type) : undefined
  if (ofEntry !== undefined) return ofEntry
  if (STATUS.test(name) && /^(?:integer|number)$/.test(type ?? '') && fits(400, place)) return FILLED.status
  if (/^status/i.test(name) && type === 'string' && fits('400', place)) return FILLED.statusInText
  if (type === 'object' || type === 'array') return errorValue(place, example, { ...where, depth: where.depth + 1 })
  if (SUCCESS.test(name) && fits(false, place)) return false
  if (type === 'string' && choices.length > 1) return FILLED.choice + [example ?? [], ...choices].flat().join('|')
  if (!fits(FILLED.message, place)) return example
  if (CODE.test(name)) return MADE_UP.test(String(example ?? '')) ? FILLED.code : example
  return SENTENCE.test(name) ? FILLED.message : example
}

/** The placeholder of a number is a text, and that of a text may not match its pattern or its choices. */
function hasPlaceholder(value: object): boolean {
  const text = stringifyJson(value)
  return [FILLED.status, FILLED.statusInText, FILLED.choice].some((placeholder) => text.includes(placeholder))
}
