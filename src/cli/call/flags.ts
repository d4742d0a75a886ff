import { type Command, Option } from 'commander'
import { RequestError } from '../../client/errors.js'
import { type Header, readHeader } from '../../client/headers.js'
import { type Bytes, MIB, parseSize } from '../../domain/numbers.js'
import { type DurationMs, HOUR_MS, parseDuration, SECOND_MS } from '../../domain/time.js'

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
      // Has no effect but for completion: it may be given again.
      if (name === 'header') option.argParser((value) => value)
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

const MAX_RETRIES = 100
/** A body becomes a string, which Node limits to 512 MiB. */
const MAX_BODY: Bytes = 256 * MIB
/** Node's timers are limited to 24 days. */
const MAX_DURATION_MS: DurationMs = 24 * HOUR_MS

/** @throws RequestError with one problem for each invalid flag */
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
    output: OUTPUTS.find((format) => format === given.text('output')) ?? 'auto',
    headers,
    retries: given.has('no-retry') ? 0 : retries,
    maxWait: duration('retry-max-wait', 60 * SECOND_MS, 0),
    timeout: duration('timeout', 30 * SECOND_MS, 1),
    maxBody,
  }
  if (problems.length > 0) throw new RequestError('INVALID_FLAG', problems)
  return settings
}
