import * as v from 'valibot'
import { hasFaultBody, isFaultObject } from '../domain/faults.js'
import { didYouMean } from '../domain/suggest.js'
import { toCamelCase } from './letter-case.js'
import { camelName, findOption, flagOrVariable, kebabName, NAMED_OPTIONS } from './names.js'
import { formatIssues, type Path, Problems, type Where } from './problem.js'
import { type OptionName, type OptionRow, type OptionValues, optionRow } from './table.js'

export interface GivenOption {
  readonly value: unknown
  readonly where: Where
}

export interface Layer {
  readonly given: ReadonlyMap<OptionName, GivenOption>
  readonly problems: readonly string[]
  /** A file of the working directory, which may come from someone else. */
  readonly isFile?: boolean
}

export interface LayerFormat {
  /** Names may also be in kebab-case, down to those in maps. */
  readonly kebab: boolean
  /** A file of the working directory, which cannot set options that are `notInFiles`. */
  readonly isFile?: boolean
  where(key: string, path: Path): string
}

export function makeLayer(entries: Iterable<readonly [string, unknown]>, spelling: LayerFormat): Layer {
  const { kebab, isFile = false } = spelling
  const given = new Map<OptionName, GivenOption>()
  const problems = new Problems()
  const isRefused = (name: OptionName) => isFile && optionRow(name).notInFiles
  for (const [key, value] of entries) {
    if (value === undefined) continue
    const option = findOption(kebab ? toCamelCase(key) : key)
    const where: Where = (path) => spelling.where(key, path)
    const refuse = (problem: () => string) => problems.add(() => `${where([])}: ${problem()}`)
    if (option === undefined) {
      const known = NAMED_OPTIONS.filter(({ name }) => !isRefused(name)).map(kebab ? kebabName : camelName)
      refuse(() => `unknown option${didYouMean(key, known)}`)
    } else if (isRefused(option.name)) {
      const instead = flagOrVariable(option.name)
      refuse(() => `cannot be set in a file, which may come from someone else; use ${instead}`)
    } else if (given.has(option.name)) refuse(() => 'is given twice')
    else given.set(option.name, { value: readValue(option, value, kebab), where })
  }
  return { given, problems: problems.list() }
}

function readValue(option: { name: OptionName; negated: boolean }, value: unknown, kebab: boolean): unknown {
  if (option.negated && typeof value === 'boolean') return !value
  // Keys of latency are operations.
  if (option.name === 'scenario' || option.name === 'latency') return value
  const camel = kebab ? withCamelKeys(value) : value
  return optionRow(option.name).reads === 'list' && !Array.isArray(camel) ? [camel] : camel
}

function withCamelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCamelKeys)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [toCamelCase(key), part]))
}

/** Checks everything in a layer, even if another layer overrides it, so that a mistake in a file shows at once. */
export function checkLayer(layer: Layer): { readonly values: OptionValues; readonly problems: readonly string[] } {
  const values: Partial<Record<OptionName, unknown>> = {}
  const problems = [...layer.problems]
  for (const [name, { value, where }] of layer.given) {
    const { schema, secret } = optionRow(name)
    const result = v.safeParse(schema, value)
    if (result.success) values[name] = result.output
    else problems.push(...formatIssues(result.issues, listWhere(value, where), secret))
  }
  return { values: values as OptionValues, problems }
}

/** A single element needs no index: it may have been written without a list. */
export function listWhere(value: unknown, where: Where): Where {
  return Array.isArray(value) && value.length === 1 ? (path) => where(path[0] === 0 ? path.slice(1) : path) : where
}

const SWITCH_WORDS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 'true', 'yes', 'on'].map((word) => [word, true] as const),
  ...['0', 'false', 'no', 'off'].map((word) => [word, false] as const),
])

/** Reads a flag or variable as the value that a file would have. Other text stays a string, which the schema refuses. */
export function valueFromText(reads: OptionRow['reads'], text: string): unknown {
  if (reads === 'number') return /^-?\d{1,30}(?:\.\d+)?$/.test(text) ? Number(text) : text
  if (reads === 'switch') return SWITCH_WORDS.get(text.toLowerCase()) ?? text
  // The comma before the wait of a fault is part of the fault, and so are those in its body.
  if (reads === 'list' && (isFaultObject(text) || hasFaultBody(text))) return [text]
  return reads === 'list'
    ? text.split(/,(?!\s*(?:retry-after=|(?:before|after)(?![\w:])))/).map((part) => part.trim())
    : text
}
