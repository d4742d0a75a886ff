import type { Given, Layer } from './layer.js'
import { flagName } from './names.js'
import { naturalFromText } from './option-text.js'
import { isOptionName, type OptionName, optionRow } from './table.js'

/** Flags by option name: a string, a list for a repeatable flag, true or false for a switch. */
export type FlagValues = Readonly<Record<string, string | readonly string[] | boolean | undefined>>

/** The options on the command line. Flags that are not options (`--debug`) are ignored. */
export function flagLayer(flags: FlagValues): Layer {
  const given = new Map<OptionName, Given>()
  for (const [name, value] of Object.entries(flags)) {
    if (value === undefined || !isOptionName(name)) continue
    const natural = typeof value === 'string' ? naturalFromText(optionRow(name).reads, value) : value
    given.set(name, { value: natural, where: () => flagName(name) })
  }
  return { given, problems: [] }
}
