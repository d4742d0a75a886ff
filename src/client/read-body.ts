import { parseShallowJson, stringifyJson } from '../contract/json.js'
import { type Bytes, MIB } from '../domain/numbers.js'
import { isObject } from '../drift/bodies.js'
import type { ServiceResponse } from './exchange.js'

/** Many more than a documented body has. To lay out 60 MB of brackets would take 3 GB and a minute. */
const MAX_PARSED: Bytes = 8 * MIB

export type ReadBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'empty' }

export function readBody({ body }: Pick<ServiceResponse, 'body'>): ReadBody {
  const text = body.toString('utf8')
  if (text === '') return { kind: 'empty' }
  if (body.length > MAX_PARSED) return { kind: 'text', text }
  try {
    return { kind: 'json', value: parseShallowJson(text.replace(/^\ufeff/, '')) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { kind: 'text', text }
  }
}

interface Rows {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Lays out a list of objects in a row each, or an object in a row for each field. @returns undefined for other values */
export function toRows(value: unknown): Rows | undefined {
  const cell = (field: unknown) => (typeof field === 'string' ? field : field === undefined ? '' : stringifyJson(field))
  if (Array.isArray(value)) {
    if (!value.every(isObject)) return undefined
    const head = [...new Set(value.flatMap((one) => Object.keys(one)))]
    return { head, rows: value.map((one) => head.map((name) => cell(one[name]))) }
  }
  if (!isObject(value)) return undefined
  return { head: ['field', 'value'], rows: Object.entries(value).map(([name, field]) => [name, cell(field)]) }
}
