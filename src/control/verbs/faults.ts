import type { Space } from '../../core/space.js'
import type { FaultRule } from '../../domain/faults.js'
import { quoted } from '../../options/problem.js'
import { faultSchema, faultsSchema } from '../../options/values/fault.js'
import { fields } from '../fields.js'
import { VerbError, verb } from '../verb.js'
import type { FaultView } from '../views.js'

export function faultViews({ faults }: Space): readonly FaultView[] {
  return faults.map(({ rule, left }) => ({ ...rule, left: left ?? null }))
}

export const list = verb({
  method: 'GET',
  path: '/faults',
  summary: 'The ordered fault rules of a space; the first that matches wins',
  run: ({ space }) => faultViews(space),
})

export const set = verb({
  method: 'PUT',
  path: '/faults',
  summary: 'Replaces the ordered list of rules',
  body: 'rules',
  input: fields({ rules: faultsSchema }),
  run({ space }, { rules }) {
    checkOperations(space, rules)
    space.setFaults(rules)
    return faultViews(space)
  },
})

export const add = verb({
  method: 'POST',
  path: '/faults',
  summary: 'Adds a rule at the end of the list',
  body: 'rule',
  input: fields({ rule: faultSchema }),
  run({ space }, { rule }) {
    checkOperations(space, [rule])
    space.addFault(rule)
    return faultViews(space)
  },
})

export const clear = verb({
  method: 'DELETE',
  path: '/faults',
  summary: 'Removes all fault rules',
  run({ space }) {
    space.setFaults([])
    return faultViews(space)
  },
})

/** A rule for an operation that does not exist would never apply, and nobody would know why. */
export function checkOperations({ shared: { contract } }: Space, rules: readonly FaultRule[]): void {
  const known = contract.operations.map(({ id }) => id)
  for (const { operation } of rules) {
    if (operation === '*' || known.includes(operation)) continue
    throw new VerbError(
      'invalid_request',
      `The contract has no operation ${quoted(operation)}. Use * or one of ${known.join(', ')}.`,
    )
  }
}
