import * as v from 'valibot'
import { WIRE_FAULTS } from '../domain/faults.js'
import { LIST_ORDERS, SETTING_GROUPS, type SettingName, type Settings } from '../domain/settings.js'
import { formatSize } from '../domain/size.js'
import { formatDuration } from '../domain/time.js'
import { UPSTREAM_WRITES } from '../domain/upstream.js'
import { DEFAULTS, STORE_FILE } from './defaults.js'
import type { OptionRow } from './option-row.js'
import { LOG_FORMATS, type NegatedSetting, type SandboxOptions } from './options.js'
import { settingRows } from './setting-rows.js'
import { baseUrlSchema, hostSchema, tokenSchema } from './values/address.js'
import { apiKeySchema } from './values/api-key.js'
import { basePathSchema } from './values/base-path.js'
import { someWaitSchema } from './values/duration.js'
import { faultsSchema } from './values/fault.js'
import { instantSchema } from './values/instant.js'
import { operationsSchema } from './values/operations.js'
import { corsSchema, originsSchema } from './values/origins.js'
import { filledText, oneOf, switchSchema } from './values/reading.js'
import { groupSchema, redisAddressSchema } from './values/redis.js'
import { sizeSchema } from './values/size.js'
import { stormSchema } from './values/storm.js'
import { wholeNumber } from './values/whole-number.js'

const SERVER = 'Server'
const DATA = 'Data'
const { quotas: QUOTAS, refusals: REFUSALS, trouble: TROUBLE } = SETTING_GROUPS
const TIME = 'Time and chance'
const UPSTREAM = 'In front of a real service'
const WATCHING = 'Contract, log and control plane'

const file = filledText('a file path')
const folder = filledText('a folder path')

/**
 * Every option there is, once. Flags, their twins in the environment, the config
 * file, scenarios and the programmatic API all come from these rows. Those of the
 * settings of a space come from their own record, in domain/settings.ts.
 *
 * @source docs/switches.md, "Options of serve"
 */
