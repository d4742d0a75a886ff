import type { Reading, Values, Violation } from './contract.js'
import type { Parameter, ValueType } from './contract-data.js'
import { parseInt64 } from './int64.js'
import { decodePercent, readPairs } from './query.js'
import { findViolations, type Validator } from './validators.js'

const CANONICAL_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** @param used the names that the sandbox applies */
export function queryReader(
  parameters: readonly Parameter[],
  validator: Validator | undefined,
  used?: ReadonlySet<string>,
): (search: string) => Reading<Values> {
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]))
  const defaults = parameters.filter((parameter) => parameter.default !== undefined)
  return (search) => {
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
    const unused = used && [...given.keys()].map(({ name }) => name).filter((name) => !used.has(name))
    return { values, violations, unknown: [...unknown], ...(unused?.length ? { unused } : {}) }
  }
}

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

/** An invalid value stays a string, which its schema refuses. */
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
