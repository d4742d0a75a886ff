import type { GenericSchema } from 'valibot'
import {
  MOST_SENDERS,
  SETTING_GROUPS,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingRow,
} from '../domain/settings.js'
import { formatDuration } from '../domain/time.js'
import type { OptionRow } from './option-row.js'
import { someWaitSchema } from './values/duration.js'
import { latencySchema } from './values/latency.js'
import { limitsSchema } from './values/limits.js'
import { oneOf, switchSchema } from './values/reading.js'
import { wholeNumber, wholeNumberOr } from './values/whole-number.js'

type NameIn<Group> = {
  [Name in SettingName]: (typeof SETTINGS)[Name]['group'] extends Group ? Name : never
}[SettingName]

/**
 * The settings under one heading, as options.
 *
 * @param first these stand before the others in the help
 */
export function settingRows<const Group extends keyof typeof SETTING_GROUPS>(
  group: Group,
  ...first: readonly NameIn<Group>[]
): { readonly [Name in NameIn<Group>]: OptionRow } {
  const names = [...first, ...SETTING_NAMES.filter((name) => SETTINGS[name].group === group)]
  return Object.fromEntries(names.map((name) => [name, optionRow(SETTINGS[name])])) as never
}

function optionRow(row: SettingRow): OptionRow {
  const { group, description } = row
  return {
    group: SETTING_GROUPS[group],
    ...(row.kind === 'switch' ? {} : { value: row.value, default: fallbackText(row) }),
    reads: readsOf(row),
    schema: schemaOf(row),
    ...(row.kind === 'switch' && row.default ? { negative: true } : {}),
    scenario: true,
    description,
    ...('example' in row ? { example: row.example } : {}),
  }
}

function schemaOf(row: SettingRow): GenericSchema {
  switch (row.kind) {
    case 'choice':
      return oneOf<readonly (string | number)[]>(row.choices)
    case 'switch':
      return switchSchema
    case 'count-or-never':
      return wholeNumberOr('never', 1)
    case 'wait':
      return someWaitSchema
    case 'limits':
      return limitsSchema
    case 'latency':
      return latencySchema
    case 'senders':
      return wholeNumber(1, MOST_SENDERS)
  }
}

function readsOf(row: SettingRow): OptionRow['reads'] {
  if (row.kind === 'switch') return 'switch'
  if (row.kind === 'senders') return 'number'
  return 'default' in row && row.kind !== 'wait' && typeof row.default === 'number' ? 'number' : 'text'
}

function fallbackText(row: Exclude<SettingRow, { kind: 'switch' }>): string {
  if ('unset' in row) return row.unset
  return row.kind === 'wait' ? formatDuration(row.default) : String(row.default)
}
