import { expect, it } from 'vitest'
import { withoutRule } from '../../src/web/dashboard/fault-rules.js'

it('removes one fault rule, and keeps the counts of the others', () => {
  const spent = { operation: 'getPet', fault: 'hang', times: 2, left: 0 } as const
  const begun = { operation: '*', fault: 'status', status: 503, times: 5, left: 3 } as const
  const endless = { operation: '*', fault: 'slow-body', left: null } as const
  expect(withoutRule([spent, endless, begun, endless], 3)).toEqual([
    { operation: '*', fault: 'slow-body' },
    { operation: '*', fault: 'status', status: 503, times: 3 },
  ])
})
