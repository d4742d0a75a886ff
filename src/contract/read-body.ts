import { isUtf8, utf8Text } from '../system/runtime.js'
import type { Operation, Reading, Values, Violation } from './contract.js'
import type { Body } from './contract-data.js'
import { quote } from './excerpt.js'
import { isNode, MAX_BODY_DEPTH, parseShallowJson } from './json.js'
import { essenceOf, isFormType, isJsonType, isMergePatch } from './media-types.js'
import { dropUndeclared, lostNumbers } from './nested-values.js'
import { formPairs } from './query.js'
import { pairReader } from './read-parameters.js'
import type { Validator } from './validator.js'
import { findViolations } from './validators.js'

export interface BodyValidators {
  readonly body: Validator | undefined
  readonly form: Validator | undefined
  /** Finds undeclared nested fields. */
  readonly closed: Validator | undefined
}

/** Only documented fields become values. */
export function bodyReader(body: Body, validators: BodyValidators): Pick<Operation, 'readBody' | 'checkBody'> {
  const { fields, formFields = [], mediaTypes, takesAnyValue, takesList, isOpen } = body
  const known = new Map(fields.map((field) => [field.name, field]))
  // Nested values are stored and written again.
  const nests = takesAnyValue || isOpen || fields.some(({ type }) => type === 'array' || type === 'other')
  const findPairs = pairReader(formFields)
  const usual = kindOf(mediaTypes[0] ?? '')
  const check = (value: unknown, validator: Validator | undefined) => {
    const violations = findViolations(validator, value, 'body')
    return nests ? [...violations, ...lostNumbers(value, violations)] : violations
  }
  const checkBody = (value: Values) => check(value, validators.body)

  function readJson(bytes: Uint8Array): unknown {
    if (!isUtf8(bytes)) throw new SyntaxError(`the body is not valid UTF-8 (at byte ${invalidByte(bytes) + 1})`)
    return parseShallowJson(utf8Text(bytes), true, MAX_BODY_DEPTH)
  }

  function readBody(bytes: Uint8Array | undefined, contentType = mediaTypes[0] ?? ''): Reading<Values> {
    if (bytes === undefined || bytes.length === 0)
      return body.required ? refused('a body is required; send a JSON object', 'required') : NOTHING
    const kind = contentType === mediaTypes[0] ? usual : kindOf(contentType)
    // Others are not read, such as XML and files.
    if (kind === undefined) return NOTHING
    const isForm = kind === 'form'
    let value: unknown
    try {
      value = isForm ? findPairs(formPairs(utf8Text(bytes), contentType)).values : readJson(bytes)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return refused(isUtf8(bytes) ? `the body is not valid JSON: ${error.message}` : error.message, 'json')
    }
    if (!isNode(value))
      return takesAnyValue
        ? { ...NOTHING, ...(takesList && { values: { '': value } }), violations: check(value, validators.body) }
        : refused(`the body must be a JSON object (it is ${quote(value)})`, 'type')
    const values: Record<string, unknown> = {}
    const unknown: string[] = []
    // Without entries: this runs for every pet.
    for (const name of Object.keys(value)) {
      // Set as a property, it would be the prototype: its properties would look like fields that were checked.
      if (name !== '__proto__' && (known.size === 0 || isOpen || known.has(name))) values[name] = value[name]
      else unknown.push(name)
    }
    const all = check(kind === 'patch' ? withoutNulls(value) : value, isForm ? validators.form : validators.body)
    const violations = kind === 'patch' ? all.filter(isInPatch) : all
    const { closed } = validators
    if (violations.length === 0 && closed !== undefined) unknown.push(...dropUndeclared(closed, values))
    return { values, violations, unknown }
  }
  return { readBody, checkBody }
}

function kindOf(contentType: string): 'form' | 'patch' | 'json' | undefined {
  const type = essenceOf(contentType)
  if (isFormType(type)) return 'form'
  return isMergePatch(type) ? 'patch' : isJsonType(type) ? 'json' : undefined
}

const NOTHING: Reading<Values> = { values: {}, violations: [], unknown: [] }

/** Null removes a member, and is no value. @source RFC 7396, section 1 */
function withoutNulls(value: unknown): unknown {
  if (!isNode(value)) return value
  const others = Object.entries(value).filter(([, one]) => one !== null)
  return Object.fromEntries(others.map(([name, one]) => [name, withoutNulls(one)]))
}

/** A patch leaves out what it does not change, but for the items of a list, which it replaces. @source RFC 7396, section 1 */
function isInPatch({ rule, name }: Violation): boolean {
  return rule !== 'required' || name.includes('[')
}

function refused(message: string, rule: string): Reading<Values> {
  const violation: Violation = { in: 'body', name: '', message, rule, params: { type: 'object' } }
  return { values: {}, violations: [violation], unknown: [] }
}

function invalidByte(bytes: Uint8Array): number {
  const replaced = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  return bytes.findIndex((byte, index) => byte !== replaced[index])
}
