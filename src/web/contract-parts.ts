import { decodePercent } from '../contract/query.js'

export type JsonMap = Record<string, unknown>

/** Limits references, which may form a cycle. */
const MAX_HOPS = 20

/** The target of a reference, with the fields beside it; empty for anything but an object. */
export function resolve(contract: JsonMap, given: unknown): JsonMap {
  let value = asMap(given)
  for (let hops = 0; hops < MAX_HOPS && typeof value.$ref === 'string'; hops++) {
    const { $ref, ...beside } = value
    const parts = asText($ref)
      .replace(/^#\//, '')
      .split('/')
      .map((part) => decodePercent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    value = { ...asMap(parts.reduce<unknown>((at, part) => asMap(at)[part], contract)), ...beside }
  }
  return value
}

export function asMap(value: unknown): JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMap) : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