const OPTIONS = {
  port: {
    group: SERVER,
    short: 'p',
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0, 65_535),
    description: 'TCP port, 0 for a free one',
    default: '4010',
  },
  host: {
    group: SERVER,
    value: '<addr>',
    reads: 'text',
    schema: hostSchema,
    description: 'address to listen on; beyond loopback it needs --control-token',
    default: DEFAULTS.host,
  },
  basePath: {
    group: SERVER,
    value: '<path>',
    reads: 'text',
    schema: basePathSchema,
    description: 'path of the service, ending in its version segment',
    default: DEFAULTS.basePath,
  },
  cors: {
    group: SERVER,
    value: '<*|off|origins>',
    reads: 'text',
    schema: corsSchema,
    description: 'web origins that may call the service; * is every website',
    default: DEFAULTS.cors,
  },
  store: {
    group: DATA,
    value: '<file>',
    reads: 'text',
    schema: file,
    description: 'JSON file that holds the state',
    default: STORE_FILE,
  },
  inMemory: { group: DATA, reads: 'switch', schema: switchSchema, description: 'keep nothing on disk' },
  maxStore: {
    group: DATA,
    value: '<size>',
    reads: 'text',
    schema: sizeSchema,
    description: 'what the store may hold, and what spaces may in memory; beyond it, 507',
    default: formatSize(DEFAULTS.maxStore),
  },
  fixtures: {
    group: DATA,
    value: '<dir>',
    reads: 'text',
    schema: folder,
    description: 'folder with pets.json, orders.json and keys.json to start from',
    default: 'the packaged ones',
  },
  pets: {
    group: DATA,
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0, 5_000_000),
    description: 'generate n pets instead of using the fixtures',
  },
  reset: { group: DATA, reads: 'switch', schema: switchSchema, description: 'start over from the fixtures' },
  fsync: {
    group: DATA,
    reads: 'switch',
    schema: switchSchema,
    description: 'sync every write to disk, to survive a power cut',
  },
  redis: {
    group: DATA,
    value: '<url>',
    reads: 'text',
    schema: redisAddressSchema,
    secret: true,
    description: 'be one of several replicas, which share a log in this Redis: redis:// or rediss://',
    default: 'none; the state is in the store',
    example: 'redis://127.0.0.1:6379',
  },
  redisFile: {
    group: DATA,
    value: '<file>',
    reads: 'text',
    schema: file,
    description: 'file with the address of --redis, if it has a password',
    example: 'redis.txt',
  },
  group: {
    group: DATA,
    value: '<name>',
    reads: 'text',
    schema: groupSchema,
    description: 'replicas of one name are one sandbox',
    default: DEFAULTS.group,
  },
  redisWait: {
    group: DATA,
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0, 100),
    description: "answer only when n of Redis' own replicas have it, too",
    default: '0',
  },
  order: {
    group: DATA,
    value: '<order>',
    reads: 'text',
    schema: oneOf(LIST_ORDERS),
    description: 'order of the list: newest or oldest first',
    default: DEFAULTS.order,
  },
  ...settingRows('quotas'),
  apiKey: {
    group: QUOTAS,
    value: '<key[:plan]>',
    reads: 'list',
    schema: v.array(apiKeySchema, 'must be a list of keys'),
    secret: true,
    description: 'one more key, or label=key:plan: logs show the label only (default: a digest); may be repeated',
  },
  anyKey: { group: QUOTAS, reads: 'switch', schema: switchSchema, description: 'accept every key' },
  ...settingRows('refusals', 'retryAfter', 'limitBody'),
  reason: {
    group: REFUSALS,
    reads: 'switch',
    schema: switchSchema,
    negative: true,
    description: 'omit X-Sandbox-Reason, which says why the sandbox made up a response',
  },
  storm: {
    group: TROUBLE,
    value: '<spec>',
    reads: 'text',
    schema: stormSchema,
    scenario: true,
    description: '429s that no quota explains: <rate>[,for=30s][,every=5m][,retry-after=2s]',
    default: 'off',
  },
  fault: {
    group: TROUBLE,
    value: '<rule>',
    reads: 'list',
    schema: faultsSchema,
    scenario: true,
    description: `<operation|*>:<status or fault>[@20%][*3][,retry-after=2s]; repeatable, the first match wins; faults: ${WIRE_FAULTS.join(', ')}`,
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
    description: 'a bundle of switches: a packaged one by its name, or a YAML file',
  },
  now: {
    group: TIME,
    value: '<iso>',
    reads: 'text',
    schema: instantSchema,
    scenario: true,
    description: "the clock's start, for example 2030-12-04T23:59:00Z",
    default: 'real time',
  },
  freeze: { group: TIME, reads: 'switch', schema: switchSchema, scenario: true, description: 'stop the clock' },
  seed: {
    group: TIME,
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0),
    description: 'makes everything random repeatable; printed at start',
    default: 'random',
  },
  upstream: {
    group: UPSTREAM,
    value: '<base-url>',
    reads: 'text',
    schema: baseUrlSchema,
    scenario: true,
    description: 'a real service to be in front of: what the switches let through is answered there',
    example: 'https://staging.example/v1',
  },
  upstreamApiKeyFile: {
    group: UPSTREAM,
    value: '<file>',
    reads: 'text',
    schema: file,
    description: 'file that holds a key of the real service, which stands for every key of the sandbox',
    example: './staging-key',
  },
  upstreamWrites: {
    group: UPSTREAM,
    value: '<how>',
    reads: 'text',
    schema: oneOf(UPSTREAM_WRITES),
    description: `writes are kept here, sent on, or refused: ${UPSTREAM_WRITES.join(', ')}`,
    default: DEFAULTS.upstreamWrites,
  },
  upstreamTimeout: {
    group: UPSTREAM,
    value: '<duration>',
    reads: 'text',
    schema: someWaitSchema,
    description: 'how long the real service may take for an answer; then it is 504',
    default: formatDuration(DEFAULTS.upstreamTimeout),
  },
  upstreamCa: {
    group: UPSTREAM,
    value: '<file>',
    reads: 'text',
    schema: file,
    description: "certificate authority that has signed the real service's certificate (PEM)",
    example: './ca.pem',
  },
  record: {
    group: UPSTREAM,
    value: '<dir>',
    reads: 'text',
    schema: folder,
    description: 'folder in which to keep what the real service answers, as fixtures',
    example: './seen',
  },
  ...settingRows('conduct'),
  spec: {
    group: WATCHING,
    value: '<openapi.yaml>',
    reads: 'text',
    schema: file,
    description: 'another OpenAPI document to serve; operations that it adds are mocked',
    default: 'the packaged one',
  },
  mock: {
    group: WATCHING,
    value: '<operation>',
    reads: 'list',
    schema: operationsSchema,
    description: 'mock an operation from the contract, though the sandbox could answer it; repeatable',
    default: 'those that only --spec has',
  },
  strict: {
    group: WATCHING,
    reads: 'switch',
    schema: switchSchema,
    description: 'check the responses of the sandbox itself against the contract',
  },
  maxSpaces: {
    group: WATCHING,
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0),
    description: 'maximum number of spaces',
    default: String(DEFAULTS.maxSpaces),
  },
  logLimit: {
    group: WATCHING,
    value: '<n>',
    reads: 'number',
    schema: wholeNumber(0),
    description: 'exchanges kept per space',
    default: String(DEFAULTS.logLimit),
  },
  log: {
    group: WATCHING,
    value: '<form>',
    reads: 'text',
    schema: oneOf(LOG_FORMATS),
    description: `one line per exchange on stderr: ${LOG_FORMATS.join(', ')}`,
    default: 'pretty on a TTY, else json',
  },
  controlToken: {
    group: WATCHING,
    value: '<token>',
    reads: 'text',
    schema: tokenSchema,
    secret: true,
    description: 'bearer token of the control plane',
    default: 'none on loopback',
  },
  controlOrigin: {
    group: WATCHING,
    value: '<origin>',
    reads: 'list',
    schema: originsSchema,
    description: 'a web origin that may control the sandbox; repeatable',
    default: 'its own only',
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
