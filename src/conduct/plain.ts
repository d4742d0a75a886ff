/** Plain JSON, in which a map is `{ map: entries }`. */
export type Plain = unknown

export function toPlain(value: unknown): Plain {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Map) return { map: Array.from(value, toPlain) }
  if (Array.isArray(value)) return value.map(toPlain)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, toPlain(part)]))
}

/** @param plain from `toPlain` */
export function fromPlain(plain: Plain): unknown {
  if (typeof plain !== 'object' || plain === null) return plain
  if (Array.isArray(plain)) return plain.map(fromPlain)
  const parts = Object.entries(plain)
  const [[first, entries] = []] = parts
  if (parts.length === 1 && first === 'map') return new Map(fromPlain(entries) as [string, unknown][])
  return Object.fromEntries(parts.map(([name, part]) => [name, fromPlain(part)]))
}
