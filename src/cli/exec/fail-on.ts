import { type ConductRule, VIOLATIONS, WARNINGS } from '../../conduct/conduct-view.js'
import { didYouMean } from '../../domain/suggest.js'
import { OptionsError } from '../../options/options.js'
import { formatProblem } from '../../options/problem.js'
import { joinOr } from '../../options/values/reading.js'
import type { ConductReport } from '../conduct/conduct-report.js'

/** No request with a valid key reached an operation: with a wrong base address, a run breaks no other rule. */
export const NO_TRAFFIC = 'no-traffic'

export function noTrafficLine({ requests }: ConductReport): string {
  if (requests === 0)
    return `${NO_TRAFFIC}: no request was received. Does the client take its base address from PETSTORE_BASE_URL?`
  return `${NO_TRAFFIC}: ${requests} ${requests === 1 ? 'request was' : 'requests were'} received, but none with a valid key for an operation of the service. Use PETSTORE_BASE_URL as it is, with its path, and the key in PETSTORE_API_KEY.`
}

export const DRIFT = 'drift'

export type RunRule = ConductRule | typeof NO_TRAFFIC | typeof DRIFT

export interface FailOn {
  readonly where: string
  readonly rules: readonly RunRule[]
}

export const NEVER_FAIL: FailOn = { where: '', rules: [] }

const KINDS: Readonly<Record<string, readonly RunRule[]>> = { violation: VIOLATIONS, warning: WARNINGS }

export const FAIL_ON_WORDS: readonly string[] = [...Object.keys(KINDS), NO_TRAFFIC, DRIFT, ...VIOLATIONS, ...WARNINGS]

export function brokenRules(rules: readonly RunRule[], { counts, reached, drift }: ConductReport): readonly RunRule[] {
  return rules.filter((rule) => {
    if (rule === NO_TRAFFIC) return reached === 0
    return rule === DRIFT ? drift.length > 0 : counts[rule] !== undefined
  })
}

export function driftLine({ operation, detail, count }: ConductReport['drift'][number]): string {
  return `${DRIFT}, ${operation}: ${detail} (${count === 1 ? 'once' : `${count} times`})`
}

/** @param where the flag or variable: `--fail-on` @throws OptionsError for unknown rules */
export function parseFailOn(where: string, text: string): FailOn {
  const words = text.split(',').map((word) => word.trim())
  const problems = words
    .filter((word) => !FAIL_ON_WORDS.includes(word))
    .map((word) => formatProblem(where, word, `must be ${joinOr(FAIL_ON_WORDS)}${didYouMean(word, FAIL_ON_WORDS)}`))
  if (problems.length > 0) throw new OptionsError(problems)
  return {
    where,
    rules: [...new Set<RunRule>([NO_TRAFFIC, ...words.flatMap((word) => KINDS[word] ?? [word as RunRule])])],
  }
}
