import { RE2JS } from 're2js'
import { quote } from './excerpt.js'
import { SpecError } from './spec-error.js'

interface Pattern {
  test(text: string): boolean
  toString(): string
}

/** RE2 reads it as a plain letter. */
const BACK_REFERENCE_BY_NAME = /\\k</

/** RE2 matches in linear time: a client cannot block the process. @throws SyntaxError; SpecError if RE2 lacks support */
function compile(pattern: string, flags: string): Pattern {
  // RE2 has syntax of its own; contracts use JavaScript's.
  new RegExp(pattern, flags)
  try {
    if (BACK_REFERENCE_BY_NAME.test(pattern)) throw new SyntaxError('back references')
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    // ajv keeps one pattern for each text.
    return { test: (text) => compiled.matcher(text).find(), toString: () => `/${pattern}/${flags}` }
  } catch {
    throw new SpecError(
      `the pattern ${quote(pattern)} cannot be matched in linear time, so a client could stop the sandbox with it. ` +
        'Write it without lookarounds, back references, \\p{Script=…} and repetitions of more than 1000, or leave it out',
    )
  }
}

/** ajv requires `code` only for validators that are written to a file. */
export const linearPattern = Object.assign(compile, { code: 'linearPattern' })

function compileOrNone(pattern: string, flags: string): Pattern {
  try {
    return compile(pattern, flags)
  } catch {
    return { test: () => true, toString: () => `any for /${pattern}/` }
  }
}

export const linearOrNone = Object.assign(compileOrNone, { code: 'linearOrNone' })
