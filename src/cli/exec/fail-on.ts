import { type ConductRule, VIOLATIONS, WARNINGS } from '../../conduct/conduct-view.js'
import { OptionsError } from '../../options/options-error.js'
import { writeProblem } from '../../options/problem.js'
import { didYouMean } from '../../options/suggest.js'
import { joinOr } from '../../options/values/reading.js'
import type { ConductReport } from '../conduct/conduct-report.js'

/** When a run fails although its command passed. */
export interface FailOn {
  /** What it was written in: `--fail-on`. */
  readonly where: string
  readonly rules: readonly ConductRule[]
}

/** The command alone decides, whatever clients did. */
export const NEVER_FAIL: FailOn = { where: '', rules: [] }

/** Words that stand for several rules. */
const KINDS: Readonly<Record<string, readonly ConductRule[]>> = { violation: VIOLATIONS, warning: WARNINGS }

/** What `--fail-on` takes, one or more of them. */
export const FAIL_ON_WORDS: readonly string[] = [...Object.keys(KINDS), ...VIOLATIONS, ...WARNINGS]

/** The rules that were broken and make the run fail. */
export function rulesHit({ rules }: FailOn, { counts }: ConductReport): readonly ConductRule[] {
  return rules.filter((rule) => counts[rule] !== undefined)
}

/**
 * Reads a comma list of conduct rules.
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
  return { where, rules: [...new Set(words.flatMap((word) => KINDS[word] ?? [word as ConductRule]))] }
}
