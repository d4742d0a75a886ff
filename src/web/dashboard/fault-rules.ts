import type { FaultView } from '../../control/views.js'
import type { FaultRule } from '../../domain/faults.js'

/**
 * The rules without one of them. Setting a list arms its rules afresh, so each
 * of the others is given what it had left, and those that are over go too.
 */
export function withoutRule(faults: readonly FaultView[], index: number): readonly FaultRule[] {
  return faults
    .filter(({ left }, at) => at !== index && left !== 0)
    .map(({ left, ...rule }) => (left === null ? rule : { ...rule, times: left }))
}
