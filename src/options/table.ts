import * as v from 'valibot'
import { WIRE_FAULTS } from '../domain/faults.js'
import { LIST_ORDERS, SETTING_GROUPS, type SettingName, type Settings } from '../domain/settings.js'
import { formatSize } from '../domain/size.js'
import { DEFAULTS, STORE_FILE } from './defaults.js'
import type { OptionRow } from './option-row.js'
import { LOG_FORMATS, type NegatedSetting, type SandboxOptions } from './options.js'
import { settingRows } from './setting-rows.js'
import { basePathSchema, hostSchema, tokenSchema } from './values/address.js'
import { apiKeySchema } from './values/api-key.js'
import { faultsSchema } from './values/fault.js'
import { instantSchema } from './values/instant.js'
import { corsSchema, originsSchema } from './values/origins.js'
import { filledText, oneOf, switchSchema } from './values/reading.js'
import { sizeSchema } from './values/size.js'
import { stormSchema } from './values/storm.js'
import { wholeNumber } from './values/whole-number.js'

const SERVER = 'Server'
const DATA = 'Data'
const { quotas: QUOTAS, refusals: REFUSALS, trouble: TROUBLE } = SETTING_GROUPS
const TIME = 'Time and chance'
const WATCHING = 'Contract, log and control plane'

const file = filledText('a file path')
const folder = filledText('a folder path')

/**
 * Every option there is, once. Flags, their twins in the environment, the config
 * file, scenarios and the programmatic API all come from these rows. Those of the
 * settings of a space come from their own record, in domain/settings.ts.
 *
 * @source docs/behaviour.md, "Options of serve"
 */
