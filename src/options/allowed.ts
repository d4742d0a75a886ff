import { valueFromText } from './layer.js'
import { type OptionName, optionRow } from './table.js'

const NOTHING = Symbol('nothing')

export function allowedText(name: OptionName): string {
  return firstProblem(name, optionRow(name).reads === 'list' ? [NOTHING] : NOTHING) ?? ''
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
