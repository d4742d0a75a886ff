import * as v from 'valibot'
import { SPACE_SOURCES } from '../domain/keys.js'
import { formatSize } from '../domain/numbers.js'
import {
  LIST_ORDERS,
  MAX_SENDERS,
  SETTING_GROUPS,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingRow,
  type Settings,
} from '../domain/settings.js'
import { formatDuration } from '../domain/time.js'
import { UPSTREAM_WRITES } from '../domain/upstream.js'
import {
  DEFAULT_BASE_PATH,
  DEFAULTS,
  LOG_FORMATS,
  type NegatedSetting,
  type SandboxOptions,
  STORE_FILE,
} from './options.js'
import { baseUrlSchema, groupSchema, hostSchema, redisAddressSchema, tokenSchema } from './values/address.js'
import { faultsSchema, latencySchema, operationsSchema, stormSchema } from './values/faults.js'
import { clockStartSchema } from './values/instant.js'
import { apiKeySchema, limitsSchema } from './values/keys.js'
import { basePathSchema, corsSchema, originsSchema } from './values/origins.js'
import {
  filledText,
  GENERATE_FORM,
  generateSchema,
  listOf,
  oneOf,
  pathText,
  sizeSchema,
  someWaitSchema,
  switchSchema,
  wholeNumber,
  wholeNumberOr,
} from './values/reading.js'

interface OptionText {
  readonly short?: string
  readonly value: string | undefined
  /** How a flag or variable is read before it is checked. A list may be repeated. */
  readonly reads: 'switch' | 'number' | 'text' | 'list'
  readonly schema: v.GenericSchema
  /** On by default, so that its flag is `--no-…`. */
  readonly negative?: boolean
  /** A noun phrase or an imperative of less than 60 characters. */
  readonly description: string
  readonly default: string | undefined
  readonly example?: string
  readonly isPath?: true
}

export interface OptionRow extends OptionText {
  readonly group: string
  /** `must be …`; of a list, what an element must be. */
  readonly allowed: string
  readonly everyday: boolean
  readonly scenario: boolean
  readonly notInFiles: boolean
  readonly secret: boolean
}

function rowReading(reads: OptionRow['reads']) {
  return <Schema extends v.GenericSchema>(
    value: string | undefined,
    schema: Schema,
    description: string,
    fallback?: string,
  ): OptionText & { readonly schema: Schema } => ({ reads, value, schema, description, default: fallback })
}

const text = rowReading('text')
const number = rowReading('number')
const list = rowReading('list')
const path = (value: string, what: string, description: string, fallback?: string) =>
  ({ ...text(value, pathText(what), description, fallback), isPath: true }) as const
const toggle = (description: string) => rowReading('switch')(undefined, switchSchema, description)

function under<Rows extends Record<string, OptionText>>(
  group: string,
  rows: Rows & Record<Exclude<keyof Rows, keyof SandboxOptions>, never>,
) {
  return Object.fromEntries(Object.entries<OptionText>(rows).map(([name, row]) => [name, { group, ...row }])) as {
    [Name in keyof Rows]: Rows[Name] & { readonly group: string }
  }
}

const { quotas, refusals, trouble, conduct } = SETTING_GROUPS
const scenarioSchema = v.union(
  [filledText('the name of a scenario or a YAML file'), v.record(v.string(), v.unknown())],
  'must be the name of a scenario or a YAML file',
)

/**
 * Every option, in the order of the help. Flags, environment variables, the config file, scenarios and the
 * programmatic API are derived from these rows. Rows of settings come from domain/settings.ts.
 *
 * Arguments: placeholder, schema, description, default in words.
 *
 * @source docs/switches.md, "Options of serve"
 */
