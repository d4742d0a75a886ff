// Each takes as much of a token as is valid.
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.(?:\d+(?:[eE][+-]?\d*)?)?|[eE][+-]?\d*)?|-`
const WORD = 't(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?'
const TOKEN = new RegExp(String.raw`[ \t\n\r]*([{}[\],:"]|${NUMBER}|${WORD})?`, 'y')
const STRING_PART = /[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))?/y
const BROKEN_ESCAPE = /^\\(?:u[\da-fA-F]{0,3})?/
const WHOLE_SCALAR = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

const VALUE = '{["-0123456789tfn'

/** JSON.parse's messages differ between releases. @returns `unexpected "}" at line 1, column 13`, or undefined @source RFC 8259 */
export function findJsonError(text: string): string | undefined {
  const position = firstMistake(text)
  if (position === undefined) return undefined
  const character = text.codePointAt(position)
  const what = character === undefined ? 'end' : JSON.stringify(String.fromCodePoint(character))
  return `unexpected ${what} at ${placeOf(text, position)}`
}

export function placeOf(text: string, position: number): string {
  const before = text.slice(0, position).split('\n')
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
}

/** Without recursion, so that deep nesting cannot overflow the call stack. */
function firstMistake(text: string): number | undefined {
  const closing: string[] = []
  /** First characters of the tokens that may come next; none after the value. */
  let expected = VALUE
  TOKEN.lastIndex = 0
  for (;;) {
    const [, token = ''] = TOKEN.exec(text) ?? []
    const start = TOKEN.lastIndex - token.length
    const first = token[0]
    if (first === undefined) return start === text.length && expected === '' ? undefined : start
    if (!expected.includes(first)) return start
    if (first === '{' || first === '[') {
      closing.push(first === '{' ? '}' : ']')
      expected = first === '{' ? '"}' : `]${VALUE}`
    } else if (first === ',') expected = closing.at(-1) === '}' ? '"' : VALUE
    else if (first === ':') expected = VALUE
    else {
      const isName = first === '"' && expected.startsWith('"')
      if (first === '}' || first === ']') closing.pop()
      else if (first === '"') {
        const at = endOfString(text, start + 1)
        if (text[at] !== '"') return at + (BROKEN_ESCAPE.exec(text.slice(at, at + 6))?.[0].length ?? 0)
        TOKEN.lastIndex = at + 1
      } else if (!WHOLE_SCALAR.test(token)) return TOKEN.lastIndex
      const outer = closing.at(-1)
      expected = isName ? ':' : outer === undefined ? '' : `,${outer}`
    }
  }
}

/** The index of the closing quote, or of whatever is invalid. A loop, as one pattern for it all overflows the stack. */
function endOfString(text: string, start: number): number {
  let at = start
  for (let from = -1; from !== at; ) {
    from = STRING_PART.lastIndex = at
    STRING_PART.test(text)
    at = STRING_PART.lastIndex
  }
  return at
}

/** In characters. A longer text is not searched. */
const MAX_SEARCHED = 1_000_000
const STRINGS_AND_BRACKETS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/gs

/** Finds a name that an object has twice: parsers pick different values. @source RFC 8259, section 4 */
export function findRepeatedName(text: string): string | undefined {
  if (text.length > MAX_SEARCHED) return undefined
  const open: (Set<string> | undefined)[] = []
  let isName = false
  for (const [token] of text.matchAll(STRINGS_AND_BRACKETS)) {
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (token !== ',' && isName) {
      const name = String(JSON.parse(token))
      if (open.at(-1)?.has(name)) return name
      open.at(-1)?.add(name)
    }
    isName = token === '{' || (token === ',' && open.at(-1) !== undefined)
  }
  return undefined
}
