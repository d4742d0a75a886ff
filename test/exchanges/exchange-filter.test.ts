import { describe, expect, it } from 'vitest'
import { filterExchanges, unknownTerm, wordOf, wordsOf } from '../../src/exchanges/exchange-filter.js'
import { readPlace, writePlace } from '../../src/web/dashboard/page-address.js'
import { anExchange } from '../web/exchanges.js'

const EXCHANGES = [
  anExchange({ id: 1, query: 'status=sold' }),
  anExchange({ id: 2, status: 429, reason: 'storm', key: 'sandbox-pro' }),
  anExchange({ id: 3, method: 'POST', operation: 'createPet', status: 201 }),
  anExchange({ id: 4, status: null, reason: 'fault' }),
  anExchange({ id: 5, status: 503, reason: 'forced' }),
  anExchange({ id: 6, status: 404, path: '/v1/nothing', operation: null }),
  anExchange({ id: 7, durationMs: 600, response: { headers: {}, body: '[{"name":"Rex"}]' } }),
  anExchange({ id: 8, status: null, ended: null, durationMs: 900_000 }),
]

describe('the filter of the list', () => {
  it.each([
    ['', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['sold', [1]],
    ['STORM', [2]],
    ['sandbox-pro', [2]],
    ['createpet', [3]],
    ['post pets', [3]],
    ['nothing', [6]],
    ['post storm', []],
    ['status:429', [2]],
    ['4xx', [2, 6]],
    ['status:4xx -429', [6]],
    ['-key:sandbox-pro 4xx', [6]],
    ['op:none', [6]],
    ['path:/nothing', [6]],
    ['path:"status=sold"', [1]],
    ['method:post', [3]],
    ['reason:storm', [2]],
    ['status:none', [4]],
    ['>500ms', [7, 8]],
    ['>0.5s <1min', [7]],
    ['<500ms -2xx', [2, 4, 5, 6]],
    ['body:rex', [7]],
    ['ended:running', [8]],
    ['id:1,3', [1, 3]],
    ['ended:sent -op:listPets', [3, 6]],
    ['http://nowhere', []],
    ['outcome:answered', [1, 3, 7]],
    ['outcome:refused', [6]],
    ['outcome:limited', [2]],
    ['outcome:failed', [5]],
    ['outcome:cut', [4]],
  ])('finds every word of "%s"', (text, ids) =>
    expect(filterExchanges(EXCHANGES, text).map(({ id }) => id)).toEqual(ids),
  )

  it.each([
    ['at:12:00', [1, 2, 3]],
    ['at:12:00:1', [2]],
    ['at:2026-03-01T12:00:59', [3]],
    ['at:2026-03-01T12:00:10..12:01:00', [2, 3]],
    ['at:2026-03-01T23:59:00..2026-03-02T00:00:00', [4]],
    ['-at:12', [4, 5]],
  ])('filters by time: "%s"', (text, ids) => {
    const times = ['01T12:00:09.999', '01T12:00:10.000', '01T12:00:59.000', '01T23:59:59.999', '02T00:00:00.000']
    const exchanges = times.map((time, index) => anExchange({ id: index + 1, at: `2026-03-${time}Z` }))
    expect(filterExchanges(exchanges, text).map(({ id }) => id)).toEqual(ids)
  })

  it('has words, which may have blanks in quotes', () => {
    expect(wordsOf('4xx  body:"a b" -key:a ')).toEqual(['4xx', 'body:"a b"', '-key:a'])
  })

  it('tells clients apart by sender, or else by key and User-Agent', () => {
    const request = { headers: { 'user-agent': 'curl/8.5.0' }, body: '' }
    const exchanges = [anExchange({ id: 1, sender: 'importer', request }), anExchange({ id: 2, request })]
    const ids = (filter: string) => filterExchanges(exchanges, filter).map(({ id }) => id)
    expect([ids('client:importer'), ids('client:sandbox/curl'), ids('client:curl')]).toEqual([[1], [2], [2]])
  })

  it.each(['getPet:404:{"message":"not here now"}', 'getPet:404:{"a":"b"}', 'getPet:503 when query q=a b'])(
    'finds what the rule %s broke',
    (rule) => {
      const exchanges = [anExchange({ id: 1, rule }), anExchange({ id: 2, rule: 'getPet:404' }), anExchange({ id: 3 })]
      expect(filterExchanges(exchanges, wordOf('rule', rule)).map(({ id }) => id)).toEqual([1])
    },
  )

  it.each([
    ['sttus:429', { word: 'sttus:429', meant: 'status:429' }],
    ['4xx colour:red', { word: 'colour:red', meant: undefined }],
    ['>500', { word: '>500', meant: '>500ms' }],
    ['-kye:sandbox', { word: '-kye:sandbox', meant: '-key:sandbox' }],
    ['status:429 >500ms http://nowhere pets', undefined],
  ])('names the unknown term of "%s", and what may be meant', (text, term) => expect(unknownTerm(text)).toEqual(term))

  it('is written to the address with the space, and read from it', () => {
    const place = { space: 'checkout', filter: '429 & pets', exchange: 168, tab: 'keys' as const }
    expect(readPlace(writePlace(place))).toEqual(place)
    expect(writePlace({ ...place, tab: 'exchange' })).toBe('#space=checkout&filter=429+%26+pets&exchange=168')
    expect(readPlace('#exchange=168').tab).toBe('exchange')
    const plain = { space: '', filter: '', exchange: undefined, tab: 'log' as const }
    expect(writePlace(plain)).toBe('')
    expect(readPlace('#exchange=x&tab=y')).toEqual(plain)
  })
})
