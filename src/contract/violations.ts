import type { Violation } from './contract.js'
import type { Expected } from './contract-data.js'
import { excerpt, quote } from './excerpt.js'
import type { Mistake, Validator } from './validators.js'

/** A message names every mistake that somebody made; so many were not made by a person. */
const MOST_MISTAKES = 100

/** A parameter or a field, by its name. */
export type Known = ReadonlyMap<string, Expected>

/**
 * Finds every way in which a value breaks its schema, one phrase for each
 * parameter or field, however many rules it breaks.
 */
export function findViolations(
  validator: Validator | undefined,
  value: unknown,
  location: Violation['in'],
  known: Known,
): readonly Violation[] {
  if (validator === undefined || validator(value) === true) return []
  const violations = new Map<string, Violation>()
  for (const mistake of (validator.errors ?? []).slice(0, MOST_MISTAKES)) {
    const violation = toViolation(mistake, value, location, known)
    if (!violations.has(violation.name)) violations.set(violation.name, violation)
  }
  return [...violations.values()]
}

function toViolation(mistake: Mistake, value: unknown, location: Violation['in'], known: Known): Violation {
  const steps = mistake.instancePath.split('/').slice(1).map(unescapeStep)
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

/** `tags[0].name` */
function fieldName(steps: readonly string[]): string {
  return steps.map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

function valueAt(value: unknown, steps: readonly string[]): unknown {
  let here = value
  for (const step of steps) {
    if (typeof here !== 'object' || here === null) return undefined
    here = Reflect.get(here, step)
  }
  return here
}
