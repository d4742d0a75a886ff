import type { Parameter, ValueForm } from './contract-data.js'
import { parseShallowJson } from './json.js'
import type { QueryPair } from './query.js'
import { deepValue, labelValue } from './rare-styles.js'
import { simple, split, typed } from './typed-text.js'

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
  const { form, explode, style } = parameter
  const isList = form.types.includes('array')
  if (style === 'json') return parsed(text)
  if (style === 'matrix' || style === 'label') return labelValue(parameter, text)
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

function parsed(text: string): unknown {
  try {
    return parseShallowJson(text, true)
  } catch {
    return text
  }
}
