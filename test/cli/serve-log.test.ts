import { Writable } from 'node:stream'
import { Chalk } from 'chalk'
import { describe, expect, it } from 'vitest'
import { colourLevel } from '../../src/cli/colour.js'
import { escapeControls } from '../../src/cli/escape-controls.js'
import { jsonExchange, prettyExchange } from '../../src/cli/exchange-line.js'
import { LineWriter } from '../../src/cli/line-writer.js'
import type { ExchangeRecord } from '../../src/exchanges/exchange-record.js'
import { Captured } from './test-io.js'

const plain = new Chalk({ level: 0 })

function exchange(part: Partial<ExchangeRecord> = {}): ExchangeRecord {
  return {
    position: 1,
    how: 'sent',
    id: 1,
    at: Date.parse('2026-03-01T10:00:00.123Z'),
    space: '',
    key: 'sandbox',
    method: 'GET',
    path: '/v1/pets',
    query: 'limit=5',
    operation: 'listPets',
    status: 200,
    reason: undefined,
    durationMs: 0.41234,
    remaining: 59,
    requestHeaders: [],
    requestBody: '',
    responseHeaders: [],
    responseBody: '',
    ...part,
  }
}

describe('the pretty log', () => {
  it.each<[string, Partial<ExchangeRecord>]>([
    ['an answer', {}],
    ['a space', { space: 'checkout' }],
    ['the minute spent', { status: 429, reason: 'quota-minute', remaining: 0 }],
    ['a ban in a space', { status: 429, reason: 'ban', space: 'checkout' }],
    ['a storm', { status: 429, reason: 'storm' }],
    ['a 429 that was asked for', { status: 429, reason: 'forced' }],
    ['no status at all', { status: undefined, reason: 'fault' }],
  ])('shows %s', (_what, part) => expect(prettyExchange(exchange(part), plain)).toMatchSnapshot())

  it.each([
    [200, 32],
    [301, 36],
    [404, 33],
    [503, 31],
    [undefined, 35],
  ])('colours %s by its class', (status, colour) =>
    expect(prettyExchange(exchange({ status }), new Chalk({ level: 1 }))).toContain(
      `\u001b[${colour}m${status ?? '---'}`,
    ),
  )
})

describe.each([
  ['pretty', (record: ExchangeRecord) => prettyExchange(record, plain)],
  ['json', jsonExchange],
] as const)('the %s log', (_form, write) => {
  it.each(['\n', '\r', '\u001b[2J', '\u009b31m', '\u2028', '\u202e', '\u0000', '\u007f'])(
    'lets no client drive the terminal with %j',
    (evil) => {
      const line = write(exchange({ path: `/v1/${evil}`, query: evil, key: evil, method: evil, space: `a${evil}` }))
      expect(line).toBe(escapeControls(line))
    },
  )
})

describe('the JSON log', () => {
  it('can be read back whatever is in it', () => {
    const path = '/v1/"\\\u009b\u202e\n'
    expect(JSON.parse(jsonExchange(exchange({ path })))).toMatchObject({ event: 'exchange', path, durationMs: 0.412 })
  })
})

describe('colour', () => {
  const tty = new Captured(true)
  const pipe = new Captured(false)
  it.each([
    [tty, {}, 1],
    [pipe, {}, 0],
    [tty, { NO_COLOR: '1' }, 0],
    [tty, { NO_COLOR: '' }, 1],
    [tty, { TERM: 'dumb' }, 0],
    [pipe, { FORCE_COLOR: '1' }, 1],
    [pipe, { FORCE_COLOR: '1', TERM: 'dumb' }, 1],
    [tty, { FORCE_COLOR: '0' }, 0],
    [tty, { FORCE_COLOR: 'false' }, 0],
    [pipe, { FORCE_COLOR: '' }, 0],
    [tty, { NO_COLOR: '1', FORCE_COLOR: '1' }, 0],
  ])('%# follows stream and environment', (stream, env, level) => expect(colourLevel(stream, env)).toBe(level))
})

describe('the line writer', () => {
  const dropped = (count: number) => `${count} dropped`
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  it('writes all lines of a turn at once', async () => {
    const writes: string[] = []
    const stream = new Writable({
      write: (chunk, _encoding, done) => {
        writes.push(String(chunk))
        done()
      },
    })
    const writer = new LineWriter(stream, dropped)
    for (const line of ['a', 'b', 'c']) writer.write(() => line)
    expect(writes).toEqual([])
    await turn()
    expect(writes).toEqual(['a\nb\nc\n'])
  })

  it('buffers, then drops lines while nothing reads, and reports how many', async () => {
    const writes: string[] = []
    let read = () => {}
    const stream = new Writable({
      highWaterMark: 1,
      write: (chunk, _encoding, done) => {
        writes.push(String(chunk))
        read = done
      },
    })
    const writer = new LineWriter(stream, dropped)
    writer.write(() => 'first')
    await turn()
    const line = 'x'.repeat(999)
    let made = 0
    for (let i = 0; i < 5000; i++) {
      writer.write(() => {
        made++
        return line
      })
    }
    expect(made).toBe(1000)
    expect(writes).toEqual(['first\n'])
    read()
    await turn()
    expect(writes).toHaveLength(2)
    expect(writes[1]).toBe(`${`${line}\n`.repeat(1000)}4000 dropped\n`)
    read()
    await turn()
    writer.write(() => 'again')
    await turn()
    expect(writes[2]).toBe('again\n')
  })

  it('leaves a stream alone that has gone away', async () => {
    let attempts = 0
    const stream = new Writable({
      write: (_chunk, _encoding, done) => {
        attempts++
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
      },
    })
    const writer = new LineWriter(stream, dropped)
    writer.write(() => 'a')
    await turn()
    await turn()
    writer.write(() => 'b')
    await turn()
    expect(attempts).toBe(1)
  })
})
