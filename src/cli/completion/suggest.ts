import type { Command, Option } from 'commander'
import { NO_SUGGESTIONS, type Suggestion, type Suggestions } from './suggestion.js'
import { valuesOfArgument, valuesOfOption } from './values.js'

/** Where the words before the cursor lead. */
interface Cursor {
  readonly command: Command
  /** The flag that waits for its value. */
  readonly pending?: Option
  readonly givenOptions: ReadonlySet<Option>
  /** Arguments that were given. */
  readonly count: number
  /** After `--`, or among the words of another program's command line. */
  readonly onlyArguments: boolean
}

/**
 * Says how a command line can go on.
 *
 * @param open gives a command its flags and commands, if it has none yet
 * @param words those before the one being typed, without the program's name
 * @param typed the word being typed, up to the cursor
 */
export async function suggest(
  program: Command,
  open: (command: Command) => Promise<void>,
  words: readonly string[],
  typed: string,
): Promise<Suggestions> {
  const place = await walk(program, open, words)
  const { command, pending } = place
  if (pending !== undefined) return valuesOfOption(command, pending)
  if (place.onlyArguments) return argumentsAt(place)
  const [, flag, isValue] = /^(--[\w-]+)(=)?/.exec(typed) ?? []
  if (flag !== undefined && isValue !== undefined) return prefixed(`${flag}=`, optionValues(command, flag))
  if (typed.startsWith('-')) return { words: flagsAt(place), paths: 'none' }
  const here = place.count === 0 ? [...commandsIn(command), ...argumentsAt(place).words] : argumentsAt(place).words
  const { paths } = argumentsAt(place)
  return here.length > 0 || paths !== 'none' ? { words: here, paths } : { words: flagsAt(place), paths: 'none' }
}

async function walk(
  program: Command,
  open: (command: Command) => Promise<void>,
  words: readonly string[],
): Promise<Cursor> {
  let command = program
  let pending: Option | undefined
  let givenOptions = new Set<Option>()
  let count = 0
  let onlyArguments = false
  for (const word of words) {
    if (pending !== undefined) {
      pending = undefined
    } else if (onlyArguments) {
      count++
    } else if (word === '--') {
      onlyArguments = true
    } else if (word.startsWith('-')) {
      const option = findOption(command, word.replace(/=.*/s, ''))
      if (option !== undefined) givenOptions.add(option)
      if (option?.required && !word.includes('=')) pending = option
    } else {
      const next = count === 0 ? findCommand(command, word) : undefined
      if (next === undefined) {
        count++
        onlyArguments = passesThrough(command)
      } else if (!isHelp(next)) {
        command = next
        await open(command)
        givenOptions = new Set()
      }
    }
  }
  return { command, ...(pending === undefined ? {} : { pending }), givenOptions, count, onlyArguments }
}

/** `help`, which is followed by one of its sibling commands; an operation may be called so, too. */
function isHelp(command: Command): boolean {
  const [first] = command.registeredArguments
  return command.name() === 'help' && first?.name() === 'command'
}

/** Finds `help` too, which commander keeps apart. */
function findCommand(command: Command, name: string): Command | undefined {
  return command
    .createHelp()
    .visibleCommands(command)
    .find((one) => one.name() === name || one.aliases().includes(name))
}

function commandsIn(command: Command): readonly Suggestion[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ value: one.name(), description: one.summary() || one.description() }))
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command)
}

function findOption(command: Command, flag: string): Option | undefined {
  return optionsOf(command).find((option) => option.long === flag || option.short === flag)
}

function optionValues(command: Command, flag: string): Suggestions {
  const option = findOption(command, flag)
  return option === undefined ? NO_SUGGESTIONS : valuesOfOption(command, option)
}

/** The flags that may still come: one that was given is not offered again, unless it reads what was given before. */
function flagsAt({ command, givenOptions }: Cursor): readonly Suggestion[] {
  return optionsOf(command)
    .filter((option) => !givenOptions.has(option) || option.parseArg !== undefined)
    .flatMap(({ long, short, description }) => {
      const value = long ?? short
      return value === undefined ? [] : [{ value, description }]
    })
}

function argumentsAt({ command, count, onlyArguments }: Cursor): Suggestions {
  const { registeredArguments: known } = command
  const last = known.at(-1)
  const argument = known[count] ?? (last?.variadic ? last : undefined)
  if (argument === undefined) return NO_SUGGESTIONS
  const found = valuesOfArgument(command, argument)
  // Another program's command line: paths are all that is known of it.
  return found === NO_SUGGESTIONS && (onlyArguments || passesThrough(command)) ? { words: [], paths: 'file' } : found
}

/** Whether all that follows a first argument belongs to another program, as in `exec npx vitest --run`. */
function passesThrough(command: Command): boolean {
  // Commander has no getter for it.
  return Reflect.get(command, '_passThroughOptions') === true
}

function prefixed(prefix: string, { words, paths }: Suggestions): Suggestions {
  return { words: words.map((word) => ({ ...word, value: prefix + word.value })), paths }
}
