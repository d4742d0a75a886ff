import { FORMATS } from './formats.js'
import { isNode, type Node } from './json.js'
import type { IdFill, Shape } from './resource-data.js'

/** Makes the id of a row. */
export type NewId = (fill: IdFill) => unknown

/** A sent value in the shape that its record needs. */
export function shapedValue(value: unknown, shape: Shape | undefined, newId: NewId): unknown {
  if (value === undefined || shape === undefined) return value
  const { fills = {}, ids = {}, properties, items, types, wraps, key, idOf } = shape
  if ('becomes' in shape && (typeof value === 'string' || typeof value === 'number')) return converted(value, shape)
  const filled = (sent: Node): Node => {
    const missing = <Made>(all: Readonly<Record<string, Made>>) =>
      Object.entries(all).filter(([name]) => sent[name] === undefined)
    const made = missing(ids).map(([name, fill]) => [name, newId(fill)])
    return { ...Object.fromEntries(made), ...sent, ...Object.fromEntries(missing(fills)) }
  }
  const inItems = (item: unknown) => shapedValue(item, items, newId)
  if (types?.includes(typeIn(value)) === false) {
    if (wraps && value !== null) return [inItems(value)]
    if (key !== undefined && value !== null && typeof value !== 'object') return filled({ [key]: value })
    if (idOf !== undefined && isNode(value)) return value[idOf]
    return types.includes('string') && typeof value !== 'object' ? String(value) : undefined
  }
  if (Array.isArray(value)) return value.map(inItems).filter((item) => item !== undefined)
  if (!isNode(value)) return value
  const inside = Object.entries(properties ?? {}).map(
    ([name, shape]) => [name, shapedValue(value[name], shape, newId)] as const,
  )
  return { ...filled(value), ...Object.fromEntries(inside.filter(([, one]) => one !== undefined)) }
}

/** A date may become an instant, and the other way round; both are numbers too, in seconds. */
function converted(value: string | number, { becomes, unless = '', types, choices }: Shape): unknown {
  const text = String(value)
  if (types?.includes('string') === false) {
    const isInstant = /^\d{4}-\d\d-\d\dT/.test(text)
    const number = isInstant ? Math.floor(Date.parse(text) / 1000) : text.trim() === '' ? Number.NaN : Number(text)
    return Number.isFinite(number) ? number : becomes
  }
  if (choices !== undefined) return choices.includes(text) ? text : becomes
  const instant = typeof value === 'number' ? instantOf(value) : `${text}T00:00:00Z`
  const other = unless === 'date-time' ? instant : typeof value === 'number' ? instant.slice(0, 10) : text.slice(0, 10)
  return [text, other].find((item) => FORMATS[unless]?.(item)) ?? becomes
}

/** More would be far in the future as seconds. */
const MAX_SECONDS = 1e11

/** Seconds or milliseconds since the epoch; empty beyond the range of JavaScript. */
function instantOf(value: number): string {
  const date = new Date(Math.abs(value) < MAX_SECONDS ? value * 1000 : value)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

function typeIn(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value === 'bigint' ? 'number' : typeof value
}
