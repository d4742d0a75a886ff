import { InvalidArgumentError, Option } from 'commander'
import { didYouMean } from '../../domain/suggest.js'
import { joinOr } from '../../options/values/reading.js'

/** One variable that the command is to get, under a name of its own: `VITE_API_URL={baseUrl}`. */
export interface EnvName {
  readonly name: string
  readonly value: string
}

/** What may stand in a value. */
const PLACEHOLDERS = ['baseUrl', 'apiKey', 'controlUrl'] as const
const PLACEHOLDER = /\{(\w+)\}/g
type Placeholder = (typeof PLACEHOLDERS)[number]

const FORM = 'must be <NAME>=<value>, for example VITE_API_URL={baseUrl}'

export function envOption(): Option {
  const description =
    'give the command a variable of its own: {baseUrl}, {apiKey} and {controlUrl} are filled in; repeatable'
  return new Option('--env <name=value>', description)
    .argParser((text, before: readonly EnvName[] = []) => [...before, readEnvName(text)])
    .helpGroup('Command:')
}

/** @throws InvalidArgumentError saying what cannot be used */
function readEnvName(text: string): EnvName {
  const [, name, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value.includes('\0')) throw new InvalidArgumentError(FORM)
  for (const [, word = ''] of value.matchAll(PLACEHOLDER)) {
    if (isPlaceholder(word)) continue
    const known = joinOr(PLACEHOLDERS.map((one) => `{${one}}`))
    throw new InvalidArgumentError(`{${word}} must be ${known}${didYouMean(word, PLACEHOLDERS)}`)
  }
  return { name, value }
}

/** The variables with what their placeholders stand for. */
export function namedEnvironment(
  names: readonly EnvName[],
  told: Readonly<Record<Placeholder, string>>,
): Readonly<Record<string, string>> {
  const filled = (value: string) => value.replace(PLACEHOLDER, (_, word: Placeholder) => told[word])
  return Object.fromEntries(names.map(({ name, value }) => [name, filled(value)]))
}

function isPlaceholder(word: string): word is Placeholder {
  return (PLACEHOLDERS as readonly string[]).includes(word)
}
