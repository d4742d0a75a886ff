import { describe, expect, it, vi } from 'vitest'
import { ExchangeLog, LogBudget } from '../../src/exchanges/exchange-log.js'
import { type ExchangeRecord, exchangeView, WITHOUT_VALUES } from '../../src/exchanges/exchange-record.js'

const LIMIT = 3

/** Request after request, each with a path, a status and headers of its own. */
function logOf(limit = LIMIT) {
  const budget = new LogBudget()
  const log = new ExchangeLog(limit, budget)
  const begin = (more: Partial<ExchangeRecord> = {}): ExchangeRecord => {
    const id = log.takeId()
    const record = exchange(id, more)
    log.add(record)
    return record
  }
  const end = ({ id, position, space }: ExchangeRecord, how: 'sent' | 'left' = 'sent') =>
    log.end({ id, position, space, how, durationMs: id + 0.5, waitingMs: 0, bodyMs: 0, connection: 1 })
  return { log, budget, begin, end }
}

function exchange(id: number, more: Partial<ExchangeRecord>): ExchangeRecord {
  return {
    ...WITHOUT_VALUES,
    ...{
      id,
      position: 100 + id,
      at: 1_700_000_000_000 + id,
      arrivedAt: 1_700_000_000_000 + id,
      space: '',
      key: 'sandbox',
    },
    ...{ method: 'GET', path: `/v1/pets/${id}`, query: '', operation: 'getPet', status: 200, reason: undefined },
    ...{
      fault: undefined,
      how: undefined,
      durationMs: 0,
      waitingMs: 0,
      bodyMs: 0,
      remaining: 60 - id,
    },
    requestHeaders: ['Host', `host-${id}`],
    requestBody: '',
    responseHeaders: Array.from({ length: 2 * (1 + (id % 3)) }, (_, index) => `${id}.${index}`),
    responseBody: `{"id":${id}}`,
    ...more,
  }
}

describe('the log of a space', () => {
  it('keeps the last exchanges whole when places are reused', () => {
    const { log, begin, end } = logOf()
    const broken = (n: number): Partial<ExchangeRecord> =>
      n % 2 === 0 ? { reason: 'storm', fault: 'slow-body', status: undefined } : {}
    for (let n = 1; n <= 4 * LIMIT; n++) {
      end(begin(broken(n)))
      const kept = Math.min(n, LIMIT)
      const last = Array.from({ length: kept }, (_, index) => n - kept + 1 + index)
      expect([...log]).toEqual(last.map((id) => exchange(id, { how: 'sent', durationMs: id + 0.5, ...broken(id) })))
    }
  })

  it('returns copies that later exchanges do not change', () => {
    const { log, begin, end } = logOf()
    const [first] = [begin(), begin()]
    const [read, saved] = [[...log], log.save()]
    const asRead = structuredClone([read, saved])
    if (first !== undefined) end(first)
    for (let n = 0; n < 4 * LIMIT; n++) end(begin())
    expect([read, saved]).toEqual(asRead)
  })

  it('reports begin and end to followers as copies', () => {
    const { log, begin, end } = logOf()
    const told: ExchangeRecord[] = []
    log.follow({ onBegan: (record) => told.push(record), onEnded: (record) => told.push(record), end() {} })
    for (let n = 0; n < 3 * LIMIT; n++) end(begin())
    const texts = told.map(({ path, how, durationMs }) => `${path} ${how} ${durationMs}`)
    const ids = Array.from({ length: 3 * LIMIT }, (_, index) => index + 1)
    expect(texts).toEqual(ids.flatMap((id) => [`/v1/pets/${id} undefined 0`, `/v1/pets/${id} sent ${id + 0.5}`]))
  })

  it.each([0, 1, LIMIT])('reports the end of an exchange that was dropped, with a limit of %i', (limit) => {
    const { log, begin, end } = logOf(limit)
    const told: ExchangeRecord[] = []
    const slow = begin()
    for (let n = 0; n < 2 * LIMIT; n++) end(begin())
    log.follow({ onEnded: (record) => told.push(record), end() {} })
    end(slow, 'left')
    expect(told).toEqual([exchange(slow.id, { how: 'left', durationMs: slow.id + 0.5 })])
    expect(log.save().unkept).toEqual([])
  })

  it('reuses a dropped place only for the next exchange', () => {
    const { log, begin } = logOf()
    for (let n = 0; n < 2 * LIMIT; n++) begin()
    while (log.dropOldest());
    expect([[...log], log.bytes]).toEqual([[], 0])
    const record = begin()
    expect([...log]).toEqual([record])
  })

  it('restores cleared exchanges, followed by those that have ended since', () => {
    const { log, begin, end } = logOf()
    for (let n = 0; n < LIMIT + 1; n++) end(begin())
    const [, ...before] = log
    const cleared = log.clear()
    end(begin())
    const [since] = log
    log.restore(cleared)
    expect([[...log], log.total]).toEqual([[...before, { ...since, id: LIMIT + 2 }], LIMIT + 2])
  })

  it('counts the exchanges under way, with or without a place, also after a restore', () => {
    const { log, begin, end } = logOf()
    const [first, second] = [begin(), begin()]
    for (let n = 0; n < LIMIT; n++) end(begin())
    expect(log.open).toBe(2)
    end(first)
    const cleared = log.clear()
    expect(log.open).toBe(0)
    begin()
    log.restore(cleared)
    expect(log.open).toBe(2)
    end(second)
    expect(log.open).toBe(1)
  })

  it('books restored exchanges, and reports their ends', () => {
    const { log, budget, begin, end } = logOf()
    const charge = vi.spyOn(budget, 'charge')
    const told: number[] = []
    log.follow({ onEnded: ({ position }) => told.push(position), end() {} })
    const [open, cleared, since] = [begin({ position: 1 }), log.clear(), begin({ position: 2 })]
    log.restore(cleared)
    expect(charge.mock.calls.reduce((sum, [bytes]) => sum + bytes, 0)).toBe(log.bytes)
    for (const record of [since, open]) end(record)
    expect(told).toEqual([2, 1])
  })

  it('has the same text as one that was loaded from its text while an exchange was under way', () => {
    const [{ log, begin, end }, loaded] = [logOf(), logOf()]
    const first = begin({ status: undefined, fault: 'hang' })
    loaded.log.load(JSON.parse(JSON.stringify(log.save())))
    for (const one of [end, loaded.end]) one(first, 'left')
    expect(JSON.stringify(loaded.log.save())).toBe(JSON.stringify(log.save()))
  })

  it('continues from a saved log', () => {
    const { log, begin, end } = logOf()
    for (let n = 0; n < LIMIT; n++) end(begin())
    begin()
    const other = new ExchangeLog(LIMIT, new LogBudget())
    other.load(JSON.parse(JSON.stringify(log.save())))
    expect(JSON.stringify(other.save())).toBe(JSON.stringify(log.save()))
    expect(other.save()).toEqual(log.save())
    expect(other.bytes).toBe(log.bytes)
  })
})

it('shows all headers of a request, repeated ones joined, whatever their names are', () => {
  const requestHeaders = ['X-A', '1', '__proto__', '2', 'constructor', '3', 'x-a', '4', '__proto__', '5']
  const { headers } = exchangeView(exchange(1, { requestHeaders })).request
  expect(Object.entries(headers)).toEqual([
    ['x-a', '1, 4'],
    ['__proto__', '2, 5'],
    ['constructor', '3'],
  ])
})
