import type { Reading, SentHeaders, Values, Violation } from './contract.js'
import type { Parameter } from './contract-data.js'
import { decodePercent, type QueryPair, readPairs as queryPairs } from './query.js'
import { readPairs, readText } from './styles.js'
import type { Validator } from './validator.js'
import { findViolations } from './validators.js'

interface PairReading {
  readonly values: Record<string, unknown>
  /** The names of the parameters that are given. */
  readonly given: readonly string[]
  readonly repeated: readonly Violation[]
  readonly unknown: readonly string[]
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** Makes a reader of the pairs of a query or a form. @param keys names that may hold the API key */
export function pairReader(
  parameters: readonly Parameter[],
  keys = NO_NAMES,
): (pairs: readonly QueryPair[]) => PairReading {
  const known = byName(parameters)
  return (pairs) => {
    if (pairs.length === 0) return { values: {}, given: [], repeated: [], unknown: [] }
    const given = new Map<Parameter, QueryPair[]>()
    const unknown = new Set<string>()
    for (const pair of pairs) {
      const [name] = pair
      const parameter = known.get(name) ?? ownerOf(name, parameters)
      const before = parameter && given.get(parameter)
      if (before !== undefined) before.push(pair)
      else if (parameter !== undefined) given.set(parameter, [pair])
      else if (!keys.has(name)) unknown.add(name)
    }
    const values: Record<string, unknown> = {}
    const names: string[] = []
    const repeated: Violation[] = []
    for (const [parameter, own] of given) {
      const { name } = parameter
      const value = readPairs(parameter, own)
      names.push(name)
      if (value !== undefined) values[name] = value
      else repeated.push({ in: 'query', name, message: `${name} is given ${own.length} times` })
    }
    return { values, given: names, repeated, unknown: [...unknown] }
  }
}

/** @param used the names that the sandbox applies @param keys names that may hold the API key */
export function queryReader(
  parameters: readonly Parameter[],
  validator: Validator | undefined,
  used?: ReadonlySet<string>,
  keys?: ReadonlySet<string>,
): (search: string) => Reading<Values> {
  const defaults = parameters.filter((parameter) => (parameter.default ?? undefined) !== undefined)
  const findPairs = pairReader(parameters, keys)
  const read = (search: string): Reading<Values> => {
    const pairs = queryPairs(search)
    const { values, given, repeated, unknown } = findPairs(pairs)
    const found = findViolations(validator, values, 'query')
    // An empty field of a search is not a search for null.
    for (const [name, text] of pairs) if (text === '' && values[name] === null) delete values[name]
    const others = found.filter((violation) => !repeated.some(({ name }) => name === violation.name))
    const violations = repeated.length === 0 ? found : [...repeated, ...others]
    for (const { name, default: value } of defaults) if (!Object.hasOwn(values, name)) values[name] = value
    const unused = used && given.filter((name) => !used.has(name))
    return { values, violations, unknown, ...(unused?.length ? { unused } : {}) }
  }
  // Validators are compiled at first use, not at the start.
  let nothing: Reading<Values> | undefined
  return (search) => {
    if (search !== '') return read(search)
    nothing ??= read(search)
    return nothing
  }
}

/** The object that a name is a property of: `price[gt]` of `price`. */
function ownerOf(name: string, parameters: readonly Parameter[]): Parameter | undefined {
  return parameters.find(({ style, name: own }) => style === 'deepObject' && name.startsWith(`${own}[`))
}

export function pathReader(
  parameters: readonly Parameter[],
  validator: Validator | undefined,
): (captured: readonly string[]) => Reading<Values> {
  return (captured) => {
    const values: Record<string, unknown> = {}
    for (let index = 0; index < parameters.length; index++) {
      const parameter = parameters[index]
      if (parameter === undefined) continue
      values[parameter.name] = readText(parameter, decodePercent(captured[index] ?? ''))
    }
    return { values, violations: findViolations(validator, values, 'path'), unknown: [] }
  }
}

/** Finds violations in headers and cookies. */
export function headerReader(
  parameters: readonly Parameter[],
  validator: Validator | undefined,
): (headers: SentHeaders) => readonly Violation[] {
  return (headers) => {
    const cookies = new Map(
      String(headers.cookie ?? '')
        .split(/;\s*/)
        .map((pair) => [pair.split('=', 1)[0] ?? '', decodePercent(pair.slice(pair.indexOf('=') + 1))]),
    )
    const values = parameters.flatMap((parameter) => {
      const { name } = parameter
      const text = parameter.in === 'cookie' ? cookies.get(name) : headers[name.toLowerCase()]
      return text === undefined ? [] : [[name, readText(parameter, String(text).trim())] as const]
    })
    return findViolations(validator, Object.fromEntries(values), 'header')
  }
}

function byName(parameters: readonly Parameter[]): ReadonlyMap<string, Parameter> {
  return new Map(parameters.map((parameter) => [parameter.name, parameter]))
}