export const OPTIONS = {
  port: {
    group: SERVER,
    short: 'p',
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0, 65_535),
    about: 'TCP port, 0 for a free one',
    fallback: '4010',
  },
  host: {
    group: SERVER,
    value: '<addr>',
    reads: 'text',
    schema: hostSchema,
    about: 'address to listen on; beyond loopback it needs --control-token',
    fallback: DEFAULTS.host,
  },
  basePath: {
    group: SERVER,
    value: '<path>',
    reads: 'text',
    schema: basePathSchema,
    about: 'path of the service, ending in its version segment',
    fallback: DEFAULTS.basePath,
  },
  cors: {
    group: SERVER,
    value: '<*|off|origins>',
    reads: 'text',
    schema: corsSchema,
    about: 'web origins that may call the service; * is every website',
    fallback: DEFAULTS.cors,
  },
  store: {
    group: DATA,
    value: '<file>',
    reads: 'text',
    schema: file,
    about: 'JSON file that holds the state',
    fallback: STORE_FILE,
  },
  inMemory: { group: DATA, reads: 'switch', schema: switchSchema, about: 'keep nothing on disk' },
  maxStore: {
    group: DATA,
    value: '<size>',
    reads: 'text',
    schema: sizeSchema,
    about: 'what the store may hold, and what spaces may in memory; beyond it, 507',
    fallback: formatSize(DEFAULTS.maxStore),
  },
  fixtures: {
    group: DATA,
    value: '<dir>',
    reads: 'text',
    schema: folder,
    about: 'folder with pets.json, orders.json and keys.json to start from',
    fallback: 'the packaged ones',
  },
  pets: {
    group: DATA,
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0, 5_000_000),
    about: 'generate n pets instead of using the fixtures',
  },
  reset: { group: DATA, reads: 'switch', schema: switchSchema, about: 'start over from the fixtures' },
  fsync: {
    group: DATA,
    reads: 'switch',
    schema: switchSchema,
    about: 'sync every write to disk, to survive a power cut',
  },
  order: {
    group: DATA,
    value: '<order>',
    reads: 'text',
    schema: oneOf(LIST_ORDERS),
    about: 'order of the list: newest or oldest first',
    fallback: DEFAULTS.order,
  },
  ...settingRows('quotas'),
  apiKey: {
    group: QUOTAS,
    value: '<key[:plan]>',
    reads: 'list',
    schema: v.array(apiKeySchema, 'must be a list of keys'),
    secret: true,
    about: 'one more key, or label=key:plan: logs show the label only (default: a digest); may be repeated',
  },
  anyKey: { group: QUOTAS, reads: 'switch', schema: switchSchema, about: 'accept every key' },
  ...settingRows('refusals', 'retryAfter', 'limitBody'),
  reason: {
    group: REFUSALS,
    reads: 'switch',
    schema: switchSchema,
    negative: true,
    about: 'omit X-Sandbox-Reason, which says why the sandbox made up a response',
  },
  storm: {
    group: TROUBLE,
    value: '<spec>',
    reads: 'text',
    schema: stormSchema,
    scenario: true,
    about: '429s that no quota explains: <rate>[,for=30s][,every=5m][,retry-after=2s]',
    fallback: 'off',
  },
  fault: {
    group: TROUBLE,
    value: '<rule>',
    reads: 'list',
    schema: faultsSchema,
    scenario: true,
    about: `<operation|*>:<status or fault>[@20%][*3]; repeatable, the first match wins; faults: ${WIRE_FAULTS.join(', ')}`,
  },
  ...settingRows('trouble', 'latency'),
  scenario: {
    group: TROUBLE,
    value: '<name|file>',
    reads: 'text',
    schema: v.union(
      [filledText('the name of a scenario or a YAML file'), v.record(v.string(), v.unknown())],
      'must be the name of a scenario or a YAML file',
    ),
    about: 'a bundle of switches: a packaged one by its name, or a YAML file',
  },
  now: {
    group: TIME,
    value: '<iso>',
    reads: 'text',
    schema: instantSchema,
    scenario: true,
    about: "the clock's start, for example 2030-12-04T23:59:00Z",
    fallback: 'real time',
  },
  freeze: { group: TIME, reads: 'switch', schema: switchSchema, scenario: true, about: 'stop the clock' },
  seed: {
    group: TIME,
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0),
    about: 'makes everything random repeatable; printed at start',
    fallback: 'random',
  },
  spec: {
    group: WATCHING,
    value: '<openapi.yaml>',
    reads: 'text',
    schema: file,
    about: 'another OpenAPI document to serve; operations that it adds are mocked',
    fallback: 'the packaged one',
  },
  strict: {
    group: WATCHING,
    reads: 'switch',
    schema: switchSchema,
    about: 'check the responses of the sandbox itself against the contract',
  },
  maxSpaces: {
    group: WATCHING,
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0),
    about: 'maximum number of spaces',
    fallback: String(DEFAULTS.maxSpaces),
  },
  logLimit: {
    group: WATCHING,
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0),
    about: 'exchanges kept per space',
    fallback: String(DEFAULTS.logLimit),
  },
  log: {
    group: WATCHING,
    value: '<form>',
    reads: 'text',
    schema: oneOf(LOG_FORMATS),
    about: `one line per exchange on stderr: ${LOG_FORMATS.join(', ')}`,
    fallback: 'pretty on a TTY, else json',
  },
  controlToken: {
    group: WATCHING,
    value: '<token>',
    reads: 'text',
    schema: tokenSchema,
    secret: true,
    about: 'bearer token of the control plane',
    fallback: 'none on loopback',
  },
  controlOrigin: {
    group: WATCHING,
    value: '<origin>',
    reads: 'list',
    schema: originsSchema,
    about: 'a web origin that may control the sandbox; repeatable',
    fallback: 'its own only',
  },
} as const satisfies Record<Exclude<keyof SandboxOptions, NegatedSetting | 'noReason'>, OptionRow>

export type OptionName = keyof typeof OPTIONS

export const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[]

/** The given options, parsed. */
export type OptionValues = SettingValues & {
  readonly [Name in Exclude<OptionName, SettingName>]?: v.InferOutput<(typeof OPTIONS)[Name]['schema']>
}

/** `off` is said of what may be missing. */
type SettingValues = { readonly [Name in SettingName]?: Settings[Name] | 'off' }

/** A row by its name, without the details of its own type. */
export function optionRow(name: OptionName): OptionRow {
  return OPTIONS[name]
}

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name)
}
