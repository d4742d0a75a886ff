import type { OptionRow } from './option-row.js'
import { naturalFromText } from './option-text.js'
import { packagedScenarios } from './packaged-scenarios.js'
import { type OptionName, optionRow } from './table.js'

/** A value that no option accepts, so that its check says what it would accept. */
const NOTHING = Symbol('nothing')

/** What a value must be, in the words of its check: "must be newest or oldest". */
export function allowedText(name: OptionName): string {
  const row = optionRow(name)
  return firstProblem(row, row.reads === 'list' ? [NOTHING] : NOTHING) ?? ''
}

/** The literal words and numbers that an option accepts: `['newest', 'oldest']`, `['never']`. */
export function allowedWords(name: OptionName): readonly string[] {
  if (name === 'scenario') return packagedScenarios()
  const { schema } = optionRow(name)
  if (!('options' in schema) || !Array.isArray(schema.options)) return []
  // The choices of a picklist are plain, those of a union are schemas.
  const choices: readonly unknown[] = schema.options
  return choices
    .map((choice) => literalOf(choice) ?? choice)
    .filter(isWord)
    .map(String)
}

/** Whether an option accepts a string that a user wrote. */
export function takes(name: OptionName, text: string): boolean {
  const row = optionRow(name)
  return firstProblem(row, naturalFromText(row.reads, text)) === undefined
}

/** Whether an option takes a file or a folder, which a shell can complete. */
export function pathKind(name: OptionName): 'file' | 'folder' | undefined {
  const text = allowedText(name)
  if (text.endsWith('a folder path')) return 'folder'
  return /a file path$|YAML file$/.test(text) ? 'file' : undefined
}

function literalOf(choice: unknown): unknown {
  return typeof choice === 'object' && choice !== null && 'literal' in choice ? choice.literal : undefined
}

function isWord(option: unknown): option is string | number {
  return typeof option === 'string' || typeof option === 'number'
}

function firstProblem({ schema }: OptionRow, value: unknown): string | undefined {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) throw new TypeError('The check of an option waits for something.')
  return result.issues?.[0]?.message
}
