import { messageOf } from '../system/message-of.js'
import type { Violation } from './contract.js'
import type { Expected } from './contract-data.js'
import { excerpt, quote } from './excerpt.js'
import { FORMATS } from './formats.js'
import type { JsonSchema } from './json-schema.js'
import { SpecError } from './spec-error.js'

export interface Mistake {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
}

/** Like functions of ajv, it keeps the errors of its last run. */
export interface Validator {
  (value: unknown): unknown
  errors?: readonly Mistake[] | null
}

/** By name: `<operation>_query`, `<operation>_path`, `<operation>_body`. */
export type Validators = Readonly<Record<string, Validator | undefined>>
/** A function makes a schema with the patterns of another one. */
export type Schemas = Readonly<Record<string, JsonSchema | (() => JsonSchema)>>

export const AJV_OPTIONS = {
  allErrors: true,
  strict: false,
  // parseJson returns NaN or Infinity for a number that a double cannot hold.
  strictNumbers: true,
  validateSchema: false,
  logger: false,
} as const

/**
 * Makes validators at run time. Each is compiled when it is first used: a contract has more than a run needs.
 *
 * @param patterns linear if clients choose the texts; `linear or none` skips those that cannot be matched like that
 * @returns a function that throws a SpecError for an unsupported pattern
 */
export async function validatorMaker(
  patterns: 'linear' | 'native' | 'linear or none',
  others: { readonly allErrors?: boolean } = {},
): Promise<(name: string, schema: JsonSchema | (() => JsonSchema)) => Validator> {
  const { Ajv2020, INT64_KEYWORD } = await import('./ajv.js')
  const regExp = await patternCompiler(patterns)
  const ajv = new Ajv2020({ ...AJV_OPTIONS, formats: FORMATS, code: { regExp }, ...others })
  ajv.addKeyword(INT64_KEYWORD)
  const seen = new Set<unknown>()
  return (name, schema) => {
    attempt(name, () => patternsIn(schema, seen).map((pattern) => regExp(pattern, 'u')))
    let compiled: Validator | undefined
    const validator: Validator = (value) => {
      compiled ??= attempt(name, () => ajv.compile(typeof schema === 'function' ? schema() : schema))
      const isValid = compiled(value)
      validator.errors = compiled.errors ?? null
      return isValid
    }
    return validator
  }
}

function attempt<Result>(name: string, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    const part = name.replace(/_(query|path|body|closed)$/, ' $1')
    throw new SpecError(`the schema of ${part} cannot be used: ${messageOf(error)}`)
  }
}

async function patternCompiler(patterns: Parameters<typeof validatorMaker>[0]) {
  // ajv requires `code` only for validators that are written to a file.
  if (patterns === 'native')
    return Object.assign((pattern: string, flags: string) => new RegExp(pattern, flags), { code: 'RegExp' })
  const { linearPattern, linearOrNone } = await import('./linear-pattern.js')
  return patterns === 'linear' ? linearPattern : linearOrNone
}

function patternsIn(schema: unknown, seen: Set<unknown>): readonly string[] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return []
  seen.add(schema)
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === 'const' || key === 'enum') return []
    if (key === 'pattern' && typeof value === 'string') return [value]
    const names = key === 'patternProperties' ? Object.keys(Object(value)) : []
    return [...names, ...patternsIn(value, seen)]
  })
}

/** Messages name all mistakes of a person; more come from a program. */
const MAX_MISTAKES = 100

export type Known = ReadonlyMap<string, Expected>

/** One phrase per parameter or field. */
export function findViolations(
  validator: Validator | undefined,
  value: unknown,
  location: Violation['in'],
  known: Known,
): readonly Violation[] {
  if (validator === undefined || validator(value) === true) return []
  const violations = new Map<string, Violation>()
  for (const mistake of (validator.errors ?? []).slice(0, MAX_MISTAKES)) {
    const violation = toViolation(mistake, value, location, known)
    if (!violations.has(violation.name)) violations.set(violation.name, violation)
  }
  return [...violations.values()]
}

function toViolation(mistake: Mistake, value: unknown, location: Violation['in'], known: Known): Violation {
  const steps = stepsOf(mistake.instancePath)
  const { missingProperty, additionalProperty } = mistake.params
  if (mistake.keyword === 'required') {
    const name = fieldName([...steps, String(missingProperty)])
    return { in: location, name, message: `${name} is required` }
  }
  if (typeof additionalProperty === 'string') {
    const name = excerpt(fieldName([...steps, additionalProperty]))
    return { in: location, name, message: `${name} is not allowed` }
  }
  const name = excerpt(fieldName(steps))
  const wording = steps.length === 1 ? known.get(steps[0] ?? '')?.wording : undefined
  const rule = wording === undefined ? (mistake.message ?? 'is not valid') : `must be ${wording}`
  const subject = name === '' ? `the ${location}` : name
  return { in: location, name, message: `${subject} ${rule} (it is ${quote(valueAt(value, steps))})` }
}

export function fieldName(steps: readonly string[]): string {
  return steps.map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')
}

export function stepsOf(instancePath: string): readonly string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function valueAt(value: unknown, steps: readonly string[]): unknown {
  let here = value
  for (const step of steps) {
    if (typeof here !== 'object' || here === null) return undefined
    here = Reflect.get(here, step)
  }
  return here
}
