import { describe, expect, it } from 'vitest'
import { EVERYTHING, filterExchanges } from '../../src/web/dashboard/exchange-filter.js'
import { readPlace, writePlace } from '../../src/web/dashboard/page-address.js'
import { anExchange } from './exchanges.js'

const EXCHANGES = [
  anExchange({ id: 1, query: 'status=sold' }),
  anExchange({ id: 2, status: 429, reason: 'storm', key: 'sandbox-pro' }),
  anExchange({ id: 3, method: 'POST', operation: 'createPet', status: 201 }),
  anExchange({ id: 4, status: null, reason: 'fault' }),
  anExchange({ id: 5, status: 503, reason: 'forced' }),
  anExchange({ id: 6, status: 404, path: '/v1/nothing', operation: null }),
]

describe('the filter of the list', () => {
  it.each([
    ['', [1, 2, 3, 4, 5, 6]],
    ['sold', [1]],
    ['429', [2]],
    ['STORM', [2]],
    ['sandbox-pro', [2]],
    ['createpet', [3]],
    ['post pets', [3]],
    ['nothing', [6]],
    ['post storm', []],
  ])('finds every word of "%s"', (text, ids) => {
    expect(filterExchanges(EXCHANGES, { ...EVERYTHING, text }).map(({ id }) => id)).toEqual(ids)
  })

  it.each([
    ['answered', [1, 3]],
    ['refused', [6]],
    ['limited', [2]],
    ['failed', [5]],
    ['cut', [4]],
  ] as const)('shows what was %s', (outcome, ids) => {
    expect(filterExchanges(EXCHANGES, { text: '', outcome }).map(({ id }) => id)).toEqual(ids)
  })

  it('is part of the address with the space, and is read from it', () => {
    const place = { space: 'checkout', filter: { text: '429 & pets', outcome: 'limited' as const } }
    expect(readPlace(writePlace(place))).toEqual(place)
    expect(writePlace({ space: '', filter: EVERYTHING })).toBe('')
    expect(readPlace('#outcome=whatever')).toEqual({ space: '', filter: EVERYTHING })
  })
})