const OPTIONS = {
  ...under('Server', {
    port: { ...number('<n>', wholeNumber(0, 65_535), 'TCP port, 0 for a free one', '4010'), short: 'p' },
    host: text('<addr>', hostSchema, 'address to listen on; --control-token beyond loopback', DEFAULTS.host),
    basePath: text(
      '<path>',
      basePathSchema,
      'path of the service; with --spec, its first server path',
      DEFAULT_BASE_PATH,
    ),
    cors: text(
      '<*|loopback|off|origins>',
      corsSchema,
      'web origins that may call; with --upstream: loopback',
      DEFAULTS.cors,
    ),
  }),
  ...under('Data', {
    store: path('<file>', 'a file path', 'JSON file that holds the state', STORE_FILE),
    inMemory: toggle('keep nothing on disk'),
    maxStore: text(
      '<size>',
      sizeSchema,
      'maximum size of the store, and of spaces in memory',
      formatSize(DEFAULTS.maxStore),
    ),
    fixtures: path('<dir>', 'a folder path', 'folder with pets.json, orders.json and keys.json', 'the packaged ones'),
    pets: number('<n>', wholeNumber(0, 5_000_000), 'generate n pets instead of using the fixtures'),
    generate: list(
      '<resource=n>',
      listOf(generateSchema, GENERATE_FORM),
      'generate n records of a resource; repeatable',
    ),
    reset: toggle('start over from the fixtures'),
    fsync: toggle('sync every write to disk, to survive a power cut'),
    redis: text(
      '<url>',
      redisAddressSchema,
      'join the replicas that share a log in this Redis',
      'none; the state is in the store',
    ),
    group: text('<name>', groupSchema, 'name of the group of replicas', DEFAULTS.group),
    order: text('<order>', oneOf(LIST_ORDERS), 'order of the list: newest or oldest first', DEFAULTS.order),
  }),
  ...under(quotas, {
    ...settingRows('quotas'),
    apiKey: list(
      '<key[:plan]>',
      listOf(apiKeySchema, 'must be a list of keys'),
      'add a key; label=key:plan labels it in logs; repeatable',
    ),
    anyKey: toggle('accept every key'),
  }),
  ...under(refusals, {
    ...settingRows('refusals', 'retryAfter', 'limitBody', 'rateLimitHeaders'),
    reason: { ...toggle('omit the header X-Sandbox-Reason'), negative: true },
  }),
  ...under(trouble, {
    storm: text('<spec>', stormSchema, 'random 429s: <rate>[,for=30s][,every=5m][,retry-after=2s]', 'off'),
    fault: list('<rule>', faultsSchema, '<operation|*>:<status or fault>[@20%][*3]; repeatable'),
    ...settingRows('trouble', 'latency'),
    scenario: { ...text('<name|file>', scenarioSchema, 'packaged scenario or YAML file to apply'), isPath: true },
  }),
  ...under('Time and chance', {
    now: text('<start>', clockStartSchema, 'start of the clock: 2030-12-04T23:59:00Z, +3h', 'real time'),
    freeze: toggle('stop the clock'),
    seed: number('<n>', wholeNumber(0), 'seed of everything random; printed at start', 'random'),
  }),
  ...under('In front of a real service', {
    upstream: text('<base-url>', baseUrlSchema, 'proxy to this service'),
    upstreamApiKeyFile: path('<file>', 'a file path', 'file with the key to send to the real service'),
    upstreamWrites: text(
      '<how>',
      oneOf(UPSTREAM_WRITES),
      `handling of writes: ${UPSTREAM_WRITES.join(', ')}`,
      DEFAULTS.upstreamWrites,
    ),
    upstreamTimeout: text(
      '<duration>',
      someWaitSchema,
      'time limit of the real service; then 504',
      formatDuration(DEFAULTS.upstreamTimeout),
    ),
  }),
  ...under(conduct, settingRows('conduct')),
  ...under('Contract, log and control plane', {
    spec: path('<openapi.yaml>', 'a file path', 'OpenAPI document to serve', 'the packaged one'),
    mock: list(
      '<operation>',
      operationsSchema,
      'mock this operation from the contract; repeatable',
      'operations that do not fit a resource',
    ),
    strict: toggle('check all responses against the contract'),
    maxSpaces: number('<n>', wholeNumber(0), 'maximum number of spaces', String(DEFAULTS.maxSpaces)),
    spaceFrom: text('<source>', oneOf(SPACE_SOURCES), 'what names the space: key, or else baggage', DEFAULTS.spaceFrom),
    logLimit: number('<n>', wholeNumber(0), 'exchanges kept per space', String(DEFAULTS.logLimit)),
    log: text(
      '<form>',
      oneOf(LOG_FORMATS),
      `one line per exchange on stderr: ${LOG_FORMATS.join(', ')}`,
      'pretty on a TTY, else json',
    ),
    controlToken: text('<token>', tokenSchema, 'bearer token of the control plane', 'none on loopback'),
    controlOrigin: list(
      '<origin>',
      originsSchema,
      'web origin that may control the sandbox; repeatable',
      'its own only',
    ),
  }),
} satisfies Record<Exclude<keyof SandboxOptions, NegatedSetting | 'noReason'>, OptionText>

