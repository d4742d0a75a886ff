import { RE2JS } from 're2js'
import { type Pattern, withAnchors } from './patterns.js'

/** RE2 reads it as a plain letter. */
const BACK_REFERENCE_BY_NAME = /\\k</

/** RE2 matches in linear time: a client cannot block the process. @returns undefined without support for the pattern */
export function linearPattern(pattern: string): Pattern | undefined {
  if (BACK_REFERENCE_BY_NAME.test(pattern)) return undefined
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(withAnchors(pattern)))
    return { size: compiled.programSize(), test: (text) => compiled.test(text) }
  } catch {
    return undefined
  }
}
