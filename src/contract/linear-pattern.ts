import { RE2JS } from 're2js'
import { quote } from './excerpt.js'
import { SpecError } from './spec-error.js'

/** A regular expression, as far as ajv uses one. */
interface Pattern {
  test(text: string): boolean
}

/** RE2 takes it for a plain letter. */
const BACK_REFERENCE_BY_NAME = /\\k</

/**
 * A pattern of a contract, matched in linear time: by RE2's automata. With the engine of
 * JavaScript a client could choose a text that holds up everybody for years.
 *
 * @throws SyntaxError for what is no pattern in JavaScript; SpecError for one that automata cannot match
 */
function compile(pattern: string, flags: string): Pattern {
  // RE2 has some spellings of its own; a contract is of JavaScript's.
  new RegExp(pattern, flags)
  try {
    if (BACK_REFERENCE_BY_NAME.test(pattern)) throw new SyntaxError('back references')
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    return { test: (text) => compiled.matcher(text).find() }
  } catch {
    throw new SpecError(
      `the pattern ${quote(pattern)} cannot be matched in linear time, so a client could stop the sandbox with it. ` +
        'Write it without lookarounds, back references, \\p{Script=…} and repetitions of more than 1000, or leave it out',
    )
  }
}

/** What ajv is given; the text is only for validators that are written to a file, which these are not. */
export const linearPattern = Object.assign(compile, { code: 'linearPattern' })
