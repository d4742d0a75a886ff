import { toKebabCase } from './letter-case.js'
import { isOptionName, OPTION_NAMES, type OptionName, optionRow } from './table.js'

export const ENV_PREFIX = 'PETSTORE_SANDBOX_'

/** An option as named by the user; negated for `no-rate-limit`. */
export interface NamedOption {
  readonly name: OptionName
  readonly negated: boolean
}

/** Every name of an option: its own, and `no-…` if it is on by default. */
export const NAMED_OPTIONS: readonly NamedOption[] = OPTION_NAMES.flatMap((name) => [
  { name, negated: false },
  ...(optionRow(name).negative ? [{ name, negated: true }] : []),
])

export function camelName({ name, negated }: NamedOption): string {
  return negated ? `no${name.charAt(0).toUpperCase()}${name.slice(1)}` : name
}

export function kebabName(option: NamedOption): string {
  return toKebabCase(camelName(option))
}

/** `PETSTORE_SANDBOX_BAN_AFTER`, `PETSTORE_SANDBOX_NO_RATE_LIMIT` */
export function envName(option: NamedOption): string {
  return ENV_PREFIX + kebabName(option).replaceAll('-', '_').toUpperCase()
}

const asFlag = (name: OptionName) => ({ name, negated: optionRow(name).negative === true })

export function flagName(name: OptionName): string {
  return `--${kebabName(asFlag(name))}`
}

/** How a caller sets an option: `--host or PETSTORE_SANDBOX_HOST`. */
export function flagOrVariable(name: OptionName): string {
  return `${flagName(name)} or ${envName(asFlag(name))}`
}

export function findOption(key: string): NamedOption | undefined {
  if (isOptionName(key)) return { name: key, negated: false }
  return NAMED_OPTIONS.find((option) => option.negated && camelName(option) === key)
}