export type OptionName = keyof typeof OPTIONS

export const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[]

const EVERYDAY = names(
  'port store inMemory fixtures reset plan limits apiKey storm fault latency scenario now seed upstream spec log',
)
/** Allowed in a scenario, besides the settings. */
const IN_SCENARIOS = names('storm fault now freeze')
/** A cloned folder may bring a config file: these reach another machine, widen access or choose where to write. */
const NOT_IN_FILES = names('host redis upstream upstreamApiKeyFile upstreamWrites controlToken controlOrigin')
/** Never shown, not even in an error. */
const SECRET = names('redis apiKey controlToken')

const ROWS = Object.fromEntries(
  OPTION_NAMES.map((name) => [
    name,
    {
      ...OPTIONS[name],
      allowed: messageOf(OPTIONS[name].schema),
      everyday: EVERYDAY.has(name),
      scenario: IN_SCENARIOS.has(name) || Object.hasOwn(SETTINGS, name),
      notInFiles: NOT_IN_FILES.has(name),
      secret: SECRET.has(name),
    },
  ]),
) as Record<OptionName, OptionRow>

/** The given options, parsed. `off` stands for an absent setting. */
export type OptionValues = { readonly [Name in SettingName]?: Settings[Name] | 'off' } & {
  readonly [Name in Exclude<OptionName, SettingName>]?: v.InferOutput<(typeof OPTIONS)[Name]['schema']>
}

function messageOf(schema: v.GenericSchema): string {
  const { pipe = [], message = '' }: { readonly pipe?: readonly object[]; readonly message?: string } = Object(schema)
  const { item }: { readonly item?: v.GenericSchema } = Object(pipe.at(-1))
  return item === undefined ? message : messageOf(item)
}

export function optionRow(name: OptionName): OptionRow {
  return ROWS[name]
}

function names(text: string): ReadonlySet<OptionName> {
  const found = text.split(' ')
  const unknown = found.filter((name) => !isOptionName(name))
  if (unknown.length > 0) throw new TypeError(`Unknown options: ${unknown.join(', ')}`)
  return new Set(found as OptionName[])
}

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name)
}

type NameIn<Group> = {
  [Name in SettingName]: (typeof SETTINGS)[Name]['group'] extends Group ? Name : never
}[SettingName]

/** The settings of a group as options; `first` are listed before the others. */
function settingRows<const Group extends keyof typeof SETTING_GROUPS>(
  group: Group,
  ...first: readonly NameIn<Group>[]
): { readonly [Name in NameIn<Group>]: OptionText } {
  const names = [...first, ...SETTING_NAMES.filter((name) => SETTINGS[name].group === group)]
  return Object.fromEntries(names.map((name) => [name, settingRow(SETTINGS[name])])) as never
}

function settingRow(row: SettingRow): OptionText {
  if (row.kind === 'switch') return { ...toggle(row.description), ...(row.default ? { negative: true } : {}) }
  const fallback = 'unset' in row ? row.unset : row.kind === 'wait' ? formatDuration(row.default) : String(row.default)
  const isNumber =
    row.kind === 'senders' || (row.kind !== 'wait' && 'default' in row && typeof row.default === 'number')
  return {
    ...(isNumber ? number : text)(row.value, settingSchema(row), row.description, fallback),
    ...('example' in row ? { example: row.example } : {}),
  }
}

function settingSchema(row: Exclude<SettingRow, { kind: 'switch' }>): v.GenericSchema {
  switch (row.kind) {
    case 'choice':
      return oneOf<readonly (string | number)[]>(row.choices)
    case 'count-or-never':
      return wholeNumberOr('never', 1)
    case 'wait':
      return someWaitSchema
    case 'limits':
      return limitsSchema
    case 'latency':
      return latencySchema
    case 'senders':
      return wholeNumber(1, MAX_SENDERS)
  }
}
