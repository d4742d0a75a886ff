import { isNode, type Node } from '../contract/json.js'
import { type Comparison, queryValue } from '../contract/resource-data.js'
import { type Filter, inOtherType } from './collection.js'

const INSTANT = /^\d{4}-\d\d-\d\d(?:T|$)/

/** The day of an instant in ISO 8601, or of a day; undefined for other values. */
function dayOf(value: unknown): string | undefined {
  return typeof value === 'string' && INSTANT.test(value) ? value.slice(0, 10) : undefined
}

/** The bounds in a query, and the days or instants that it names. */
export function rangeFilters(
  ranges: readonly (readonly [parameter: string, property: string, comparison: Comparison])[],
  query: Node,
): readonly Filter[] {
  return ranges.flatMap(([parameter, property, comparison]): readonly Filter[] => {
    const bound = queryValue(query, parameter)
    const isBounds = comparison === 'on' && isNode(bound)
    return bound === undefined || bound === null || isBounds
      ? []
      : [[property, (own) => isInRange(own, comparison, bound)]]
  })
}

function isInRange(own: unknown, comparison: Comparison, bound: unknown): boolean {
  if (comparison === 'on') {
    const wanted = [bound].flat().flatMap(inOtherType)
    return wanted.includes(own ?? null) || wanted.includes(dayOf(own))
  }
  if (own === undefined || own === null) return comparison === 'from' || comparison === 'to'
  const [value, limit] = comparedAs(own, bound)
  if (comparison === 'gt') return value > limit
  if (comparison === 'lt') return value < limit
  return comparison === 'gte' || comparison === 'from' ? value >= limit : value <= limit
}

type Pair = readonly [number | bigint | string, number | bigint | string]

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Numbers, also as texts; a day includes its instants. */
function comparedAs(own: unknown, bound: unknown): Pair {
  if (isNumber(own) && isNumber(bound)) return [own, bound]
  const numbers = [Number(own), Number(bound)] as const
  if (!numbers.some(Number.isNaN)) return numbers
  const texts = [String(own), String(bound)] as const
  const days = [dayOf(own), dayOf(bound)]
  const [day, other] = days
  if (day === undefined || other === undefined) return texts
  return texts.some((text) => days.includes(text)) ? [day, other] : [Date.parse(texts[0]), Date.parse(texts[1])]
}
