import { type Command, Option } from 'commander'
import { shellWord } from '../../advice/curl.js'
import type { CallInput } from '../../client/build-request.js'
import { type Header, readHeader } from '../../client/headers.js'
import type { Operation } from '../../contract/contract.js'
import type { Expected, Field, Parameter } from '../../contract/contract-data.js'
import { EXAMPLE } from '../../contract/generated/examples.js'
import { Failure } from '../../domain/failures.js'
import { type Bytes, MIB, parseSize } from '../../domain/numbers.js'
import { type DurationMs, HOUR_MS, parseDuration, SECOND_MS } from '../../domain/time.js'
import { explain } from '../help.js'

export const OUTPUTS = ['auto', 'json', 'yaml', 'table', 'raw'] as const
export type OutputFormat = (typeof OUTPUTS)[number]

const OWN_FLAGS = {
  Destination: {
    '-t, --target <name>': 'target: sandbox, staging, production or your own',
    '--base-url <url>': 'base address; overrides the target',
    '--api-key-file <file>': 'API key file, - for stdin (default: PETSTORE_API_KEY)',
    '--key <key>': 'API key; for secrets, use --api-key-file',
    '-y, --yes': 'write to production without asking',
  },
  Request: {
    '--spec <file>': "OpenAPI document (default: the sandbox's own)",
    '--body <json|@file|->': 'body as JSON, from a file, or from stdin',
    '-H, --header <header>': 'header to send, "Name: value" (repeatable)',
    '--no-validate': 'send the request even if it breaks the contract',
    '-n, --dry-run': 'print the request, send nothing',
    '--curl': 'print the request as a curl command, send nothing',
  },
  Retries: {
    '--retry <n>': 'retries after the first attempt (default: 2)',
    '--no-retry': 'never retry',
    '--retry-max-wait <duration>': 'longest wait before a retry (default: 60s)',
    '--retry-unsafe': 'also retry writes after 502, 503, 504 or a lost connection',
    '--timeout <duration>': 'time limit per attempt, including the body (default: 30s)',
  },
  Response: {
    '--max-body <size>': 'maximum size of a response (default: 64MiB)',
    '-o, --output <format>': 'auto: a table on a terminal, otherwise the body as received',
    '--json': 'the same as --output json',
    '-i, --include': 'also print the response headers',
    '-v, --verbose': 'show each exchange on stderr, with the key masked',
    '--check': 'also check the response against the contract',
    '--ignore-status': 'exit with 0 whatever the status',
    '--debug': 'show stack traces',
  },
} as const

type Groups = typeof OWN_FLAGS
type LongName<Flags> = Flags extends `${string}--${infer Name} <${string}`
  ? Name
  : Flags extends `${string}--${infer Name}`
    ? Name
    : never
type OwnFlagName = LongName<{ [Group in keyof Groups]: keyof Groups[Group] }[keyof Groups]>

/** The given flags by their own name, also where they were given as `--cli-<name>`. */
export class GivenFlags {
  readonly #values = new Map<string, readonly string[]>()

  add(name: string, value: string | null | undefined): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), value ?? ''])
  }

  has(name: OwnFlagName): boolean {
    return this.#values.has(name)
  }

  text(name: OwnFlagName): string | undefined {
    return this.list(name).at(-1)
  }

  list(name: OwnFlagName): readonly string[] {
    return this.#values.get(name) ?? []
  }
}

/** Where a parameter of the contract has the same name (`taken`), ours becomes `--cli-<name>`. */
export function addOwnFlags(command: Command, given: GivenFlags, taken: ReadonlySet<string>): readonly Option[] {
  const options = Object.entries(OWN_FLAGS).flatMap(([group, flags]) =>
    Object.entries(flags).map(([text, description]) => {
      const name = new Option(text).name()
      const option = new Option(taken.has(name) ? text.replace('--', '--cli-') : text, description)
      if (name === 'output') option.choices(OUTPUTS)
      // A listener: commander would store the value under a name that a parameter may also have.
      command.on(`option:${option.name()}`, (value: string | null | undefined) => given.add(name, value))
      return option.helpGroup(`${group}:`)
    }),
  )
  for (const option of options) command.addOption(option)
  command.helpOption(taken.has('help') ? '-h, --cli-help' : '-h, --help', 'print this help')
  return options
}

