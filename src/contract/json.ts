import { exactInteger } from './int64.js'
import { findJsonError } from './json-error.js'

/** What is nested deeper is nobody's data, and everything that goes through a value by recursion would overflow on it. */
const DEEPEST = 1000

/**
 * A number that JSON.parse may not read exactly: many digits, an exponent, or
 * "-0". A match inside a string costs time but changes nothing.
 */
const NEEDS_CARE = /[\d.]{16}|\d[eE]|-0/
/** The same, and every fraction. */
const IS_REPLACED = /[\d.]{16}|\d[eE]|-0|\d\.\d/g
/** A number as JSON writes it. @source RFC 8259, section 6 */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const NUMBER_PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
/** A double overflows beyond this many digits, and no real whole number is that long. */
const MOST_DIGITS = 309
/** A double tells any two numbers of 15 digits apart. */
const MOST_SAFE_CHARACTERS = 15
/** What is written with an exponent is exact up to so many digits, twice those of an int64; beyond, it is the nearest double. */
const MOST_UNFOLDED = 40

/**
 * Reads JSON as JSON.parse does, but whole numbers exactly: a number while that is
 * exact, a bigint beyond. The value counts, not its spelling: 1.0 and 1e3
 * are whole, and -0 is 0.
 *
 * A whole number written shorter than its digits (1e308) is exact up to 40 of them, and
 * beyond it the nearest double: no int64 is that long.
 *
 * A number that is not whole, but that a double would round to a whole one, becomes
 * NaN, so that it is not taken for whole. One of more than 309 digits becomes
 * Infinity, as with JSON.parse, so that a short text cannot exhaust memory.
 *
 * @throws SyntaxError whose message is a sentence part with the place: `unexpected "}" at line 1, column 13`
 */
export function parseJson(text: string): unknown {
  // Each number that needs care, and each fraction, is replaced by its ordinal and a half, so that JSON.parse still
  // decides everything else: repeated names, __proto__, escapes. No other number is then a fraction.
  const values: (number | bigint)[] = []
  const numbered = NEEDS_CARE.test(text)
    ? replaceLongNumbers(text, (token) => `${values.push(exactNumber(token)) - 1}.5`)
    : text
  let plain: unknown
  try {
    plain = JSON.parse(numbered)
  } catch (error) {
    throw new SyntaxError(findJsonError(text)?.message ?? 'it cannot be read', { cause: error })
  }
  return values.length === 0 ? plain : putValues(plain, values)
}

/**
 * The same, for what is written again or gone through by others: nothing that is nested more than 1,000 levels deep.
 *
 * @throws SyntaxError for that, too
 * @source RFC 8259, section 9: an implementation may set limits on the depth of nesting
 */
export function parseShallowJson(text: string): unknown {
  // First of all, since reading millions of levels takes seconds.
  if (isNestedDeeper(text, DEEPEST)) throw new SyntaxError(`it is nested more than ${DEEPEST} levels deep`)
  return parseJson(text)
}

/** Whether JSON has more levels of lists and objects than so many: how deep it is nested is its writer's choice. */
export function isNestedDeeper(text: string, levels: number): boolean {
  // Each level takes a bracket and its counterpart.
  if (text.length <= 2 * levels) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at) - 1
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      if (++depth > levels) return true
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--
  }
  return false
}

/** Puts each number in the place of its ordinal and a half. Without recursion: how deep a text is nested is its sender's choice. */
function putValues(root: unknown, values: readonly (number | bigint)[]): unknown {
  if (typeof root === 'number') return numberAt(root, values)
  const open: unknown[] = [root]
  while (open.length > 0) {
    const container = open.pop()
    if (!isContainer(container)) continue
    if (Array.isArray(container)) {
      // By index: the names of a long list would be as many texts.
      for (let index = 0; index < container.length; index++) {
        const value: unknown = container[index]
        if (typeof value === 'number') container[index] = numberAt(value, values)
        else if (isContainer(value)) open.push(value)
      }
      continue
    }
    for (const name of Object.keys(container)) {
      // Each name is the container's own, "__proto__" too, so that no setter is called.
      const value = container[name]
      if (typeof value === 'number') container[name] = numberAt(value, values)
      else if (isContainer(value)) open.push(value)
    }
  }
  return root
}

