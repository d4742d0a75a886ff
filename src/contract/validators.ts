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
export type Schemas = Readonly<Record<string, JsonSchema>>

export const AJV_OPTIONS = {
  allErrors: true,
  strict: false,
  // parseJson returns NaN or Infinity for a number that a double cannot hold.
  strictNumbers: true,
  validateSchema: false,
  logger: false,
} as const

/** At run time. @param patterns linear if clients choose the texts @throws SpecError for an unsupported pattern */
export async function compileValidators(
  schemas: Schemas,
  patterns: 'linear' | 'native',
  others: { readonly allErrors?: boolean } = {},
): Promise<Validators> {
  const { Ajv2020, INT64_KEYWORD } = await import('./ajv.js')
  const regExp = patterns === 'linear' ? (await import('./linear-pattern.js')).linearPattern : undefined
  const options = { ...AJV_OPTIONS, formats: FORMATS, ...others }
  const ajv = new Ajv2020(regExp === undefined ? options : { ...options, code: { regExp } })
  ajv.addKeyword(INT64_KEYWORD)
  const compiled = (name: string, schema: JsonSchema): Validator => {
    try {
      return ajv.compile(schema)
    } catch (error) {
      throw new SpecError(
        `the schema of ${name.replace(/_(query|path|body|closed)$/, ' $1')} cannot be used: ${messageOf(error)}`,
      )
    }
  }
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, compiled(name, schema)]))
}

/** Messages name all mistakes of a person; more come from a program. */
const MAX_MISTAKES = 100

/** Parameters or fields by name. */
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