export interface CallSettings {
  readonly output: OutputFormat
  readonly headers: readonly Header[]
  readonly retries: number
  readonly maxWait: DurationMs
  readonly timeout: DurationMs
  readonly maxBody: Bytes
}

export const DEFAULT_TIMEOUT_MS: DurationMs = 30 * SECOND_MS
const MAX_RETRIES = 100
/** A body becomes a string, which Node limits to 512 MiB. */
const MAX_BODY: Bytes = 256 * MIB
/** Node's timers are limited to 24 days. */
const MAX_DURATION_MS: DurationMs = 24 * HOUR_MS

/** @throws Failure with one problem for each invalid flag */
export function readSettings(given: GivenFlags): CallSettings {
  const problems: string[] = []
  function number(
    name: OwnFlagName,
    fallback: number,
    read: (text: string) => number | undefined,
    form: string,
  ): number {
    const text = given.text(name)
    const value = text === undefined ? fallback : read(text)
    if (value === undefined) problems.push(`--${name} ${JSON.stringify(text)}: must be ${form}`)
    return value ?? fallback
  }
  const within = (value: number | undefined, least: number, most: number) =>
    value !== undefined && value >= least && value <= most ? value : undefined
  const duration = (name: OwnFlagName, fallback: DurationMs, least: DurationMs) =>
    number(
      name,
      fallback,
      (text) => within(parseDuration(text), least, MAX_DURATION_MS),
      'a whole number with a unit, for example 500ms, 30s or 5m, and at most 24h',
    )
  const retries = number(
    'retry',
    2,
    (text) => (/^\d{1,3}$/.test(text) ? within(Number(text), 0, MAX_RETRIES) : undefined),
    `a whole number from 0 to ${MAX_RETRIES}`,
  )
  const maxBody = number(
    'max-body',
    64 * MIB,
    (text) => within(parseSize(text), 0, MAX_BODY),
    'a whole number with a unit, for example 512KiB or 64MiB, and at most 256MiB',
  )
  const headers = given.list('header').flatMap((text) => {
    const header = readHeader(text)
    // The value may be a secret.
    if (header === undefined) problems.push('--header: must be written "Name: value"')
    return header === undefined ? [] : [header]
  })
  const settings = {
    output: given.has('json') ? 'json' : (OUTPUTS.find((format) => format === given.text('output')) ?? 'auto'),
    headers,
    retries: given.has('no-retry') ? 0 : retries,
    maxWait: duration('retry-max-wait', 60 * SECOND_MS, 0),
    timeout: duration('timeout', DEFAULT_TIMEOUT_MS, 1),
    maxBody,
  }
  if (problems.length > 0) throw new Failure('INVALID_FLAG', problems)
  return settings
}

type OperationInput = Omit<CallInput, 'body'>

export type FlagNames = ReadonlyMap<Parameter | Field, string>

