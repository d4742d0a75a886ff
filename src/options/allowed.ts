import { valueFromText } from './layer.js'
import { packagedScenarios } from './scenario.js'
import { type OptionName, optionRow } from './table.js'

const NOTHING = Symbol('nothing')

export function allowedText(name: OptionName): string {
  return firstProblem(name, optionRow(name).reads === 'list' ? [NOTHING] : NOTHING) ?? ''
}

/** The literal words and numbers that an option accepts: `['newest', 'oldest']`, `['never']`. */
export function allowedWords(name: OptionName): readonly string[] {
  if (name === 'scenario') return packagedScenarios()
  const { options = [] }: { readonly options?: readonly unknown[] } = Object(optionRow(name).schema)
  // A picklist has plain choices, a union has schemas.
  return options
    .map((choice) => Object(choice).literal ?? choice)
    .filter((choice) => typeof choice === 'string' || typeof choice === 'number')
    .map(String)
}

export function isAllowed(name: OptionName, text: string): boolean {
  return firstProblem(name, valueFromText(optionRow(name).reads, text)) === undefined
}

export function pathKind(name: OptionName): 'file' | 'folder' | undefined {
  const text = allowedText(name)
  if (text.endsWith('a folder path')) return 'folder'
  return /a file path$|YAML file$/.test(text) ? 'file' : undefined
}

function firstProblem(name: OptionName, value: unknown): string | undefined {
  const result = optionRow(name).schema['~standard'].validate(value)
  return result instanceof Promise ? undefined : result.issues?.[0]?.message
}
