import type { Given, Layer } from './layer.js'
import { flagName } from './names.js'
import { naturalFromText } from './option-text.js'
import { isOptionName, type OptionName, optionRow } from './table.js'

/** Flags by the option's name: text, a list of texts where one may be repeated, true or false for a switch. */
export type FlagValues = Readonly<Record<string, string | readonly string[] | boolean | undefined>>

/** What the command line says. Flags that are no options (`--debug`) are left out. */
export function flagLayer(flags: FlagValues): Layer {
  const given = new Map<OptionName, Given>()
  for (const [name, value] of Object.entries(flags)) {
    if (value === undefined || !isOptionName(name)) continue
    const natural = typeof value === 'string' ? naturalFromText(optionRow(name).reads, value) : value
    given.set(name, { value: natural, where: () => flagName(name) })
  }
  return { given, problems: [] }
}