// Path parameters become arguments; query parameters, headers and body fields flags. The contract checks their values, so that
// all problems are reported at once.
export function addOperationCommand(
  parent: Command,
  operation: Operation,
  given: GivenFlags,
  act: (input: OperationInput, flags: FlagNames) => Promise<void>,
): void {
  const command = parent
    .command(operation.id)
    .summary(summaryOf(operation))
    .description(
      [`${summaryOf(operation)}: ${operation.method} ${operation.path}`, operation.description ?? []]
        .flat()
        .join('\n\n'),
    )
    // Inherited from the parent, which allows them.
    .allowExcessArguments(false)
  for (const parameter of operation.parameters)
    if (parameter.in === 'path') command.argument(`<${parameter.name}>`, aboutOf(parameter))

  const names = flagNames(operation)
  const query = new Map<Parameter, string[]>()
  const fields = new Map<Field, string[]>()
  for (const [one, name] of names) {
    const option = new Option(`--${name} <${placeholder(one)}>`, aboutOf(one))
    if (one.type === 'array') option.argParser((text) => text)
    command.addOption(option.helpGroup('in' in one ? 'Parameters:' : 'Body:'))
    command.on(`option:${option.name()}`, (text: string) => {
      if ('in' in one && one.in === 'header') given.add('header', `${one.name}: ${text}`)
      else if ('in' in one) query.set(one, [...(query.get(one) ?? []), text])
      else fields.set(one, [...(fields.get(one) ?? []), text])
    })
  }
  addSharedFlags(command, given, new Set(names.values()), exampleOf(operation, names))
  command.action(() => act({ path: command.args, query, fields }, names))
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export function addMethodCommands(
  parent: Command,
  given: GivenFlags,
  act: (method: string, target: string) => Promise<void>,
): void {
  const taken = new Set(parent.commands.map((command) => command.name()))
  for (const method of METHODS) {
    if (taken.has(method)) continue
    const command = parent
      .command(method, { hidden: true })
      .description(`send a ${method} request to a path of the contract`)
      .argument('<path>', 'below the base address, with its query')
      .allowExcessArguments(false)
      .action((target: string) => act(method, target))
    if (!taken.has(method.toLowerCase())) command.alias(method.toLowerCase())
    addSharedFlags(command, given, new Set(), `petstore-sandbox call ${method} '${EXAMPLE.path}?limit=2'`)
  }
}

function addSharedFlags(command: Command, given: GivenFlags, taken: ReadonlySet<string>, example: string): void {
  const options = addOwnFlags(command, given, taken)
  const elsewhere = { title: 'Options of every call', options, command: 'petstore-sandbox call' }
  explain(command, { examples: [example], elsewhere })
}

/** Names flags after parameters and fields, in kebab-case. If a name is taken, `query-`, `body-` or `header-` is put in front. */
export function flagNames({ parameters, headers = [], body }: Operation): FlagNames {
  const names = new Map<Parameter | Field, string>()
  const taken = new Set<string>()
  const take = (flag: Parameter | Field, kind: string) => {
    const kebab = kebabCase(flag.name)
    let name = kebab
    for (let count = 1; taken.has(name); count++) name = `${kind}-${kebab}${count === 1 ? '' : `-${count}`}`
    taken.add(name)
    names.set(flag, name)
  }
  for (const parameter of parameters) if (parameter.in === 'query') take(parameter, 'query')
  for (const field of body?.fields ?? []) take(field, 'body')
  for (const parameter of headers) if (parameter.in === 'header') take(parameter, 'header')
  return names
}

/** `categoryId` to `category-id`. Characters that a flag cannot have become dashes. */
function kebabCase(name: string): string {
  const kebab = name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .toLowerCase()
  return kebab === '' ? 'parameter' : kebab
}

function placeholder({ type, itemType }: Expected): string {
  const kind = type === 'array' ? (itemType ?? 'string') : type
  return kind === 'other' ? 'json' : kind
}

function summaryOf({ id, summary, deprecated, stability }: Operation): string {
  const marks = [deprecated ? 'deprecated' : [], stability ?? []].flat()
  return `${summary ?? id}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`
}

function aboutOf(flag: Parameter | Field): string {
  const { description, wording, default: fallback, required } = flag
  const remarks = [
    wording ?? [],
    flag.type === 'array' ? 'repeatable' : [],
    fallback === undefined ? [] : `default: ${String(fallback)}`,
    required && !('in' in flag && flag.in === 'path') ? 'required' : [],
  ].flat()
  return `${description ?? flag.name}${remarks.length === 0 ? '' : ` (${remarks.join('; ')})`}`.replace(/\s+/g, ' ')
}

/** With a placeholder for each required value that the contract has no example of. */
function exampleOf({ id, parameters, body }: Operation, names: FlagNames): string {
  const values: Readonly<Record<string, unknown>> = body?.example === undefined ? {} : Object(JSON.parse(body.example))
  const sample = (flag: Parameter | Field): string | undefined => {
    const own = 'in' in flag ? flag.example : Object.hasOwn(values, flag.name) ? values[flag.name] : undefined
    const value = own ?? ('in' in flag || flag.required ? flag.enum?.[0] : undefined)
    return value === undefined || typeof value === 'object' ? undefined : shellWord(String(value))
  }
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const words = inPath.map((parameter) => sample(parameter) ?? `<${parameter.name}>`)
  for (const [flag, name] of names) {
    const value = sample(flag)
    const isShown = 'in' in flag ? value !== undefined && flag.in !== 'header' : /^[\w.-]+$/.test(value ?? '')
    if (flag.required || isShown) words.push(`--${name} ${value ?? `<${placeholder(flag)}>`}`)
  }
  return ['petstore-sandbox call', id, ...words].join(' ')
}
