import { parseShallowJson, stringifyJson } from '../contract/json.js'
import { type Bytes, MIB } from '../domain/size.js'
import type { ServiceAnswer } from './exchange.js'

/** Far more than any documented answer. Sixty million brackets take 3 GB and a minute to be laid out. */
const LARGEST_LAID_OUT: Bytes = 8 * MIB

/** What an answer's body holds: JSON is read exactly, unless it is too large to be laid out. */
export type ReadBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'empty' }

export function readBody({ body }: Pick<ServiceAnswer, 'body'>): ReadBody {
  const text = body.toString('utf8')
  if (text === '') return { kind: 'empty' }
  if (body.length > LARGEST_LAID_OUT) return { kind: 'text', text }
  try {
    return { kind: 'json', value: parseShallowJson(text.replace(/^\ufeff/, '')) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { kind: 'text', text }
  }
}

/** Head and rows. */
export interface Rows {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/**
 * Lays a value out in rows. A list of objects has one row each and a column for every
 * name in any of them; one object a row for each of its fields.
 *
 * @returns undefined for anything else
 */
export function toRows(value: unknown): Rows | undefined {
  if (Array.isArray(value)) {
    if (!value.every(isObject)) return undefined
    const head = [...new Set(value.flatMap((one) => Object.keys(one)))]
    return { head, rows: value.map((one) => head.map((name) => cellOf(one[name]))) }
  }
  if (!isObject(value)) return undefined
  return { head: ['field', 'value'], rows: Object.entries(value).map(([name, field]) => [name, cellOf(field)]) }
}

function cellOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : stringifyJson(value)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
