import { describe, expect, it } from 'vitest'
import type { Conduct, Finding } from '../../src/conduct/conduct-view.js'
import type { Exchange } from '../../src/exchanges/exchange-record.js'
import { lanesOf } from '../../src/web/dashboard/client-lanes.js'
import { anExchange } from './exchanges.js'

const at = (second: number) => `2026-03-01T12:00:${String(second).padStart(2, '0')}.000Z`
const sentBy = (agent: string, facts: Partial<Exchange>) =>
  anExchange({ request: { headers: { 'user-agent': agent }, body: '' }, ...facts })
const told = (seconds: string) => ({ headers: { 'retry-after': seconds }, body: '' })
const finding = { rule: 'early-retry', key: 'sandbox', sender: '', exchanges: [3], count: 2 } as unknown as Finding
const conduct = { violations: [finding], warnings: [] } as unknown as Conduct

describe('the lanes of clients', () => {
  it('are by sender, or else by key and the product of the User-Agent', () => {
    const exchanges = [
      anExchange({ id: 4, sender: 'importer' }),
      sentBy('curl/8.5.0', { id: 3 }),
      sentBy('Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/140.0 Safari/537.36', { id: 2 }),
      anExchange({ id: 1, key: 'sandbox-pro' }),
    ]
    const { lanes } = lanesOf(exchanges, undefined)
    expect(lanes.map(({ client, name }) => [client, name])).toEqual([
      ['sandbox-pro', 'sandbox-pro'],
      ['sandbox/Chrome', 'Chrome'],
      ['sandbox/curl', 'curl'],
      ['importer', 'importer'],
    ])
  })

  it('fit the range to the log, with the waits of each client joined', () => {
    const exchanges = [
      anExchange({ id: 4, at: at(20), status: 429, response: told('60') }),
      anExchange({ id: 3, at: at(11), status: 429, response: told('2') }),
      anExchange({ id: 2, at: at(10), status: 503, response: told('2') }),
      anExchange({ id: 1, at: at(0) }),
    ]
    const { from, to, lanes } = lanesOf(exchanges, undefined)
    expect([from, to]).toEqual([Date.parse(at(0)), Date.parse(at(40))])
    expect(lanes[0]?.waits).toEqual([
      [0.25, 13 / 40],
      [0.5, 1],
    ])
    expect(lanes[0]?.marks).toMatchObject({ answered: [0], limited: [0.275, 0.5], failed: [0.25] })
  })

  it('leave out what is further than an hour from the newest exchange, but keep its client', () => {
    const exchanges = [
      sentBy('curl/8', { id: 3, at: at(20) }),
      sentBy('wget/1', { id: 2, at: '2030-12-05T00:00:00.000Z', status: 429, response: told('60') }),
      sentBy('curl/8', { id: 1, at: at(10) }),
    ]
    const { from, to, lanes } = lanesOf(exchanges, undefined)
    expect([from, to]).toEqual([Date.parse(at(10)), Date.parse(at(20))])
    expect(
      lanes.map(({ name, requests, marks, waits }) => [name, requests, Object.values(marks).flat(), waits]),
    ).toEqual([
      ['curl', 2, [0, 1], []],
      ['wget', 1, [], []],
    ])
  })

  it('have the findings of their requests, and those that break the rules come first', () => {
    const exchanges = [sentBy('wget/1', { id: 3 }), sentBy('curl/8', { id: 2 }), anExchange({ id: 1, key: 'other' })]
    const { lanes } = lanesOf(exchanges, conduct)
    expect(lanes.map(({ name, violations }) => [name, violations])).toEqual([
      ['wget', 2],
      ['other', 0],
      ['curl', 0],
    ])
  })
})
