import { EXAMPLE } from '../contract/generated/examples.js'
import { SPACE_SOURCES } from '../domain/keys.js'
import { LIST_ORDERS, SETTING_GROUPS } from '../domain/settings.js'
import { UPSTREAM_WRITES } from '../domain/upstream.js'

export const LOG_FORMATS = ['pretty', 'json', 'silent'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

export const STORE_FILE = '.petstore-sandbox/store.json'

const { quotas, refusals, trouble } = SETTING_GROUPS

/** What a row may also say. */
interface RowFacts {
  readonly short?: string
  /** As it is written; of a switch, whether it is on. Default: none. */
  readonly default?: string | number | boolean
  /** The default in words, if it is not a value. */
  readonly unset?: string
  readonly example?: string
  readonly choices?: readonly (string | number)[]
  readonly max?: number
  /** Link to its explanation, from docs/switches.md. */
  readonly see?: string
  /** Also in the short help of `serve`. */
  readonly everyday?: true
  /** Allowed in a scenario. */
  readonly scenario?: true
  /** A cloned folder may bring a config file: these reach another machine, widen access or choose where to write. */
  readonly notInFiles?: true
  /** Never shown, not even in an error. */
  readonly secret?: true
}

/** An option that is not a setting. */
export interface OptionData extends RowFacts {
  /** `choice`, or of `KindInputs`. */
  readonly kind: string
  readonly group: string
  /** Placeholder in the help; undefined for a switch. */
  readonly value: string | undefined
  readonly description: string
}

/**
 * @param group heading in the help and the documentation
 * @param value placeholder in the help
 * @param help a noun phrase or an imperative of less than 60 characters
 */
function row<const Kind extends string, const Facts extends RowFacts = Record<never, never>>(
  group: string,
  kind: Kind,
  value: string | undefined,
  help: string,
  facts?: Facts,
) {
  return { group, kind, value, description: help, ...facts } as unknown as Omit<OptionData, 'kind' | keyof Facts> & {
    readonly kind: Kind
  } & Facts
}

const toggle = <const Facts extends RowFacts>(group: string, help: string, facts?: Facts) =>
  row(group, 'switch', undefined, help, facts)

/**
 * Every option that is not a setting, in the order of the help. Flags, environment variables, the config file, scenarios,
 * SandboxOptions and docs/switches.md are derived from these rows. Settings are in domain/settings.ts.
 *
 * @source docs/switches.md, "Options of serve"
 */
export const OPTIONS = {
  /** TCP port, 0 for a free one. */
  port: row('Server', 'number', '<n>', 'TCP port, 0 for a free one', {
    default: 4010,
    max: 65_535,
    short: 'p',
    everyday: true,
  }),
  /** Address to listen on. Default: 127.0.0.1. Addresses beyond loopback require `controlToken`. */
  host: row('Server', 'host', '<addr>', 'address to listen on; --control-token beyond loopback', {
    default: '127.0.0.1',
    notInFiles: true,
  }),
  /** Path of the service: `/`, `/api`, `/v2`. Default: the path of the contract's first server, or `/`. */
  basePath: row('Server', 'base-path', '<path>', 'path of the service', {
    unset: 'of the first server',
    example: '/v1',
    see: 'spec.md#address-and-keys',
  }),
  /** `*`, `loopback`, `off`, or origins separated by commas. Default: `*`, and `loopback` with `upstream`. */
  cors: row('Server', 'cors', '<*|loopback|off|origins>', 'web origins that may call; with --upstream: loopback', {
    default: '*',
    see: 'deploy.md#what-any-website-may-do',
  }),
  /** File of the store. Default: state is kept in memory. */
  store: row('Data', 'file', '<file>', 'JSON file that holds the state', {
    default: STORE_FILE,
    everyday: true,
    see: 'state.md',
  }),
  /** Keep nothing on disk. */
  inMemory: toggle('Data', 'keep nothing on disk', { everyday: true }),
  /** Maximum size of the store, and of all spaces in memory. Default: `256MiB`. */
  maxStore: row('Data', 'size', '<size>', 'maximum size of the store, and of spaces in memory', {
    default: '256MiB',
    see: 'state.md#size-limits',
  }),
  /** Folder with a file for each resource, `<resource>.json`, and keys.json. */
  fixtures: row('Data', 'folder', '<dir>', 'folder with <resource>.json files and keys.json', {
    unset: 'the packaged ones',
    everyday: true,
    see: 'state.md#fixtures',
  }),
  /** Records to generate, as `users=50`, for resources of the contract. */
  generate: row('Data', 'counts', '<resource=n>', 'generate n records of a resource; repeatable', {
    example: `[${EXAMPLE.resource}=50]`,
    see: 'spec.md#resources',
  }),
  /** Reseed the store at start. */
  reset: toggle('Data', 'start over from the fixtures', {
    default: false,
    everyday: true,
  }),
  /** Sync every write to disk, to survive a power cut. */
  fsync: toggle('Data', 'sync every write to disk, to survive a power cut', {
    default: false,
    see: 'state.md#durability',
  }),
  /** Join the replicas that share a log in this Redis: `redis://127.0.0.1:6379`. */
  redis: row('Data', 'redis', '<url>', 'join the replicas that share a log in this Redis', {
    unset: 'none; the state is in the store',
    notInFiles: true,
    secret: true,
    see: 'deploy.md#replicas',
  }),
  /** Name of the group: replicas of one group are one sandbox. Default: `default`. */
  group: row('Data', 'name', '<name>', 'name of the group of replicas', {
    default: 'default',
  }),
  /** Order of the list, by creation. Default: `newest`. */
  order: row('Data', 'choice', '<order>', 'order of the list: newest or oldest first', {
    choices: LIST_ORDERS,
    default: 'newest',
  }),
  /** `key` or `key:plan`, one or more. */
  apiKey: row(quotas, 'keys', '<key[:plan]>', 'add a key; label=key:plan labels it in logs; repeatable', {
    example: '[my-key, my-pro-key:pro]',
    everyday: true,
    secret: true,
    see: 'behaviour.md#keys',
  }),
  /** Accept every key, each with its own quota. */
  anyKey: toggle(quotas, 'accept every key', { default: false }),
  /** Say in X-Sandbox-Reason why the sandbox made up a response. Default: true. */
  reason: toggle(refusals, 'omit the header X-Sandbox-Reason', { default: true }),
  /** `0.3,for=30s`, a rate, or `off`. */
  storm: row(trouble, 'storm', '<spec>', 'random 429s: <rate>[,for=30s][,every=5m][,retry-after=2s]', {
    unset: 'off',
    example: '0.3,for=30s,every=5m',
    everyday: true,
    scenario: true,
    see: '#storms',
  }),
  /** Failing and broken responses, as `listPets:503@20%*3` or as objects; the first rule that matches wins. */
  fault: row(trouble, 'faults', '<rule>', '<operation|*>:<status or fault>[@20%][*3]; repeatable', {
    example: `[${EXAMPLE.list}:503@20%*3, ${EXAMPLE.create}:connection-reset]`,
    everyday: true,
    scenario: true,
    see: '#faults',
  }),
  /** Name of a packaged scenario, a YAML file, or the content of a scenario. */
  scenario: row(trouble, 'scenario', '<name|file>', 'packaged scenario or YAML file to apply', {
    example: 'storm',
    everyday: true,
    see: '#scenarios',
  }),
  /** Start of the clock: an ISO 8601 instant, or an offset from real time such as `+3h` or `-2d`. */
  now: row('Time and chance', 'instant', '<start>', 'start of the clock: 2030-12-04T23:59:00Z, +3h', {
    unset: 'real time',
    example: '2030-12-04T23:59:00Z',
    everyday: true,
    scenario: true,
    see: 'behaviour.md#the-clock',
  }),
  /** Stop the clock, so that only the controls move it. */
  freeze: toggle('Time and chance', 'stop the clock', { scenario: true }),
  /** Makes everything random repeatable. Default: random. */
  seed: row('Time and chance', 'number', '<n>', 'seed of everything random; printed at start', {
    unset: 'random',
    example: '1',
    everyday: true,
  }),
  /** Base address of a real service: requests that no switch stops are forwarded to it. */
  upstream: row('In front of a real service', 'base-url', '<base-url>', 'proxy to this service', {
    everyday: true,
    notInFiles: true,
    see: 'real-service.md',
  }),
  /** File with a key of the real service, which replaces every key of the sandbox. */
  upstreamApiKeyFile: row(
    'In front of a real service',
    'file',
    '<file>',
    'file with the key to send to the real service',
    {
      notInFiles: true,
      see: 'real-service.md#keys-and-quotas',
    },
  ),
  /** Handling of writes with `upstream`: refused, or forwarded. Default: `refuse`. */
  upstreamWrites: row(
    'In front of a real service',
    'choice',
    '<how>',
    `handling of writes: ${UPSTREAM_WRITES.join(', ')}`,
    {
      choices: UPSTREAM_WRITES,
      default: 'refuse',
      notInFiles: true,
      see: 'real-service.md#writes',
    },
  ),
  /** Time limit of a response of the real service. Default: `10s`. */
  upstreamTimeout: row(
    'In front of a real service',
    'duration',
    '<duration>',
    'time limit of the real service; then 504',
    { default: '10s' },
  ),
  /** File of another OpenAPI document to serve. Operations that fit no resource are mocked. */
  spec: row('Contract, log and control plane', 'file', '<openapi.yaml>', 'OpenAPI document to serve', {
    unset: 'the packaged one',
    example: 'openapi.yaml',
    everyday: true,
    see: 'spec.md',
  }),
  /** Module with functions by operation id, which respond to its requests. Needs `.js`, or a Node that reads `.ts`. */
  handlers: row('Contract, log and control plane', 'file', '<file>', 'module with the behaviour of operations', {
    notInFiles: true,
    see: 'spec.md#behaviour-of-your-own',
  }),
  /** Operations to mock from the contract, although the sandbox implements them. */
  mock: row(
    'Contract, log and control plane',
    'operations',
    '<operation>',
    'mock this operation from the contract; repeatable',
    {
      unset: 'operations that do not fit a resource',
      example: EXAMPLE.list,
      see: 'spec.md#mocking-an-operation',
    },
  ),
  /** Check the sandbox's own responses against the contract; one that breaks it becomes a 500. */
  strict: toggle('Contract, log and control plane', 'check all responses against the contract', {
    default: false,
    see: 'spec.md#strict',
  }),
  /** Maximum number of open spaces. Default: 1000. */
  maxSpaces: row('Contract, log and control plane', 'number', '<n>', 'maximum number of spaces', {
    default: 1000,
    see: 'behaviour.md#spaces',
  }),
  /** Where a request names its space: in its key, or else in `baggage: sandbox-space=…`. Default: `key`. */
  spaceFrom: row(
    'Contract, log and control plane',
    'choice',
    '<source>',
    'what names the space: key, or else baggage',
    {
      choices: SPACE_SOURCES,
      default: 'key',
      see: 'behaviour.md#spaces',
    },
  ),
  /** Maximum number of exchanges in the log of a space. Default: 1000. */
  logLimit: row('Contract, log and control plane', 'number', '<n>', 'exchanges kept per space', {
    default: 1000,
    see: 'control-api.md#the-log',
  }),
  /** Form of the log on stderr. Only `serve` and `exec` print it. */
  log: row(
    'Contract, log and control plane',
    'choice',
    '<form>',
    `one line per exchange on stderr: ${LOG_FORMATS.join(', ')}`,
    {
      choices: LOG_FORMATS,
      unset: 'pretty on a TTY, else json',
      example: 'pretty',
      everyday: true,
    },
  ),
  /** Bearer token of the control plane. Without one it responds on loopback only. */
  controlToken: row('Contract, log and control plane', 'token', '<token>', 'bearer token of the control plane', {
    unset: 'none on loopback',
    notInFiles: true,
    secret: true,
    see: 'control-api.md#who-may-use-it',
  }),
  /** Web origins that may control the sandbox, besides its own. */
  controlOrigin: row(
    'Contract, log and control plane',
    'origins',
    '<origin>',
    'web origin that may control the sandbox; repeatable',
    {
      unset: 'its own only',
      notInFiles: true,
    },
  ),
}

/** Variables that are not options of a sandbox, without their prefix. */
export const OTHER_VARIABLES = {
  URL: 'address of the sandbox that commands and tests use',
  DEBUG: '`--debug` of every command',
  OPEN: '`serve --open`',
  WATCH: '`serve --watch`',
  FAIL_ON: '`exec --fail-on`',
  REPORT: '`exec --report`',
  HAR: '`exec --har`',
}
