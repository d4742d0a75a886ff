import { RE2JS } from 're2js'
import { type Pattern, withAnchors } from './patterns.js'

/** RE2 reads it as a plain letter. */
const BACK_REFERENCE_BY_NAME = /\\k</

/** `^(?!x)y`, as Pydantic writes it for decimals: y, and not x. */
const NOT_AT_START = /^\^\(\?!((?:[^()[\\]|\\.|\[(?:[^\]\\]|\\.)*\])*)\)/

/** RE2 matches in linear time: a client cannot block the process. @returns undefined without support for the pattern */
export function linearPattern(pattern: string): Pattern | undefined {
  if (BACK_REFERENCE_BY_NAME.test(pattern)) return undefined
  const [start, excluded] = NOT_AT_START.exec(pattern) ?? []
  if (start !== undefined && excluded !== undefined) {
    const not = linearPattern(`^(?:${excluded.replace(/^\^/, '')})`)
    const rest = linearPattern(`^${pattern.slice(start.length)}`)
    if (not === undefined || rest === undefined) return undefined
    return { size: (not.size ?? 0) + (rest.size ?? 0), test: (text) => !not.test(text) && rest.test(text) }
  }
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(withAnchors(pattern)))
    return { size: compiled.programSize(), test: (text) => compiled.test(text) }
  } catch {
    return undefined
  }
}
