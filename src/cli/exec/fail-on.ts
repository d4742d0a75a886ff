import { type ConductRule, VIOLATIONS, WARNINGS } from '../../conduct/conduct-view.js'
import { didYouMean } from '../../domain/suggest.js'
import { OptionsError } from '../../options/options-error.js'
import { writeProblem } from '../../options/problem.js'
import { joinOr } from '../../options/values/reading.js'
import type { ConductReport } from '../conduct/conduct-report.js'

/** Not one request was judged. A wrong base address would keep every other rule for ever. */
export const NO_TRAFFIC = 'no-traffic'
export const NO_TRAFFIC_LINE = `${NO_TRAFFIC}: not one request came. Does the client take its base address from PETSTORE_BASE_URL?`

/** The real service behind the sandbox has drifted from the contract. */
export const DRIFT = 'drift'

/** A rule of conduct, that there is any, or one that the real service is held to. */
export type RunRule = ConductRule | typeof NO_TRAFFIC | typeof DRIFT

/** When a run fails although its command passed. */
export interface FailOn {
  /** What it was written in: `--fail-on`. */
  readonly where: string
  readonly rules: readonly RunRule[]
}

/** The command alone decides, whatever clients did. */
export const NEVER_FAIL: FailOn = { where: '', rules: [] }

/** Words that stand for several rules. */
const KINDS: Readonly<Record<string, readonly RunRule[]>> = { violation: VIOLATIONS, warning: WARNINGS }

/** What `--fail-on` takes, one or more of them. */
export const FAIL_ON_WORDS: readonly string[] = [...Object.keys(KINDS), NO_TRAFFIC, DRIFT, ...VIOLATIONS, ...WARNINGS]

/** The rules that were broken and make the run fail. */
export function rulesHit(rules: readonly RunRule[], { counts, requests, drift }: ConductReport): readonly RunRule[] {
  return rules.filter((rule) => {
    if (rule === NO_TRAFFIC) return requests === 0
    return rule === DRIFT ? drift.length > 0 : counts[rule] !== undefined
  })
}

/** One way in which the real service has drifted, for people. */
export function driftLine({ operation, detail, count }: ConductReport['drift'][number]): string {
  return `${DRIFT}, ${operation}: ${detail} (${count === 1 ? 'once' : `${count} times`})`
}

/**
 * Reads a comma list of conduct rules. That there is no traffic is one of them, whichever are named.
 *
 * @param where what it was written in: `--fail-on`
 * @throws OptionsError naming each word that is no rule, and the rules
 */
export function parseFailOn(where: string, text: string): FailOn {
  const words = text.split(',').map((word) => word.trim())
  const problems = words
    .filter((word) => !FAIL_ON_WORDS.includes(word))
    .map((word) => writeProblem(where, word, `must be ${joinOr(FAIL_ON_WORDS)}${didYouMean(word, FAIL_ON_WORDS)}`))
  if (problems.length > 0) throw new OptionsError(problems)
  return {
    where,
    rules: [...new Set<RunRule>([NO_TRAFFIC, ...words.flatMap((word) => KINDS[word] ?? [word as RunRule])])],
  }
}
