import { describe, expect, it } from 'vitest'
import type { Exchange } from '../../src/exchanges/exchange-record.js'
import { chainOf, laterBy } from '../../src/web/dashboard/exchange-chain.js'
import { idsText } from '../../src/web/dashboard/texts.js'
import { anExchange } from './exchanges.js'

const START = Date.parse('2026-03-01T12:00:00.000Z')

/** A 429 with a wait, `ms` after the start; `ignored` is what it ignored. */
function refused(id: number, ms: number, client: string, ignored?: number): Exchange {
  const at = new Date(START + ms).toISOString()
  return anExchange({
    ...{ id, at, receivedAt: at, durationMs: 0, status: 429, reason: 'storm' },
    request: { headers: { 'user-agent': `${client}/1` }, body: '' },
    response: { headers: { 'retry-after': '2' }, body: '' },
    ...(ignored !== undefined && { disobeyed: { rule: 'early-retry', exchange: ignored } }),
  })
}

describe('what led to an exchange', () => {
  it('is its own refusal, also if that ignored the one of another client', () => {
    const [mobile, first, second] = [
      refused(178, 0, 'mobile'),
      refused(179, 822, 'checkout', 178),
      refused(180, 1176, 'checkout', 179),
    ]
    const log = [second, first, mobile]
    const chain = chainOf(second, undefined, log, [])
    expect(chain?.start).toMatchObject({ exchange: 178, teller: 'mobile' })
    expect(chain?.ignored).toMatchObject({ exchange: 179, teller: undefined })
    expect(chain?.ignored && laterBy(second, chain.ignored, undefined)).toBe(354)
    expect(chainOf(first, undefined, log, [])?.ignored).toMatchObject({ exchange: 178, teller: 'mobile' })
  })

  it('has only requests within the wait of its first response', () => {
    const log = [0, 500, 1900, 2400, 2800].map((ms, index) =>
      refused(18 + 2 * index, ms, 'worker', index === 0 ? undefined : 16 + 2 * index),
    )
    const chainAt = (index: number) => chainOf(log[index] ?? anExchange(), undefined, log.toReversed(), [])
    expect(chainAt(2)?.early.map(({ id }) => id)).toEqual([20, 22])
    expect(chainAt(0)?.early.map(({ id }) => id)).toEqual([20, 22])
    expect(chainAt(4)).toMatchObject({ start: { exchange: 22 }, early: [{ id: 24 }, { id: 26 }] })
  })
})

describe('ids in a text', () => {
  it.each<[ids: readonly number[], text: string]>([
    [[3], '3'],
    [[18, 19, 20], '18–20'],
    [[18, 19, 22, 23, 27], '18–19, 22–23, 27'],
    [[1, 3, 5, 7], '1, 3, 5 …'],
  ])('%j are %s', (ids, text) => expect(idsText(ids)).toBe(text))
})
