import { type Command, Option } from 'commander'
import type { FlagValues } from '../options/flag-layer.js'
import { envName, flagName } from '../options/names.js'
import { OPTION_NAMES, type OptionName, optionRow } from '../options/table.js'

const ENV_EXAMPLE = 'banAfter'

/** How else an option can be given. */
export const OTHER_WAYS = `\
Every option can also be set in the environment:
  ${flagName(ENV_EXAMPLE)} is ${envName({ name: ENV_EXAMPLE, negated: false })}
and in petstore-sandbox.yaml in the working directory, under the option's name.
Options override the environment, which overrides the file, the scenario and the
defaults. Durations are written 500ms, 30s, 5m or 24h.`

/** Gives a command one flag for each option, under the headings of the table. */
export function addOptionFlags(command: Command): readonly Option[] {
  const flags = OPTION_NAMES.map(flagOf)
  for (const flag of flags) command.addOption(flag)
  return flags
}

function flagOf(name: OptionName): Option {
  const { short, value, reads, description, default: fallback, group } = optionRow(name)
  const flags = [short === undefined ? [] : [`-${short},`], flagName(name), value ?? []].flat().join(' ')
  const option = new Option(flags, fallback === undefined ? description : `${description} (default: ${fallback})`)
  // Commander takes brackets in a placeholder ("<key[:plan]>") for an optional value.
  option.optional = false
  if (reads === 'list') option.argParser((text, before: readonly string[] = []) => [...before, text])
  return option.helpGroup(`${group}:`)
}

/** The flags that were given, as they were written. */
export function givenFlags(command: Command): FlagValues {
  const values: FlagValues = command.opts()
  return Object.fromEntries(Object.entries(values).filter(([name]) => command.getOptionValueSource(name) === 'cli'))
}
