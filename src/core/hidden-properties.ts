import type { Values } from '../contract/contract.js'
import { isNode } from '../contract/json.js'

/** A record without its write-only properties. */
export function withoutHidden(value: Values, hidden: readonly (readonly string[])[]): Values {
  return hidden.reduce((shown, path) => without(shown, path) as Values, value)
}

function without(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, [name, ...rest]))
  if (!isNode(value) || value[name] === undefined) return value
  const { [name]: inner, ...others } = value
  return rest.length === 0 ? others : { ...value, [name]: without(inner, rest) }
}
