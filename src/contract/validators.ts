import type { Violation } from './contract.js'
import { excerpt, quote } from './excerpt.js'
import type { JsonSchema } from './json-schema.js'
import type { Mistake, Validator } from './validator.js'

/** By name: `<operation>_query`, `<operation>_path`, `<operation>_body`. */
export type Validators = Readonly<Record<string, Validator | undefined>>
export type Schemas = Readonly<Record<string, () => JsonSchema>>

/** Messages name all mistakes of a person; more come from a program. */
export const MAX_MISTAKES = 100

/** One phrase per parameter or field. */
export function findViolations(
  validator: Validator | undefined,
  value: unknown,
  location: Violation['in'],
): readonly Violation[] {
  if (validator === undefined || validator(value) === true) return []
  const violations = new Map<string, Violation>()
  for (const mistake of (validator.errors ?? []).slice(0, MAX_MISTAKES)) {
    const violation = toViolation(mistake, value, location)
    if (!violations.has(violation.name)) violations.set(violation.name, violation)
  }
  return [...violations.values()]
}

/** A date with time as Python and HTML write it. */
const NAIVE = /^[\d-]{10}T[\d:.]+$/

function toViolation(mistake: Mistake, value: unknown, location: Violation['in']): Violation {
  if (mistake.keyword === 'price') return { in: location, name: '', message: `the ${location} ${mistake.message}` }
  const steps = stepsOf(mistake.instancePath)
  const { missingProperty, additionalProperty } = mistake.params
  if (mistake.keyword === 'required') {
    const name = fieldName([...steps, String(missingProperty)])
    return { in: location, name, message: `${name} is required`, rule: 'required' }
  }
  if (typeof additionalProperty === 'string') {
    const name = excerpt(fieldName([...steps, additionalProperty]))
    return { in: location, name, message: `${name} is not allowed`, rule: 'additionalProperties' }
  }
  const name = excerpt(fieldName(steps))
  const subject = name === '' ? `the ${location}` : name
  const found = valueAt(value, steps)
  const isNaive = mistake.keyword === 'format' && NAIVE.test(String(found))
  const message = `${subject} ${mistake.message ?? 'is not valid'} (it is ${quote(found)}${isNaive ? ', which has no time zone' : ''})`
  return { in: location, name, message, rule: mistake.keyword, params: mistake.params, value: found }
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
