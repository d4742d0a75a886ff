import type { Parameter, ValueForm } from './contract-data.js'
import { exactInteger, parseInt64 } from './int64.js'
import { isNode, ownValue, parseShallowJson } from './json.js'
import type { QueryPair } from './query.js'

const CANONICAL_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const INTEGER = /^-?(?:0|[1-9]\d{0,308})$/
const DELIMITERS = { spaceDelimited: ' ', pipeDelimited: '|' } as const

/**
 * Decodes the values of a parameter by its style, and gives the texts in them the types of its schema. A text that is no
 * value of them stays, so that the schema refuses it. @source OpenAPI specification: Style Values
 *
 * @param pairs those of the parameter: with its name, and of objects also with the names of their properties
 * @returns undefined for a repeated value that is not a list
 */
export function readPairs(parameter: Parameter, pairs: readonly QueryPair[]): unknown {
  const { name, form, explode } = parameter
  const [only] = pairs
  if (pairs.length === 1 && only !== undefined && isScalar(parameter)) return typed(only[1], form)
  const texts = pairs.flatMap(([own, text]) => (own === name ? text : []))
  const [first = ''] = texts
  if (parameter.style === 'deepObject' && texts.length === 0) return deepValue(name, pairs, form)
  const isList = form.types.includes('array')
  if (texts.length > 1)
    return isList ? typed(explode ? texts : texts.flatMap((text) => split(text, parameter)), form) : undefined
  return readText(parameter, first)
}

/** The usual parameter. */
function isScalar({ style, form: { types } }: Parameter): boolean {
  return style === 'form' && types.length === 1 && types[0] !== 'array' && types[0] !== 'object'
}

/** A path segment, a header, a cookie, or a single value of a query. */
export function readText(parameter: Parameter, text: string): unknown {
  const { name, form, explode, style } = parameter
  const [isList, isObject] = [form.types.includes('array'), form.types.includes('object')]
  if (style === 'json') return parsed(text)
  if (style === 'matrix' || style === 'label') {
    const bare = style === 'label' ? text.replace(/^\./, '') : text.replace(/^;/, '')
    const pairs = bare.split(style === 'label' ? '.' : ';').map(pairOf)
    if (isObject && explode) return typed(Object.fromEntries(pairs), form)
    if (style === 'label')
      return isList ? typed(bare.split(bare.includes(',') ? ',' : '.'), form) : simple(bare, parameter)
    const values = pairs.map(([own, value]) => (own === name ? value : own))
    return isList && explode ? typed(values, form) : simple(values.join(';'), parameter)
  }
  if (style === 'deepObject' && /^[{[]/.test(text) && mayBeJson(form)) return parsed(text)
  if (isList && explode && (style === 'form' || style === 'deepObject'))
    return typed(form.types.includes('string') ? text : [text], form)
  return simple(text, parameter)
}

/** Not a text, nor a file, whatever it contains. */
function mayBeJson({ types, isFile, items }: ValueForm): boolean {
  if (isFile || (items?.isFile && !types.includes('object'))) return false
  return types.length === 0 || types.includes('array') || types.includes('object')
}

function simple(text: string, parameter: Parameter): unknown {
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

function split(text: string, { style, in: place }: Parameter): readonly string[] {
  const items = text.split(DELIMITERS[style as keyof typeof DELIMITERS] ?? ',')
  return place === 'header' ? items.map((item) => item.trim()) : items
}

function pairOf(text: string): readonly [string, string] {
  const equals = text.indexOf('=')
  return equals === -1 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)]
}

/** `price[gt]=1&price[lt]=9`, `tags[]=a&tags[]=b`. */
function deepValue(name: string, pairs: readonly QueryPair[], form: ValueForm): unknown {
  // Without a prototype: `price[__proto__][gt]` would change it.
  const root: Record<string, unknown> = Object.create(null)
  const sizes = new Map<object, number>()
  for (const [own, text] of pairs) {
    const steps = [...own.slice(name.length).matchAll(/\[([^\]]*)\]/g)].map(([, step = '']) => step)
    let place = root
    for (const [index, step] of steps.entries()) {
      const size = sizes.get(place) ?? 0
      const key = step === '' ? String(size) : step
      if (!(key in place)) sizes.set(place, size + 1)
      if (index === steps.length - 1) {
        place[key] = text
        break
      }
      if (!isNode(place[key])) place[key] = Object.create(null)
      place = place[key] as Record<string, unknown>
    }
  }
  return typed(root, form)
}

/** Gives texts the types of a form. */
function typed(value: unknown, form: ValueForm): unknown {
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

function parsed(text: string): unknown {
  try {
    return parseShallowJson(text, true)
  } catch {
    return text
  }
}
