import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { parseInt64 } from '../../contract/int64.js'
import { parseFaultRule } from '../../domain/faults.js'
import { PLAN_NAMES } from '../../domain/keys.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { SUNSET_MODES } from '../../domain/settings.js'
import { type DurationMs, formatDuration } from '../../domain/time.js'
import { packagedScenarios } from '../../options/scenario.js'
import { readStorm } from '../../options/values/faults.js'
import { readInstant } from '../../options/values/instant.js'
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

const duration = (about: string): ArgumentRow => ({ about, read: asWritten(readDuration) })

const ARGUMENTS: Readonly<Record<string, ArgumentRow>> = {
  instant: {
    about: 'ISO 8601, with Z or an offset',
    example: '2030-12-04T23:59:00Z',
    field: 'now',
    read: asWritten(readInstant),
  },
  duration: { ...duration('how far: 500ms, 30s, 5m or 24h'), example: '1m', field: 'by' },
  key: { about: 'an API key; sandbox-pro~checkout is the key sandbox-pro in the space checkout', example: 'team-a' },
  plan: { about: 'its plan', example: 'pro', choices: PLAN_NAMES },
  '--for': duration('duration'),
  '--every': duration('interval between starts of the storm'),
  '--retry-after': duration('Retry-After of refused requests'),
  '--rate': { about: 'share of requests refused, 0 to 1', read: rate },
  spec: { about: '<rate>[,for=30s][,every=5m][,retry-after=2s], as for serve', read: storm },
  rule: {
    about: '<operation|*>:<status or fault>[@20%][*3][,retry-after=2s][,after], as for serve',
    example: "'listPets:503@20%*3'",
    read: faultRule,
  },
  mode: {
    about: 'see "Removal and brownouts" in docs/switches.md',
    example: 'after',
    field: 'sunset',
    choices: SUNSET_MODES,
  },
  'name|file': { about: `packaged scenario (${packagedScenarios().join(', ')}) or YAML file`, example: 'storm' },
  id: { about: 'its id', example: '1' },
  pet: { about: 'its id', example: '1', field: 'id', read: int64 },
  '--id': { about: 'undo only if this verb was the last (see status -o json)', read: count },
  '--limit': { about: 'only the first n', read: count },
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

/** Adds the arguments and flags of a usage such as `ban <key> [--for <duration>]`. @returns them in an example */
export function addArguments(command: Command, usage: string): string {
  const example: string[] = []
  for (const [, optional, flag, value = '', argument, name = ''] of usage.matchAll(TOKENS)) {
    const { about, choices, read, ...row } = ARGUMENTS[flag ?? name] ?? { about: '' }
    if (flag === undefined) {
      const made = new Argument(argument ?? '', about)
      if (choices !== undefined) made.choices(choices)
      if (read !== undefined) made.argParser(read)
      command.addArgument(made)
      if (made.required) example.push(row.example ?? '')
    } else {
      const made = new Option(flag + value, about).makeOptionMandatory(optional === '')
      if (choices !== undefined) made.choices(choices)
      if (read !== undefined) made.argParser(read)
      command.addOption(made)
      if (made.mandatory) example.push(flag, row.example ?? '')
    }
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

function rate(text: string): number {
  const isRate = /^(?:\d{1,3}(?:\.\d{1,30})?|\.\d{1,30})$/.test(text) && Number(text) <= 1
  return isRate ? Number(text) : refuse('must be a number from 0 to 1')
}

function faultRule(text: string) {
  const rule = parseFaultRule(text)
  return typeof rule === 'string' ? refuse(rule) : rule
}

function storm(text: string) {
  const { rate, ...durations } = valueOrThrow(readStorm(text))
  const texts = Object.entries(durations).map(([name, length]) => [name, formatDuration(length)])
  return { rate, ...Object.fromEntries(texts) }
}

function asWritten(read: (text: string) => ParseResult<unknown>) {
  return (text: string) => {
    valueOrThrow(read(text))
    return text
  }
}

function valueOrThrow<T>(reading: ParseResult<T>): T {
  return 'value' in reading ? reading.value : refuse(reading.problem)
}

function refuse(problem: string): never {
  throw new InvalidArgumentError(problem)
}
