import { type ConductRule, VIOLATIONS, WARNINGS } from '../../conduct/conduct-view.js'
import type { ConductReport, InSpace } from '../../conduct/total-conduct.js'
import { sentKeyText } from '../../domain/keys.js'
import { joinOr } from '../../domain/numbers.js'
import { didYouMean } from '../../domain/suggest.js'
import { OptionsError } from '../../options/options.js'
import { formatProblem } from '../../options/problem.js'

export function callerName({
  key,
  space,
  sender,
}: { readonly key: string; readonly sender?: string } & InSpace): string {
  return sentKeyText(key, space, sender)
}

/** No request with a valid key reached an operation: with a wrong base address, a run breaks no other rule. */
export const NO_TRAFFIC = 'no-traffic'

export function noTrafficLine({ requests }: ConductReport): string {
  if (requests === 0)
    return `${NO_TRAFFIC}: no request was received. Does the client take its base address from PETSTORE_BASE_URL?`
  return `${NO_TRAFFIC}: ${requests} ${requests === 1 ? 'request was' : 'requests were'} received, but none with a valid key for an operation of the service. Use PETSTORE_BASE_URL as it is, with its path, and the key in PETSTORE_API_KEY.`
}

export type RunRule = ConductRule | typeof NO_TRAFFIC

export interface FailOn {
  readonly where: string
  readonly rules: readonly RunRule[]
}

export const NEVER_FAIL: FailOn = { where: '', rules: [] }

const KINDS: Readonly<Record<string, readonly RunRule[]>> = { violation: VIOLATIONS, warning: WARNINGS }

export const FAIL_ON_WORDS: readonly string[] = [...Object.keys(KINDS), NO_TRAFFIC, ...VIOLATIONS, ...WARNINGS]

export function brokenRules(rules: readonly RunRule[], { counts, reached }: ConductReport): readonly RunRule[] {
  return rules.filter((rule) => (rule === NO_TRAFFIC ? reached === 0 : counts[rule] !== undefined))
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
