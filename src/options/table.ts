import * as v from 'valibot'
import {
  MAX_SENDERS,
  SETTING_GROUPS,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingRow,
  type Settings,
} from '../domain/settings.js'
import { formatDuration } from '../domain/time.js'
import type { KindInputs } from './options.js'
import { OPTIONS, type OptionData } from './rows.js'
import { baseUrlSchema, groupSchema, hostSchema, redisAddressSchema, tokenSchema } from './values/address.js'
import { faultsSchema, latencySchema, operationsSchema, stormSchema } from './values/faults.js'
import { clockStartSchema } from './values/instant.js'
import { apiKeySchema, limitsSchema, planSchema } from './values/keys.js'
import { basePathSchema, corsSchema, originsSchema } from './values/origins.js'
import {
  filledText,
  GENERATE_FORM,
  generateSchema,
  listOf,
  oneOf,
  pathText,
  positiveWaitSchema,
  sizeSchema,
  switchSchema,
  wholeNumber,
  wholeNumberOr,
} from './values/reading.js'

/** How a flag or variable is read before it is checked. A list may be repeated. */
type Reads = 'switch' | 'number' | 'text' | 'list'

export interface OptionRow extends Omit<OptionData, 'default'> {
  readonly reads: Reads
  readonly schema: v.GenericSchema
  /** In words. */
  readonly default: string | undefined
  /** `must be …`; of a list, what an element must be. */
  readonly allowed: string
  /** On by default, so that its flag is `--no-…`. */
  readonly negative: boolean
  readonly isPath: boolean
}

const scenarioSchema = v.union(
  [filledText('the name of a scenario or a YAML file'), v.record(v.string(), v.unknown())],
  'must be the name of a scenario or a YAML file',
)

/** How each kind of option is read and checked. */
const KINDS = {
  switch: { reads: 'switch', schema: switchSchema },
  number: { reads: 'number', schema: wholeNumber(0) },
  senders: { reads: 'number', schema: wholeNumber(1, MAX_SENDERS) },
  'count-or-never': { reads: 'number', schema: wholeNumberOr('never', 1) },
  wait: { reads: 'text', schema: positiveWaitSchema },
  plan: { reads: 'text', schema: planSchema },
  limits: { reads: 'text', schema: limitsSchema },
  latency: { reads: 'text', schema: latencySchema },
  file: { reads: 'text', schema: pathText('a file path') },
  folder: { reads: 'text', schema: pathText('a folder path') },
  size: { reads: 'text', schema: sizeSchema },
  duration: { reads: 'text', schema: positiveWaitSchema },
  host: { reads: 'text', schema: hostSchema },
  'base-path': { reads: 'text', schema: basePathSchema },
  'base-url': { reads: 'text', schema: baseUrlSchema },
  redis: { reads: 'text', schema: redisAddressSchema },
  name: { reads: 'text', schema: groupSchema },
  token: { reads: 'text', schema: tokenSchema },
  instant: { reads: 'text', schema: clockStartSchema },
  storm: { reads: 'text', schema: stormSchema },
  scenario: { reads: 'text', schema: scenarioSchema },
  faults: { reads: 'list', schema: faultsSchema },
  counts: { reads: 'list', schema: listOf(generateSchema, GENERATE_FORM) },
  keys: { reads: 'list', schema: listOf(apiKeySchema, 'must be a list of keys') },
  operations: { reads: 'list', schema: operationsSchema },
  origins: { reads: 'list', schema: originsSchema },
  cors: { reads: 'text', schema: corsSchema },
} as const satisfies Readonly<
  Record<
    Exclude<keyof KindInputs | SettingRow['kind'], 'choice'>,
    { readonly reads: Reads; readonly schema: v.GenericSchema }
  >
>

const PATH_KINDS: readonly string[] = ['file', 'folder', 'scenario']

export type OptionName = keyof typeof OPTIONS | SettingName

/** In the order of the help: the settings follow the other options of their group, or come first. */
export const OPTION_NAMES = orderedNames()

/** The given options, parsed. `off` stands for an absent setting. */
export type OptionValues = { readonly [Name in SettingName]?: Settings[Name] | 'off' } & {
  readonly [Name in keyof typeof OPTIONS]?: ParsedOf<(typeof OPTIONS)[Name]>
}

type ParsedOf<Row> = Row extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Row extends { readonly kind: infer Kind extends keyof typeof KINDS }
    ? v.InferOutput<(typeof KINDS)[Kind]['schema']>
    : never

/** A kind without a schema is a mistake to tsc. */
interface CheckedData extends OptionData {
  readonly kind: keyof typeof KINDS | 'choice'
}

const ROWS = Object.fromEntries(
  Object.entries<CheckedData>({ ...OPTIONS, ...settingData() }).map(([name, data]) => [name, rowOf(data)]),
) as Record<OptionName, OptionRow>

export function optionRow(name: OptionName): OptionRow {
  return ROWS[name]
}

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(ROWS, name)
}

function orderedNames(): readonly OptionName[] {
  const own = Object.keys(OPTIONS) as (keyof typeof OPTIONS)[]
  const settingGroups = Object.values(SETTING_GROUPS)
  const groups = new Set<string>([...own.map((name) => OPTIONS[name].group), ...settingGroups])
  return [...groups].flatMap((group) => [
    ...own.filter((name) => OPTIONS[name].group === group),
    ...SETTING_NAMES.filter((name) => SETTING_GROUPS[SETTINGS[name].group] === group),
  ])
}

function settingData(): { readonly [Name in SettingName]: CheckedData } {
  const rows = SETTING_NAMES.map((name) => {
    const row: SettingRow = SETTINGS[name]
    const fallback =
      'default' in row ? { default: row.kind === 'wait' ? formatDuration(row.default) : row.default } : {}
    const value = 'value' in row ? row.value : undefined
    return [name, { ...row, ...fallback, value, group: SETTING_GROUPS[row.group], scenario: true }]
  })
  return Object.fromEntries(rows)
}

function rowOf(data: CheckedData): OptionRow {
  const { kind, choices = [], max, unset, default: standard } = data
  const isSwitch = kind === 'switch'
  return {
    ...data,
    reads: kind !== 'choice' ? KINDS[kind].reads : typeof standard === 'number' ? 'number' : 'text',
    default: isSwitch || standard === undefined ? unset : String(standard),
    negative: isSwitch && standard === true,
    isPath: PATH_KINDS.includes(kind),
    // A start needs those of the given options only.
    get schema() {
      if (max !== undefined) return wholeNumber(0, max)
      return kind === 'choice' ? oneOf(choices) : KINDS[kind].schema
    },
    get allowed() {
      return messageOf(this.schema)
    },
  }
}

function messageOf(schema: v.GenericSchema): string {
  const { pipe = [], message = '' }: { readonly pipe?: readonly object[]; readonly message?: string } = Object(schema)
  const { item }: { readonly item?: v.GenericSchema } = Object(pipe.at(-1))
  return item === undefined ? message : messageOf(item)
}
