import type { Violation } from './contract.js'
import type { Expected } from './contract-data.js'
import type { Mistake, Validator } from './validators.js'

/** Quoted values are cut to this, so that a message stays one that is read. */
const LONGEST_QUOTE = 60

/** A parameter or a field, by its name. */
export type Known = ReadonlyMap<string, Expected>

/**
 * Says every way in which a value breaks its schema; one sentence part for each
 * parameter or field, however many of its schema's rules it breaks.
 */
export function findViolations(
  validator: Validator | undefined,
  value: unknown,
  location: Violation['in'],
  known: Known,
): readonly Violation[] {
  if (validator === undefined || validator(value) === true) return []
  const violations = new Map<string, Violation>()
  for (const mistake of validator.errors ?? []) {
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
    const name = fieldName([...steps, additionalProperty])
    return { in: location, name, message: `${name} is not allowed` }
  }
  const name = fieldName(steps)
  const wording = steps.length === 1 ? known.get(steps[0] ?? '')?.wording : undefined
  const rule = wording === undefined ? (mistake.message ?? 'is not valid') : `must be ${wording}`
  const subject = name === '' ? `the ${location}` : name
  return { in: location, name, message: `${subject} ${rule} (it is ${quote(valueAt(value, steps))})` }
}

/** A value as a message shows it: short, and never a whole structure. */
export function quote(value: unknown): string {
  if (typeof value === 'string') {
    const cut = value.length > LONGEST_QUOTE
    // A pair of surrogates is not cut in two.
    const shown = cut ? value.slice(0, LONGEST_QUOTE).replace(/[\ud800-\udbff]$/, '') : value
    return `${JSON.stringify(shown)}${cut ? '…' : ''}`
  }
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'number' && !Number.isFinite(value)) return Number.isNaN(value) ? 'a fraction' : 'too large'
  const text = String(value)
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text
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
