import { isNode } from './json.js'

/** Equal for equal values, whatever the order of their names. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (!isNode(value)) return typeof value === 'bigint' ? `${value}` : JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`).join()}}`
}
