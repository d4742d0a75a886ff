import * as v from 'valibot'
import { didYouMean } from '../domain/suggest.js'
import { toCamelCase } from './letter-case.js'
import { camelName, kebabName, NAMED_OPTIONS, optionNamed } from './names.js'
import { type Path, Problems, type Where, writeIssues } from './problem.js'
import { type OptionName, type OptionValues, optionRow } from './table.js'

/** An option as given by one source, not checked yet. */
export interface Given {
  readonly value: unknown
  readonly where: Where
}

/** The options of one source (flags, environment, a file …). */
export interface Layer {
  readonly given: ReadonlyMap<OptionName, Given>
  /** What is wrong with the source itself: unknown names, a file that cannot be read. */
  readonly problems: readonly string[]
}

/** How a source spells names and values. */
export interface Spelling {
  /** Whether names may be in kebab-case too, down to those in maps. */
  readonly kebab: boolean
  /** Where a name, or a part of its value, was written. */
  where(key: string, path: Path): string
}

/** Makes a layer from names and values, as files and programs provide them. */
export function layerOf(entries: Iterable<readonly [string, unknown]>, spelling: Spelling): Layer {
  const given = new Map<OptionName, Given>()
  const problems = new Problems()
  for (const [key, value] of entries) {
    if (value === undefined) continue
    const option = optionNamed(spelling.kebab ? toCamelCase(key) : key)
    const where: Where = (path) => spelling.where(key, path)
    if (option === undefined) {
      const known = NAMED_OPTIONS.map(spelling.kebab ? kebabName : camelName)
      problems.add(() => `${where([])}: unknown option${didYouMean(key, known)}`)
    } else if (given.has(option.name)) {
      problems.add(() => `${where([])}: is given twice`)
    } else {
      given.set(option.name, { value: naturalValue(option, value, spelling.kebab), where })
    }
  }
  return { given, problems: problems.list() }
}

function naturalValue(option: { name: OptionName; negated: boolean }, value: unknown, kebab: boolean): unknown {
  if (option.negated && typeof value === 'boolean') return !value
  if (option.name === 'scenario') return value
  const spelt = kebab ? withCamelKeys(value) : value
  return optionRow(option.name).reads === 'list' && !Array.isArray(spelt) ? [spelt] : spelt
}

function withCamelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCamelKeys)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [toCamelCase(key), part]))
}

/** Checks everything in a layer, whether it wins or not, so that a mistake in a file shows at once. */
export function checkLayer(layer: Layer): { readonly values: OptionValues; readonly problems: readonly string[] } {
  const values: Partial<Record<OptionName, unknown>> = {}
  const problems = [...layer.problems]
  for (const [name, { value, where }] of layer.given) {
    const row = optionRow(name)
    const result = v.safeParse(row.schema, value)
    if (result.success) values[name] = result.output
    else problems.push(...writeIssues(result.issues, listWhere(value, where), row.secret))
  }
  // Each value was just read by its own row's schema.
  return { values: values as OptionValues, problems }
}

/** A single element needs no index: it may have been written without a list. */
function listWhere(value: unknown, where: Where): Where {
  return Array.isArray(value) && value.length === 1 ? (path) => where(path[0] === 0 ? path.slice(1) : path) : where
}
