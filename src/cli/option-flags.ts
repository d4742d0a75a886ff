import { type Command, Option } from 'commander'
import type { FlagValues } from '../options/flag-layer.js'
import { envName, flagName } from '../options/names.js'
import { OPTION_NAMES, type OptionName, optionRow } from '../options/table.js'

const ENV_EXAMPLE = 'banAfter'

/** Gives a command one flag for each option, under the headings of the table. */
export function addOptionFlags(command: Command): void {
  for (const name of OPTION_NAMES) command.addOption(flagOf(name))
  const example = `${flagName(ENV_EXAMPLE)} is ${envName({ name: ENV_EXAMPLE, negated: false })}`
  command.addHelpText(
    'after',
    `
Every flag can also be set in the environment:
${example}
and in petstore-sandbox.yaml in the working directory, under the flag's name.
Flags override the environment, which overrides the file, the scenario and the
defaults. Durations are written 500ms, 30s, 5m or 24h.`,
  )
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
