import type { Reading, Values, Violation } from './contract.js'
import type { Parameter, ValueType } from './contract-data.js'
import { parseInt64 } from './int64.js'
import { decodePercent, readPairs } from './query.js'
import type { Validator } from './validators.js'
import { findViolations } from './violations.js'

/** Clients send the same few queries again and again, so their readings are cached, up to this number and length. */
const REMEMBERED_QUERIES = 1000
const LONGEST_REMEMBERED = 200

const CANONICAL_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Makes the reader of an operation's query. Its results are shared between requests and frozen. */
export function queryReader(
  parameters: readonly Parameter[],
  validator: Validator | undefined,
): (search: string) => Reading<Values> {
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]))
  const defaults = parameters.filter((parameter) => parameter.default !== undefined)
  const remembered = new Map<string, Reading<Values>>()

  return (search) => {
    const before = remembered.get(search)
    if (before !== undefined) return before
    const reading = read(search)
    if (search.length <= LONGEST_REMEMBERED) {
      if (remembered.size >= REMEMBERED_QUERIES) remembered.clear()
      remembered.set(search, reading)
    }
    return reading
  }

  function read(search: string): Reading<Values> {
    const given = new Map<Parameter, string[]>()
    const unknown = new Set<string>()
    for (const [name, text] of readPairs(search)) {
      const parameter = known.get(name)
      if (parameter === undefined) unknown.add(name)
      else given.set(parameter, [...(given.get(parameter) ?? []), text])
    }
    const values: Record<string, unknown> = {}
    const repeated: Violation[] = []
    for (const [parameter, texts] of given) {
      const { name } = parameter
      const [first = ''] = texts
      if (parameter.type === 'array') values[name] = readItems(parameter, texts)
      else if (texts.length === 1) values[name] = readText(parameter.type, first)
      else repeated.push({ in: 'query', name, message: `${name} is given ${texts.length} times` })
    }
    const violations = [...repeated]
    for (const violation of findViolations(validator, values, 'query', known)) {
      if (!repeated.some(({ name }) => name === violation.name)) violations.push(violation)
    }
    for (const { name, default: value } of defaults) if (!Object.hasOwn(values, name)) values[name] = value
    return frozen({ values, violations, unknown: [...unknown] })
  }
}

/** Makes the reader of an operation's path parameters. */
export function pathReader(
  parameters: readonly Parameter[],
  validator: Validator | undefined,
): (captured: readonly string[]) => Reading<Values> {
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]))
  return (captured) => {
    const values: Record<string, unknown> = {}
    for (let index = 0; index < parameters.length; index++) {
      const parameter = parameters[index]
      if (parameter === undefined) continue
      values[parameter.name] = readText(parameter.type, decodePercent(captured[index] ?? ''))
    }
    return { values, violations: findViolations(validator, values, 'path', known), unknown: [] }
  }
}

function readItems(parameter: Parameter, texts: readonly string[]): readonly unknown[] {
  const items = parameter.explode ? texts : texts.flatMap((text) => text.split(','))
  return items.map((item) => readText(parameter.itemType ?? 'string', item))
}

/** A string that is not a canonical value of its type stays a string, and its schema refuses it. */
function readText(type: ValueType, text: string): unknown {
  switch (type) {
    case 'integer':
      return parseInt64(text) ?? text
    case 'number':
      return CANONICAL_NUMBER.test(text) ? Number(text) : text
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    default:
      return text
  }
}

function frozen(reading: Reading<Values>): Reading<Values> {
  Object.freeze(reading.values)
  Object.freeze(reading.violations)
  Object.freeze(reading.unknown)
  return Object.freeze(reading)
}
