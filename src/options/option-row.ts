import type { GenericSchema } from 'valibot'

/** One option: how it is written, checked and explained. */
export interface OptionRow {
  /** Heading in the help. */
  readonly group: string
  /** One letter. */
  readonly short?: string
  /** Placeholder after the flag in the help; a switch has none. */
  readonly value?: string
  /** How a flag or variable is read before it is checked. A list may be repeated. */
  readonly reads: 'switch' | 'number' | 'text' | 'list'
  /** Checks and reads what a program or a YAML file would write. */
  readonly schema: GenericSchema
  /** On by default, so that its flag is `--no-…`. */
  readonly negative?: true
  /** Allowed in a scenario. */
  readonly scenario?: true
  /** Never shown, not even in an error. */
  readonly secret?: true
  readonly description: string
  /** Its default, as the help shows it. */
  readonly default?: string
  /** Stands on its line of a new config file where its default cannot be written. */
  readonly example?: string
}
