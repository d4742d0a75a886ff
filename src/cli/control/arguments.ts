import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { parseInt64 } from '../../contract/int64.js'
import { inputField, type Verb } from '../../control/verb.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { type DurationMs, formatDuration } from '../../domain/time.js'
import { packagedScenarios } from '../../options/scenario.js'
import { readStorm } from '../../options/values/faults.js'
import { type ParseResult, readDuration } from '../../options/values/reading.js'

interface ArgumentRow {
  readonly about: string
  /** In the example of its command. */
  readonly example?: string
  /** Field of the verb's input. Default: the name. */
  readonly field?: string
  readonly choices?: readonly string[]
  read?(text: string): unknown
}

/** By the names of arguments and flags. Default of choices and reader: the field of the verb's input. */
const ARGUMENTS: Readonly<Record<string, ArgumentRow>> = {
  instant: { about: 'ISO 8601, with Z or an offset', example: '2030-12-04T23:59:00Z', field: 'now' },
  duration: { about: 'how far: 500ms, 30s, 5m or 24h', example: '1m', field: 'by' },
  key: {
    about: 'an API key; sandbox-pro~checkout is the key sandbox-pro in the space checkout',
    example: 'team-a',
    read: (text) => text,
  },
  plan: { about: 'its plan', example: 'pro' },
  '--for': { about: 'duration' },
  '--every': { about: 'interval between starts of the storm' },
  '--retry-after': { about: 'Retry-After of refused requests' },
  '--rate': { about: 'share of requests refused, 0 to 1' },
  spec: { about: '<rate>[,for=30s][,every=5m][,retry-after=2s], as for serve', read: storm },
  rule: {
    about: '<operation|*>:<status or fault>[@20%][*3][,retry-after=2s][,after], as for serve',
    example: "'listPets:503@20%*3'",
  },
  mode: { about: 'see "Removal and brownouts" in docs/switches.md', example: 'after', field: 'sunset' },
  'name|file': { about: `packaged scenario (${packagedScenarios().join(', ')}) or YAML file`, example: 'storm' },
  id: { about: 'its id', example: '1' },
  pet: { about: 'its id', example: '1', field: 'id' },
  '--id': { about: 'undo only if this verb was the last (see status -o json)' },
  '--limit': { about: 'only the first n' },
  name: { about: 'its name', example: 'prepared' },
  '--name': { about: 'its name', example: 'Rex' },
  '--category-id': { about: 'its category id', example: '1', read: int64 },
  '--status': { about: 'its status; none: without one', choices: [...PET_STATUSES, 'none'] },
  resource: { about: 'name of the resource, as in "resources list"', example: 'categories' },
  fields: { about: 'its fields as JSON, or @<file>', example: `'{"name":"dogs"}'` },
  '--as': { about: 'scenario, flags or test', choices: ['scenario', 'flags', 'test'] },
  '--digest': { about: 'also print a digest of the state of this replica' },
}

const TOKENS = /(\[?)(--[a-z-]+)( <[^>]+>)?|([<[]([a-z|]+)[>\]])/g

/**
 * Adds the arguments and flags of a usage such as `ban <key> [--for <duration>]`.
 *
 * @param input of the verb
 * @returns them in an example
 */
export function addArguments(command: Command, usage: string, input?: Verb['input']): string {
  const example: string[] = []
  for (const [, optional, flag, value = '', argument, name = ''] of usage.matchAll(TOKENS)) {
    const row = ARGUMENTS[flag ?? name] ?? { about: '' }
    const made = flag === undefined ? new Argument(argument ?? '', row.about) : new Option(flag + value, row.about)
    const field = inputField(input, row.field ?? (made instanceof Option ? made.attributeName() : name))
    const { choices = field?.choices, read = field && ((text) => valueOrThrow(field.read(text))) } = row
    if (choices !== undefined) made.choices(choices)
    else if (read !== undefined && flag !== '--digest') made.argParser(read)
    if (made instanceof Argument) command.addArgument(made)
    else command.addOption(made.makeOptionMandatory(optional === ''))
    if (made instanceof Argument ? made.required : made.mandatory)
      example.push(...(flag === undefined ? [] : [flag]), row.example ?? '')
  }
  return example.join(' ')
}

/** The given arguments and flags by the fields of the verb's input. @param shared heading of flags that are not part of it */
export function givenInput(command: Command, shared: string): Readonly<Record<string, unknown>> {
  const args = command.registeredArguments.map((argument, index) => {
    const name = argument.name()
    return [ARGUMENTS[name]?.field ?? name, command.processedArgs[index]]
  })
  const own = command.options.filter(({ helpGroupHeading }) => helpGroupHeading !== shared)
  const flags = own.map((option) => [option.attributeName(), command.getOptionValue(option.attributeName())])
  return defined(Object.fromEntries([...args, ...flags]))
}

export function durationMs(text: string): DurationMs {
  return valueOrThrow(readDuration(text))
}

export function timeoutMs(text: string): DurationMs {
  return valueOrThrow(readDuration(text, 1))
}

export function count(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : refuse('must be a whole number of 0 or more')
}

export function defined<T extends object>(fields: T): { readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

function int64(text: string) {
  return parseInt64(text) ?? refuse('must be a 64-bit integer')
}

function storm(text: string) {
  const { rate, ...durations } = valueOrThrow(readStorm(text))
  const texts = Object.entries(durations).map(([name, length]) => [name, formatDuration(length)])
  return { rate, ...Object.fromEntries(texts) }
}

function valueOrThrow<T>(reading: ParseResult<T>): T {
  return 'value' in reading ? reading.value : refuse(reading.problem)
}

function refuse(problem: string): never {
  throw new InvalidArgumentError(problem)
}
