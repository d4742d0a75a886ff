import type { Violation } from './contract.js'
import { excerpt, quote } from './excerpt.js'
import type { JsonSchema } from './json-schema.js'
import { ruleOf, sentenceOf } from './mistake-words.js'
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
    const known = violations.get(violation.name)
    // An alternative to null says more than that null is possible.
    const saysLittle = known === undefined || (known.rule === 'type' && known.limit === 'null')
    if (saysLittle || SAYS_MOST.test(violation.rule ?? '')) violations.set(violation.name, violation)
  }
  return [...violations.values()]
}

/** Among several rules. */
const SAYS_MOST = /^(?:format|enum|const)$/

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
  const message = `${subject} ${sentenceOf(mistake)} (it is ${quote(found)}${isNaive ? ', which has no time zone' : ''})`
  return { in: location, name, message, value: found, ...brokenRule(mistake, found) }
}

/** Bounds of whole numbers are one rule of ours. */
function brokenRule(mistake: Mistake, found: unknown): Pick<Violation, 'rule' | 'limit'> {
  const { params } = mistake
  if (mistake.keyword !== 'int64') {
    // ajv names `>=` beside the limit.
    const { comparison: _, ...asked } = params
    return { rule: ruleOf(mistake), limit: Object.values(asked)[0] }
  }
  if (typeof found !== 'bigint' && !Number.isInteger(found)) return { rule: 'type', limit: 'integer' }
  const { minimum, maximum, above, below } = params
  if (minimum !== null && Number(found) < Number(minimum))
    return above === null ? { rule: 'minimum', limit: minimum } : { rule: 'exclusiveMinimum', limit: above }
  return below === null ? { rule: 'maximum', limit: maximum } : { rule: 'exclusiveMaximum', limit: below }
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
