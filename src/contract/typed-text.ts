import type { Parameter, ValueForm } from './contract-data.js'
import { exactInteger, parseInt64 } from './int64.js'
import { ownValue } from './json.js'

const CANONICAL_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const INTEGER = /^-?(?:0|[1-9]\d{0,308})$/
const DELIMITERS = { spaceDelimited: ' ', pipeDelimited: '|' } as const

/** A value in one text: by itself, or with commas. */
export function simple(text: string, parameter: Parameter): unknown {
  const { form, explode, style } = parameter
  const [isList, isObject] = [form.types.includes('array'), form.types.includes('object')]
  if (!isList && !isObject) return typed(text, form)
  const items = text === '' ? [] : split(text, parameter)
  // Of a list or a text, a text without a delimiter is a text.
  if (isList) return typed(items.length < 2 && form.types.includes('string') ? text : items, form)
  if (explode && style === 'simple') return typed(Object.fromEntries(items.map(pairOf)), form)
  if (items.length % 2 !== 0) return typed(text, form)
  const names = items.filter((_, index) => index % 2 === 0)
  return typed(Object.fromEntries(names.map((name, index) => [name, items[2 * index + 1] ?? ''])), form)
}

export function split(text: string, { style, in: place }: Parameter): readonly string[] {
  const items = text.split(DELIMITERS[style as keyof typeof DELIMITERS] ?? ',')
  return place === 'header' ? items.map((item) => item.trim()) : items
}

export function pairOf(text: string): readonly [string, string] {
  const equals = text.indexOf('=')
  return equals === -1 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)]
}

/** Gives texts the types of a form. */
export function typed(value: unknown, form: ValueForm): unknown {
  const { types, items, fields } = form
  if (Array.isArray(value)) return value.map((item) => (items ? typed(item, items) : item))
  if (typeof value === 'object' && value !== null) {
    const isList = types.includes('array') && !types.includes('object')
    if (isList) return typed(Object.values(value), form)
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => {
        const inner = fields && ownValue(fields, name)
        return [name, inner === undefined ? one : typed(one, inner)]
      }),
    )
  }
  if (typeof value !== 'string') return value
  if (types.includes('integer')) {
    const integer = parseInt64(value)
    if (integer !== undefined) return integer
  }
  if (types.includes('number') && CANONICAL_NUMBER.test(value))
    return INTEGER.test(value) ? exactInteger(BigInt(value)) : Number(value)
  if (types.includes('boolean') && (value === 'true' || value === 'false')) return value === 'true'
  if (types.includes('null') && (value === '' || value === 'null') && !types.includes('string')) return null
  return value
}
