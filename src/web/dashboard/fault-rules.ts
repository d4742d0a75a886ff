import type { FaultView } from '../../control/views.js'
import type { FaultRule } from '../../domain/faults.js'

/** Setting a list resets its counts, so each rule keeps its remaining count. */
export function withoutRule(faults: readonly FaultView[], index: number): readonly FaultRule[] {
  return faults
    .filter(({ left }, at) => at !== index && left !== 0)
    .map(({ left, ...rule }) => (left === null ? rule : { ...rule, times: left }))
}
