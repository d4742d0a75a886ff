import { describe, expect, it } from 'vitest'
import { markersOf } from '../../../src/web/docs/markers.js'
import { planRows } from '../../../src/web/docs/plan-rows.js'

describe('what the docs page shows', () => {
  it.each([
    [{}, []],
    [{ deprecated: true }, ['Deprecated']],
    [{ deprecated: true, 'x-deprecated-sunset': '2030-12-05' }, ['Deprecated, removed on 5 December 2030']],
    [{ 'x-deprecated-sunset': '2030-12-05T23:59:59Z' }, ['Deprecated, removed on 5 December 2030']],
    [{ deprecated: true, 'x-deprecated-sunset': 'next year' }, ['Deprecated, removed on next year']],
    [{ 'x-stability': 'beta' }, ['beta']],
  ])('marks an operation %o', (operation, texts) => {
    expect(markersOf(operation).map(({ text }) => text)).toEqual(texts)
  })

  it('writes a plan as a row, with whatever its limits are', () => {
    const plans = { free: { requestsPerMinute: 60, requestsPerDay: 1000 }, enterprise: { requestsPerMinute: 'custom' } }
    expect(planRows(plans)).toEqual([
      ['Free', '60', '1,000'],
      ['Enterprise', 'custom', ''],
    ])
    expect(planRows(undefined)).toEqual([])
  })
})
