import type { GenericSchema } from 'valibot'

/** One option: how it is written, checked and explained. */
export interface OptionRow {
  /** Heading in the help. */
  readonly group: string
  /** One letter. */
  readonly short?: string
  /** What stands after the flag in the help; a switch has nothing. */
  readonly value?: string
  /** What its text (flag, environment) is read as before it is checked. A list may be given more than once. */
  readonly reads: 'switch' | 'number' | 'text' | 'list'
  /** Checks and reads what a program or a YAML file would write. */
  readonly schema: GenericSchema
  /** On by itself, so that its flag is `--no-…`. */
  readonly negative?: true
  /** May stand in a scenario. */
  readonly scenario?: true
  /** Never shown, not even in an error. */
  readonly secret?: true
  readonly about: string
  /** Its default, as the help shows it. */
  readonly fallback?: string
  /** Stands on its line of a new config file where its default cannot be written. */
  readonly example?: string
}
