import { exactInteger } from './int64.js'
import { findJsonError } from './json-error.js'

/** Deeper values would overflow recursive code. */
const MAX_DEPTH = 1000
/** The levels of a body that a client may send. */
export const MAX_BODY_DEPTH = 200

/** A number that JSON.parse may read inexactly: many digits, an exponent, or "-0". A match in a string is harmless. */
const NEEDS_CARE = /[\d.]{16}|\d[eE]|-0/
const IS_REPLACED = /[\d.]{16}|\d[eE]|-0|\d\.\d/g
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const NUMBER_PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const MAX_DIGITS = 309
/** A double distinguishes all numbers of 15 digits. */
const MAX_SAFE_CHARACTERS = 15
/** Numbers with an exponent are exact up to this number of digits. */
const MAX_UNFOLDED = 40

/**
 * Whole numbers are exact: a bigint where a number would lose digits. The value counts, not its spelling: 1.0 and 1e3 are
 * whole, and -0 is 0. A whole number with an exponent is exact up to 40 digits, and the nearest double beyond. A fraction
 * that a double would round to a whole number becomes NaN. More than 309 digits become Infinity.
 *
 * @param exact whether every number that a double would change becomes NaN
 * @throws SyntaxError whose message is a sentence part: `unexpected "}" at line 1, column 13`
 */
export function parseJson(text: string, exact = false): unknown {
  // Each such number is replaced by its ordinal plus a half, so that JSON.parse still decides everything else:
  // repeated names, __proto__, escapes. No other fraction remains.
  const values: (number | bigint)[] = []
  const numbered = NEEDS_CARE.test(text)
    ? replaceLongNumbers(text, (token) => `${values.push(exactNumber(token, exact)) - 1}.5`)
    : text
  let plain: unknown
  try {
    plain = JSON.parse(numbered)
  } catch (error) {
    throw new SyntaxError(findJsonError(text) ?? 'it cannot be read', { cause: error })
  }
  return values.length === 0 ? plain : putValues(plain, values)
}

/** Refuses more levels than recursive code could read or write. @throws SyntaxError */
export function parseShallowJson(text: string, exact = false, levels = MAX_DEPTH): unknown {
  // First, because parsing millions of levels takes seconds.
  if (isNestedDeeper(text, levels)) throw new SyntaxError(`it is nested more than ${levels} levels deep`)
  return parseJson(text, exact)
}

export function isNestedDeeper(text: string, levels: number): boolean {
  // Each level takes two brackets.
  if (text.length <= 2 * levels) return false
  const quoteOrBracket = /["[\]{}]/g
  let depth = 0
  for (let found = quoteOrBracket.exec(text); found !== null; found = quoteOrBracket.exec(text)) {
    const [token] = found
    if (token === '"') quoteOrBracket.lastIndex = endOfString(text, found.index)
    else depth += token === '[' || token === '{' ? 1 : -1
    if (depth > levels) return true
  }
  return false
}

/** Without recursion: clients choose the depth. */
function putValues(root: unknown, values: readonly (number | bigint)[]): unknown {
  const top: Container = { root }
  const open = [top]
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    // Each name is an own property, even "__proto__", so that no setter is called. The keys of a long list are not strings.
    for (const name of Array.isArray(container) ? container.keys() : Object.keys(container)) {
      const value = container[name]
      if (typeof value === 'object' && value !== null) open.push(value as Container)
      else if (typeof value === 'number' && !Number.isInteger(value)) container[name] = values[value - 0.5]
    }
  }
  return top.root
}

type Container = Record<string | number, unknown>

