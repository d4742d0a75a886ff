import { type Command, Option } from 'commander'

/** The flags of `call` itself, by their long name. The contract's own come beside them. */
const OWN_FLAGS = {
  target: {
    short: 't',
    value: '<name>',
    description: 'sandbox, staging, production or one of your own',
    group: 'Destination',
  },
  'base-url': { value: '<url>', description: 'base address, overriding that of the target', group: 'Destination' },
  'api-key-file': {
    value: '<file>',
    description: 'file that holds the API key, - for stdin (default: PETSTORE_API_KEY)',
    group: 'Destination',
  },
  yes: { short: 'y', description: 'write to production without asking', group: 'Destination' },
  spec: { value: '<file>', description: 'OpenAPI document to use instead of the packaged contract', group: 'Request' },
  body: { value: '<json|@file|->', description: 'body as JSON, from a file, or from stdin', group: 'Request' },
  header: {
    short: 'H',
    value: '<header>',
    description: '"Name: value" to send as well (repeatable)',
    group: 'Request',
    list: true,
  },
  'no-validate': { description: 'send the request even if it breaks the contract', group: 'Request' },
  'dry-run': { short: 'n', description: 'print the request, send nothing', group: 'Request' },
  curl: { description: 'print it as a curl command, send nothing', group: 'Request' },
  retry: { value: '<n>', description: 'retries after the first attempt (default: 2)', group: 'Retries' },
  'retry-max-wait': {
    value: '<duration>',
    description: 'give up at once if told to wait longer (default: 60s)',
    group: 'Retries',
  },
  'retry-unsafe': {
    description: 'also retry methods other than GET after 502, 503, 504 and dropped connections',
    group: 'Retries',
  },
  timeout: { value: '<duration>', description: 'for each attempt, its body too (default: 30s)', group: 'Retries' },
  'max-body': { value: '<size>', description: 'largest answer that is read (default: 64MiB)', group: 'Response' },
  output: {
    short: 'o',
    value: '<format>',
    description: 'auto: a table on a terminal, otherwise the body as received',
    group: 'Response',
  },
  include: { short: 'i', description: 'also print the response headers', group: 'Response' },
  verbose: { short: 'v', description: 'show each exchange on stderr, with the key masked', group: 'Response' },
  check: { description: 'also check the response against the contract', group: 'Response' },
  'ignore-status': { description: 'exit with 0 whatever the status', group: 'Response' },
  debug: { description: 'show stack traces', group: 'Response' },
} as const satisfies Record<string, OwnFlag>

interface OwnFlag {
  readonly short?: string
  /** What stands after it in the help; a switch has nothing. */
  readonly value?: string
  readonly description: string
  readonly group: string
  readonly list?: true
}

export type OwnFlagName = keyof typeof OWN_FLAGS
export const OUTPUTS = ['auto', 'json', 'yaml', 'table', 'raw'] as const
export type OutputFormat = (typeof OUTPUTS)[number]

/** The flags that were given, by their own name, even when they went by another. */
export class GivenFlags {
  readonly #values = new Map<OwnFlagName, readonly string[]>()

  add(name: OwnFlagName, value: string | null | undefined): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), value ?? ''])
  }

  has(name: OwnFlagName): boolean {
    return this.#values.has(name)
  }

  /** The last one wins. */
  text(name: OwnFlagName): string | undefined {
    return this.#values.get(name)?.at(-1)
  }

  list(name: OwnFlagName): readonly string[] {
    return this.#values.get(name) ?? []
  }
}

/**
 * Gives a command our flags. Where the contract's parameters need a name, ours goes
 * on as `--cli-<name>`.
 *
 * @param taken long names of the command's other flags
 */
export function addOwnFlags(command: Command, given: GivenFlags, taken: ReadonlySet<string>): readonly Option[] {
  const options: Option[] = []
  for (const [name, flag] of Object.entries(OWN_FLAGS) as [OwnFlagName, OwnFlag][]) {
    const long = taken.has(name) ? `--cli-${name}` : `--${name}`
    const option = new Option(
      [flag.short === undefined ? [] : `-${flag.short},`, long, flag.value ?? []].flat().join(' '),
      flag.description,
    )
    if (name === 'output') option.choices(OUTPUTS)
    if (flag.list) option.argParser((text) => text)
    options.push(option)
    command.addOption(option.helpGroup(`${flag.group}:`))
    // An event listener, because commander would store the value under a name that a parameter may have too.
    command.on(`option:${option.name()}`, (value: string | null | undefined) => given.add(name, value))
  }
  command.helpOption(taken.has('help') ? '-h, --cli-help' : '-h, --help', 'print this help')
  return options
}
