import { didYouMean } from '../domain/suggest.js'
import type { Environment } from '../system/environment.js'
import type { Given, Layer } from './layer.js'
import { ENV_PREFIX, envName, NAMED_OPTIONS } from './names.js'
import { naturalFromText } from './option-text.js'
import { type OptionName, optionRow } from './table.js'

/** Variables with our prefix that are not options: where a sandbox runs, and flags of single commands. */
const OTHERS = ['URL', 'DEBUG', 'FAIL_ON', 'REPORT', 'OPEN', 'WATCH'].map((name) => ENV_PREFIX + name)

/**
 * The options in the environment. An empty variable counts as not set, because that is what
 * compose files and CI matrices make of a missing value. An unknown one is only a
 * warning: it may be meant for another version.
 */
export function envLayer(env: Environment): Layer & { readonly warnings: readonly string[] } {
  const given = new Map<OptionName, Given>()
  const problems: string[] = []
  for (const option of NAMED_OPTIONS) {
    const variable = envName(option)
    const text = env[variable]
    if (text === undefined || text === '') continue
    if (given.has(option.name)) {
      problems.push(`${variable}: is given twice, also as ${envName({ ...option, negated: false })}`)
      continue
    }
    const natural = naturalFromText(optionRow(option.name).reads, text)
    const value = option.negated && typeof natural === 'boolean' ? !natural : natural
    given.set(option.name, { value, where: () => variable })
  }
  return { given, problems, warnings: unknownVariables(env) }
}

function unknownVariables(env: Environment): readonly string[] {
  const known = [...NAMED_OPTIONS.map(envName), ...OTHERS]
  return Object.keys(env)
    .filter((variable) => variable.startsWith(ENV_PREFIX) && !known.includes(variable))
    .map((variable) => `${variable}: unknown option, ignored${didYouMean(variable, known, ENV_PREFIX.length)}`)
}