/** As JSON.stringify, with bigints digit for digit. */
export function stringifyJson(value: unknown, indent?: number): string {
  // If someone has given BigInt a toJSON (usually to a string), JSON.stringify would not fail on it.
  if (!('toJSON' in BigInt.prototype)) {
    try {
      return JSON.stringify(value, undefined, indent) ?? 'null'
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }
  // Marks the strings that stand for bigints. It is random, so that no client can send such a string.
  const mark = `bigint ${Math.random()} `
  function marked(this: unknown, name: string, written: unknown): unknown {
    // `this` holds the value as it was before any toJSON.
    const own: unknown = Reflect.get(Object(this), name)
    const exact = typeof own === 'bigint' ? own : written
    return typeof exact === 'bigint' ? mark + exact : exact
  }
  const text = JSON.stringify(value, marked, indent) ?? 'null'
  return text.replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1')
}

function exactNumber(token: string, exact: boolean): number | bigint {
  if (token === '-0') return 0
  const nearest = Number(token)
  // Short numbers lose no digits, but 1e-400 is not 0.
  const isShort = token.length <= MAX_SAFE_CHARACTERS
  if (isShort && nearest !== 0 && (Math.abs(nearest) < 2 ** 53 || Math.abs(nearest) >= 10 ** MAX_UNFOLDED))
    return nearest
  const { sign, digits, power } = decimalOf(token)
  if (digits === '') return 0
  const keptOrNot = () => {
    const kept = decimalOf(String(nearest))
    return exact && (kept.digits !== digits || kept.power !== power) ? Number.NaN : nearest
  }
  if (power < 0) return Number.isInteger(nearest) ? Number.NaN : keptOrNot()
  // Many short numbers such as 1e308 must not become hundreds of digits each.
  if (digits.length + power > Math.max(MAX_UNFOLDED, token.length)) return keptOrNot()
  if (digits.length + power > MAX_DIGITS) return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return exactInteger(BigInt(sign + digits + '0'.repeat(power)))
}

function decimalOf(token: string): { readonly sign: string; readonly digits: string; readonly power: number } {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER_PARTS.exec(token) ?? []
  const digits = whole + fraction
  let first = 0
  while (digits[first] === '0') first++
  let end = digits.length
  while (end > first && digits[end - 1] === '0') end--
  return { sign, digits: digits.slice(first, end), power: Number(exponent) - fraction.length + digits.length - end }
}

/** In decimals: doubles would round both. A step of 0 has no multiples but 0. */
export function isMultipleOf(value: number | bigint, step: number | bigint): boolean {
  const [one, other] = [decimalOf(String(value)), decimalOf(String(step))]
  const power = Math.min(one.power, other.power)
  const whole = (decimal: typeof one) => BigInt(decimal.digits) * 10n ** BigInt(decimal.power - power)
  const by = whole(other)
  return by === 0n ? whole(one) === 0n : whole(one) % by === 0n
}

const NUMBER_TOKEN = /[\d.eE+-]*/y
const IN_NUMBER = /[\d.eE+-]/

/** Replaces the numbers of a text that need care, outside of strings. Invalid numbers stay, so that the text stays invalid. */
function replaceLongNumbers(text: string, replacement: (token: string) => string): string {
  const parts: string[] = []
  let copied = 0
  // A position outside of strings, and the next quote from there.
  let at = 0
  let quote = quoteFrom(text, 0)
  IS_REPLACED.lastIndex = 0
  for (let found = IS_REPLACED.exec(text); found !== null; found = IS_REPLACED.exec(text)) {
    while (quote < found.index) {
      at = endOfString(text, quote)
      quote = quoteFrom(text, at)
    }
    if (at <= found.index) {
      let start = found.index
      while (start > at && IN_NUMBER.test(text[start - 1] ?? '')) start--
      NUMBER_TOKEN.lastIndex = start
      NUMBER_TOKEN.test(text)
      at = NUMBER_TOKEN.lastIndex
      const token = text.slice(start, at)
      if (NUMBER.test(token)) {
        parts.push(text.slice(copied, start), replacement(token))
        copied = at
      }
    }
    IS_REPLACED.lastIndex = at
  }
  parts.push(text.slice(copied))
  return parts.join('')
}

function quoteFrom(text: string, from: number): number {
  const quote = text.indexOf('"', from)
  return quote === -1 ? text.length : quote
}

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return quote + 1
  }
  return text.length
}

export type Node = Readonly<Record<string, unknown>>

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Not what all objects have, such as `constructor`. */
export function ownValue<Value>(node: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(node, name) ? node[name] : undefined
}
