import type { FaultView } from '../../control/views.js'
import type { FaultRule } from '../../domain/faults.js'

/** The rules without one of them. Setting a list starts its counts again, so each rule keeps its remaining count. */
export function withoutRule(faults: readonly FaultView[], index: number): readonly FaultRule[] {
  return faults
    .filter(({ left }, at) => at !== index && left !== 0)
    .map(({ left, ...rule }) => (left === null ? rule : { ...rule, times: left }))
}
