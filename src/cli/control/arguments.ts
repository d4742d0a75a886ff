import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { shellWord } from '../../advice/curl.js'
import { inputField, positionalFields, type Verb } from '../../control/verb.js'
import { joinOr } from '../../domain/numbers.js'
import { OPTIONAL_SETTINGS } from '../../domain/settings.js'
import type { DurationMs } from '../../domain/time.js'
import { toKebabCase } from '../../options/letter-case.js'
import { type ParseResult, readDuration } from '../../options/values/reading.js'

/** What a command says about its verb. */
export type VerbSyntax = Pick<Verb, 'input' | 'body' | 'args' | 'example'>

/** An argument or a flag of a syntax such as `ban <key> [--for <duration>]`. */
interface Part {
  readonly text: string
  readonly flag: string | undefined
  /** Of the verb's input. */
  readonly field: string
  readonly isRequired: boolean
}

const PARTS = /(\[?)(--[a-z-]+)( <[^>]+>)?|[<[][a-z|=.]+[>\]]/g

function partsOf(syntax: string, verb: VerbSyntax): readonly Part[] {
  const args = positionalFields(verb)
  let position = 0
  return [...syntax.matchAll(PARTS)].map(([text, bracket, flag, value = '']) => {
    if (flag === undefined) return { text, flag, field: args[position++] ?? '', isRequired: text.startsWith('<') }
    return { text: flag + value, flag, field: new Option(flag).attributeName(), isRequired: bracket === '' }
  })
}

/** Adds the arguments and flags of a syntax. Help, choices and checks come from the verb's input. */
export function addArguments(command: Command, syntax: string, verb: VerbSyntax): void {
  for (const { text, flag, field, isRequired } of partsOf(syntax, verb)) {
    // Fields of a record are flags that only the sandbox knows.
    if (text === FIELDS) command.allowUnknownOption()
    const { description = READ_BY_COMMAND[text] ?? '', choices, read } = inputField(verb, field) ?? {}
    const made = flag === undefined ? new Argument(text, description) : new Option(text, description)
    if (choices !== undefined) made.choices(choices)
    else if (read !== undefined && text !== flag && !Object.hasOwn(READ_BY_COMMAND, text))
      made.argParser((given) => valueOrThrow(read(given)))
    if (made instanceof Argument) command.addArgument(made)
    else command.addOption(made.makeOptionMandatory(isRequired))
  }
}

const FIELDS = '[data...]'

/** What a command reads in another way than its verb, with its help: a key may name its space, others a file. */
const READ_BY_COMMAND: Readonly<Record<string, string>> = {
  '<key>': '',
  [FIELDS]: '',
  '<name|file>': '',
  '<rule>': '',
  '<name=value...>': `name and value as for the flags of serve; the value none removes ${joinOr(OPTIONAL_SETTINGS.map(toKebabCase))}`,
}

/** A line such as `ban team-a --for 30s`. */
export function exampleLine(syntax: string, verb: VerbSyntax): string {
  const given: Readonly<Record<string, unknown>> = { ...verb.example }
  const words = partsOf(syntax, verb).flatMap(({ flag, field }) => {
    const value = given[field]
    if (value === undefined) return []
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    return [...(flag === undefined ? [] : [flag]), ...(value === true ? [] : [shellWord(text)])]
  })
  return [wordsOf(syntax), ...words].join(' ')
}

/** `clock advance <duration>` is the command `clock advance`. */
export function wordsOf(syntax: string): string {
  return /^[a-z]+(?: [a-z]+)*/.exec(syntax)?.[0] ?? ''
}

/** The given arguments and flags, by the fields of the verb's input. @param shared heading of flags that are not part of it */
export function givenInput(command: Command, verb: VerbSyntax, shared: string): Readonly<Record<string, unknown>> {
  const args = command.registeredArguments.map((argument, index) => [
    positionalFields(verb)[index] ?? argument.name(),
    command.processedArgs[index],
  ])
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

function valueOrThrow<T>(reading: ParseResult<T>): T {
  return 'value' in reading ? reading.value : refuse(reading.problem)
}

function refuse(problem: string): never {
  throw new InvalidArgumentError(problem)
}
