import { type Command, Option } from 'commander'
import { envName, flagName, kebabName } from '../options/names.js'
import type { FlagValues } from '../options/sources.js'
import { OPTION_NAMES, type OptionName, optionRow } from '../options/table.js'

const ENV_EXAMPLE = 'banAfter'

export const OTHER_WAYS = `\
Every option can also be set by an environment variable:
  ${flagName(ENV_EXAMPLE)} is ${envName({ name: ENV_EXAMPLE, negated: false })}
or in petstore-sandbox.yaml in the working directory. The file cannot set options
for secrets, other machines or access.
Flags override the environment, which overrides the file, which overrides the
defaults. A scenario ranks just below the source that selects it.
--no-<switch> turns off what the environment or the file turns on: --no-freeze.
Durations are written 500ms, 30s, 5m or 24h.`

export function addOptionFlags(command: Command): readonly Option[] {
  const flags = OPTION_NAMES.map(flagOf)
  // `--strict` and `--no-strict`: the hidden one overrides a file.
  const opposites = OPTION_NAMES.filter((name) => optionRow(name).reads === 'switch').map(oppositeOf)
  for (const flag of [
    ...opposites.filter(({ negate }) => !negate),
    ...flags,
    ...opposites.filter(({ negate }) => negate),
  ])
    command.addOption(flag)
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

function oppositeOf(name: OptionName): Option {
  const { negative, group } = optionRow(name)
  return new Option(`--${kebabName({ name, negated: negative !== true })}`).hideHelp().helpGroup(`${group}:`)
}

export function rareFlags(flags: readonly Option[]): readonly Option[] {
  return flags.filter((_, index) => OPTION_NAMES[index] !== undefined && !optionRow(OPTION_NAMES[index]).everyday)
}

export function givenFlags(command: Command): FlagValues {
  const values: FlagValues = command.opts()
  return Object.fromEntries(Object.entries(values).filter(([name]) => command.getOptionValueSource(name) === 'cli'))
}
