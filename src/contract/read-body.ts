import { isUtf8, utf8Text } from '../system/runtime.js'
import type { Operation, Reading, Values, Violation } from './contract.js'
import type { Body } from './contract-data.js'
import { excerpt, quote } from './excerpt.js'
import { parseJson, parseShallowJson } from './json.js'
import { fieldName, findViolations, stepsOf, type Validator, valueAt } from './validators.js'

/** Only documented fields become values. @param closed finds undeclared nested fields */
export function bodyReader(
  body: Body,
  validator: Validator | undefined,
  closed: Validator | undefined,
): Pick<Operation, 'readBody' | 'checkBody'> {
  const known = new Map(body.fields.map((field) => [field.name, field]))
  // Nested values are stored and written again.
  const nests = body.fields.some(({ type }) => type === 'array' || type === 'other')
  const parse = nests ? parseShallowJson : parseJson
  const checkBody = (fields: Values) => {
    const violations = findViolations(validator, fields, 'body', known)
    return nests ? [...violations, ...lostNumbers(fields, violations)] : violations
  }
  const readBody = (bytes: Uint8Array | undefined): Reading<Values> => {
    if (bytes === undefined || bytes.length === 0) {
      return body.required
        ? refused('a body is required; send a JSON object')
        : { values: {}, violations: [], unknown: [] }
    }
    if (!isUtf8(bytes)) return refused(`the body is not valid UTF-8 (at byte ${invalidByte(bytes) + 1})`)
    let value: unknown
    try {
      value = parse(utf8Text(bytes), true)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return refused(`the body is not valid JSON: ${error.message}`)
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refused(`the body must be a JSON object (it is ${quote(value)})`)
    const values: Record<string, unknown> = {}
    const unknown: string[] = []
    const fields = value as Readonly<Record<string, unknown>>
    // Without entries: this runs for every pet.
    for (const name of Object.keys(fields)) {
      if (known.size === 0 || known.has(name)) values[name] = fields[name]
      else unknown.push(name)
    }
    const violations = checkBody(fields)
    if (violations.length === 0) unknown.push(...dropUndeclared(closed, values))
    return { values, violations, unknown }
  }
  return { readBody, checkBody }
}

/** @returns the names of undeclared nested fields, which it removes */
function dropUndeclared(closed: Validator | undefined, values: Values): readonly string[] {
  if (closed === undefined || closed(values) === true) return []
  return (closed.errors ?? []).flatMap(({ instancePath, params: { unevaluatedProperty: name } }) => {
    if (typeof name !== 'string') return []
    const steps = stepsOf(instancePath)
    Reflect.deleteProperty(Object(valueAt(values, steps)), name)
    return [excerpt(fieldName([...steps, name]))]
  })
}

/** Numbers that a double cannot hold would be stored as null. */
function lostNumbers(values: Values, violations: readonly Violation[]): readonly Violation[] {
  return Object.entries(values)
    .filter(([name, value]) => losesNumber(value) && !violations.some((known) => known.name === name))
    .map(([name]) => ({ in: 'body', name, message: `${name} holds a number that cannot be kept exactly` }))
}

function losesNumber(root: unknown): boolean {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'number' && !Number.isFinite(value)) return true
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) open.push(inner)
  }
  return false
}

function refused(message: string): Reading<Values> {
  const violation: Violation = { in: 'body', name: '', message }
  return { values: {}, violations: [violation], unknown: [] }
}

function invalidByte(bytes: Uint8Array): number {
  const replaced = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  return bytes.findIndex((byte, index) => byte !== replaced[index])
}
