import { isUtf8, utf8Text } from '../system/utf8.js'
import type { Reading, Values, Violation } from './contract.js'
import type { Body } from './contract-data.js'
import { quote } from './excerpt.js'
import { parseJson, parseShallowJson } from './json.js'
import type { Validator } from './validators.js'
import { findViolations } from './violations.js'

const BYTE_ORDER_MARK = '\ufeff'

/** Makes the reader of an operation's JSON body. Only fields that the contract knows get into the values. */
export function bodyReader(
  body: Body,
  validator: Validator | undefined,
): (bytes: Uint8Array | undefined) => Reading<Values> {
  const known = new Map(body.fields.map((field) => [field.name, field]))
  // What can be nested is kept and written again; a number, a text or a list of them cannot.
  const nests = body.fields.some(({ type }) => type === 'array' || type === 'other')
  const parse = nests ? parseShallowJson : parseJson
  return (bytes) => {
    if (bytes === undefined || bytes.length === 0) {
      return body.required
        ? refused('a body is required; send a JSON object')
        : { values: {}, violations: [], unknown: [] }
    }
    if (!isUtf8(bytes)) return refused(`the body is not valid UTF-8 (at byte ${invalidByte(bytes) + 1})`)
    let value: unknown
    try {
      value = parse(decode(bytes))
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      return refused(`the body is not valid JSON: ${error.message}`)
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return refused(`the body must be a JSON object (it is ${quote(value)})`)
    }
    const values: Record<string, unknown> = {}
    const unknown: string[] = []
    // By name: a pair for each field would be made, and thrown away, for every animal.
    const fields = value as Readonly<Record<string, unknown>>
    for (const name of Object.keys(fields)) {
      if (known.has(name)) values[name] = fields[name]
      else unknown.push(name)
    }
    const violations = findViolations(validator, value, 'body', known)
    return { values, violations: nests ? [...violations, ...lostNumbers(values, violations)] : violations, unknown }
  }
}

/** A number that no double holds would be written as null; a field that may be anything lets it pass its schema. */
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

function decode(bytes: Uint8Array): string {
  const text = utf8Text(bytes)
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}

/** Index of the first invalid byte: the longest prefix of valid UTF-8 ends before it. */
function invalidByte(bytes: Uint8Array): number {
  let valid = 0
  let invalid = bytes.length + 1
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1
    if (mayBecomeUtf8(bytes.subarray(0, middle))) valid = middle
    else invalid = middle
  }
  return Math.min(valid, bytes.length - 1)
}

function mayBecomeUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}
