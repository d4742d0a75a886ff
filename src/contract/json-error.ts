/** Where and why a text is not valid JSON. */
export interface JsonError {
  /** Index of the first unexpected character; the text's length if it ends too early. */
  readonly position: number
  /** `unexpected "}" at line 1, column 13`. */
  readonly message: string
}

const SPACE = /[ \t\n\r]*/y
/** Everything but quote, backslash and control characters. */
const STRING_PART = /[ !#-[\]-\uffff]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS = ['true', 'false', 'null'] as const

/**
 * Finds where a text stops being valid JSON. JSON.parse's messages differ from
 * one Node release to the next and often name no place.
 *
 * @returns the first mistake, or undefined if the text is valid JSON
 * @source RFC 8259
 */
export function findJsonError(text: string): JsonError | undefined {
  const position = firstMistake(text)
  if (position === undefined) return undefined
  const character = text.codePointAt(position)
  const what = character === undefined ? 'end' : JSON.stringify(String.fromCodePoint(character))
  return { position, message: `unexpected ${what} at ${placeOf(text, position)}` }
}

/** `line 1, column 13` */
export function placeOf(text: string, position: number): string {
  const before = text.slice(0, position).split('\n')
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
}

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end'

/** A loop over an explicit stack, so that deep nesting cannot overflow the call stack. */
function firstMistake(text: string): number | undefined {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  let at = 0
  for (;;) {
    at = skip(SPACE, text, at)
    const character = text[at]
    if (expected === 'comma or end') {
      const container = open.at(-1)
      if (container === undefined) return at === text.length ? undefined : at
      if (character === ',') expected = container === '{' ? 'name' : 'value'
      else if (character === (container === '{' ? '}' : ']')) open.pop()
      else return at
      at++
    } else if (expected === 'colon') {
      if (character !== ':') return at
      expected = 'value'
      at++
    } else if (expected === 'name' || expected === 'name or }') {
      if (character === '}' && expected === 'name or }') {
        open.pop()
        expected = 'comma or end'
        at++
        continue
      }
      if (character !== '"') return at
      const end = skipString(text, at)
      if (!end.whole) return end.at
      at = end.at
      expected = 'colon'
    } else if (character === ']' && expected === 'value or ]') {
      open.pop()
      expected = 'comma or end'
      at++
    } else if (character === '{' || character === '[') {
      open.push(character)
      expected = character === '{' ? 'name or }' : 'value or ]'
      at++
    } else {
      const end = skipScalar(text, at)
      if (!end.whole) return end.at
      at = end.at
      expected = 'comma or end'
    }
  }
}

interface End {
  readonly at: number
  readonly whole: boolean
}

function skipScalar(text: string, start: number): End {
  const character = text[start]
  if (character === '"') return skipString(text, start)
  const word = WORDS.find((candidate) => candidate[0] === character)
  if (word !== undefined) {
    let length = 0
    while (length < word.length && text[start + length] === word[length]) length++
    return { at: start + length, whole: length === word.length }
  }
  const end = skip(NUMBER, text, start)
  if (end === start) return { at: character === '-' ? start + 1 : start, whole: false }
  return endOfNumber(text, start, end)
}

/** "1." and "1e+" go wrong where a digit is missing, "01" at the extra digit. */
function endOfNumber(text: string, start: number, end: number): End {
  const token = text.slice(start, end)
  const next = text[end] ?? ''
  if (/\d/.test(next)) return { at: end, whole: false }
  if (next === '.' && /^-?\d+$/.test(token)) return { at: end + 1, whole: false }
  if (!/[eE]/.test(next) || /[eE]/.test(token)) return { at: end, whole: true }
  return { at: /[+-]/.test(text[end + 1] ?? '') ? end + 2 : end + 1, whole: false }
}

function skipString(text: string, start: number): End {
  let at = start + 1
  for (;;) {
    at = skip(STRING_PART, text, at)
    if (text[at] === '"') return { at: at + 1, whole: true }
    if (text[at] !== '\\') return { at, whole: false }
    const end = skip(ESCAPE, text, at)
    if (end === at) return { at: mistakeInEscape(text, at), whole: false }
    at = end
  }
}

function mistakeInEscape(text: string, start: number): number {
  if (text[start + 1] !== 'u') return start + 1
  let at = start + 2
  while (at < start + 6 && /[\da-fA-F]/.test(text[at] ?? '')) at++
  return at
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}