/** A fraction is an ordinal and a half, whatever is whole is itself. */
function numberAt(parsed: number, values: readonly (number | bigint)[]): number | bigint | undefined {
  return Number.isInteger(parsed) ? parsed : values[parsed - 0.5]
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/**
 * Writes JSON as JSON.stringify does, and bigints digit for digit.
 *
 * @param indent spaces for each level, none for one line
 */
export function stringifyJson(value: unknown, indent?: number): string {
  // If someone has given BigInt a toJSON (usually to a string), JSON.stringify would not fail on it.
  if (!('toJSON' in BigInt.prototype)) {
    try {
      return JSON.stringify(value, undefined, indent) ?? 'null'
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }
  const texts: string[] = []
  function number(this: unknown, name: string, written: unknown): unknown {
    // `this` holds the value as it was before any toJSON.
    const own: unknown = Reflect.get(Object(this), name)
    const exact = typeof own === 'bigint' ? own : written instanceof Number ? Number(written) : written
    if (typeof exact === 'bigint') return texts.push(String(exact)) - 1
    return typeof exact === 'number' && Number.isFinite(exact) ? texts.push(String(exact)) - 1 : exact
  }
  const numbered = JSON.stringify(value, number, indent) ?? 'null'
  return replaceNumbers(numbered, (ordinal) => texts[Number(ordinal)] ?? ordinal)
}

/** The exact value of a JSON number's text, see parseJson. */
function exactNumber(token: string): number | bigint {
  const nearest = Number(token)
  // Of so few digits none is lost; but 1e-400 is not 0. And what is as long as this is not unfolded below.
  const isShort = token.length <= MOST_SAFE_CHARACTERS
  if (isShort && nearest !== 0 && (Math.abs(nearest) < 2 ** 53 || Math.abs(nearest) >= 10 ** MOST_UNFOLDED))
    return nearest
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER_PARTS.exec(token) ?? []
  let digits = whole + fraction
  let power = Number(exponent) - fraction.length
  let first = 0
  while (digits[first] === '0') first++
  let end = digits.length
  while (end > first && digits[end - 1] === '0') end--
  power += digits.length - end
  digits = digits.slice(first, end)

  if (digits === '') return 0
  if (power < 0) {
    return Number.isInteger(nearest) ? Number.NaN : nearest
  }
  // A few characters, many of them in a text, must not become hundreds of digits each: 1e308.
  if (digits.length + power > Math.max(MOST_UNFOLDED, token.length)) return nearest
  if (digits.length + power > MOST_DIGITS) return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return exactInteger(BigInt(sign + digits + '0'.repeat(power)))
}

const QUOTE = 0x22
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const NUMBER_TOKEN = /[\d.eE+-]*/y
const IN_NUMBER = /[\d.eE+-]/

/**
 * Replaces those numbers of a text that need care, and fractions; what stands in strings is left alone, and so is what
 * only looks like a number, or a text that is no JSON would become one.
 *
 * Goes from one of them to the next, as there are few in a long text.
 */
function replaceLongNumbers(text: string, replacement: (token: string) => string): string {
  const parts: string[] = []
  let copied = 0
  // Outside of strings, and the next quote from there.
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

/** Replaces all numbers of a text that is JSON; what stands in strings is left alone. */
function replaceNumbers(text: string, replacement: (token: string) => string): string {
  const parts: string[] = []
  let copied = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER_TOKEN.lastIndex = at
      NUMBER_TOKEN.test(text)
      const end = NUMBER_TOKEN.lastIndex
      parts.push(text.slice(copied, at), replacement(text.slice(at, end)))
      copied = at = end
    } else at++
  }
  parts.push(text.slice(copied))
  return parts.join('')
}

/** The index after the quote that closes a string: the first one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text[quote - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return quote + 1
  }
  return text.length
}
