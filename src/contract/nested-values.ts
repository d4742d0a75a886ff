import type { Values, Violation } from './contract.js'
import { excerpt } from './excerpt.js'
import type { Validator } from './validator.js'
import { fieldName, stepsOf, valueAt } from './validators.js'

// Bodies of the packaged contract have none.

/** @returns the names of undeclared nested fields, which it removes */
export function dropUndeclared(closed: Validator, values: Values): readonly string[] {
  if (closed(values) === true) return []
  const errors = closed.errors ?? []
  // A part in a merge patch may lack required properties: all that it has seems undeclared.
  const parts = errors.flatMap(({ keyword, instancePath }) => (keyword === 'required' ? instancePath : []))
  return errors.flatMap(({ instancePath, params: { unevaluatedProperty: name } }) => {
    if (typeof name !== 'string' || parts.includes(instancePath)) return []
    const steps = stepsOf(instancePath)
    Reflect.deleteProperty(Object(valueAt(values, steps)), name)
    return [excerpt(fieldName([...steps, name]))]
  })
}

/** Numbers that a double cannot hold would be stored as null. */
export function lostNumbers(values: unknown, violations: readonly Violation[]): readonly Violation[] {
  // Most have none, and may have very many values.
  if (!isContainer(values) || !losesNumber(values)) return []
  return Object.entries(values)
    .filter(([name, value]) => losesNumber(value) && !violations.some((known) => known.name === name))
    .map(([name]) => ({ in: 'body', name, message: `${name} holds a number that cannot be kept exactly` }))
}

function isContainer(value: unknown): value is Values {
  return typeof value === 'object' && value !== null
}

function losesNumber(root: unknown): boolean {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'number' && !Number.isFinite(value)) return true
    if (!isContainer(value)) continue
    for (const inner of Array.isArray(value) ? value : Object.values(value))
      if (typeof inner === 'number' || isContainer(inner)) open.push(inner)
  }
  return false
}
