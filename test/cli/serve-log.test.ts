import { Writable } from 'node:stream'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { LineWriter } from '../../src/cli/line-writer.js'
import { Hints, prettyExchange } from '../../src/cli/pretty-log.js'
import { colourLevel, coloursFor, escapeControls } from '../../src/cli/print.js'
import { jsonExchange, openServeLog, type ServeLog } from '../../src/cli/serve-log.js'
import { cellWidth } from '../../src/cli/table.js'
import { inputField, type Verb } from '../../src/control/verb.js'
import type { VerbName } from '../../src/control/verb-map.js'
import { verbText } from '../../src/control/verb-text.js'
import { VERBS } from '../../src/control/verbs.js'
import { PROBLEMS } from '../../src/domain/problems.js'
import { type ExchangeRecord, exchangeView } from '../../src/exchanges/exchange-record.js'
import { Captured, testIo } from './test-io.js'

const plain = await coloursFor(0)

beforeAll(() => {
  vi.stubEnv('TZ', 'UTC')
  return () => vi.unstubAllEnvs()
})

function exchange(part: Partial<ExchangeRecord> = {}): ExchangeRecord {
  return {
    position: 1,
    how: 'sent',
    id: 1,
    at: Date.parse('2026-03-01T10:00:00.123Z'),
    arrivedAt: Date.parse('2026-03-01T10:00:00.123Z'),
    space: '',
    key: 'sandbox',
    method: 'GET',
    path: '/v1/pets',
    query: 'limit=5',
    operation: 'listPets',
    status: 200,
    reason: undefined,
    durationMs: 0.41234,
    waitingMs: 0,
    bodyMs: 0,
    remaining: 59,
    requestHeaders: [],
    requestBody: '',
    responseBody: '',
    ...part,
    responseHeaders: ['X-RateLimit-Remaining', String(part.remaining ?? 59), ...(part.responseHeaders ?? [])],
  }
}

const shown = (part?: Partial<ExchangeRecord>) => exchangeView(exchange(part))

const LIMITED = { status: 429, remaining: 0, responseHeaders: ['X-RateLimit-Limit', '60', 'Retry-After', '34'] }
const MINUTE = { ...LIMITED, reason: 'quota-minute' } as const
const GET_PET = { operation: 'getPet', path: '/v1/pets/1', query: '' }
const NO_CODE = 'Prefer: code="418" cannot be forced on listPets. Choose one of 200, 400.'
const WRONG_BODY =
  'Body: name must be a string; categoryId is required; status must be one of available, pending, sold.'
const CREATE_PET = { method: 'POST', query: '', operation: 'createPet' }
const HANG = { reason: 'fault', fault: 'hang' } as const
const NO_PATH = 'There is no such path. Look twice. Did you mean /v1/pets?'

function problem(code: string, message: string, status: number): Partial<ExchangeRecord> {
  return { status, responseBody: JSON.stringify({ code, message, status }) }
}

const KINDS: readonly (readonly [string, Partial<ExchangeRecord>])[] = [
  ['a response', {}],
  ['a space', { space: 'checkout' }],
  ['a deprecated operation', { ...GET_PET, responseHeaders: ['Deprecation', '@1'] }],
  ['the minute spent', MINUTE],
  ['the day spent', { ...LIMITED, reason: 'quota-day', responseHeaders: ['retry-after', '86400'] }],
  [
    'the minute spent, told by a date',
    { ...MINUTE, responseHeaders: ['Retry-After', 'Sun, 01 Mar 2026 10:00:34 GMT'] },
  ],
  ['the minute spent without a Retry-After', { ...MINUTE, responseHeaders: ['X-RateLimit-Reset', '1772359234'] }],
  ['a ban in a space', { ...LIMITED, reason: 'ban', space: 'checkout' }],
  ['a storm', { ...LIMITED, reason: 'storm' }],
  ['a forced 429', { ...LIMITED, reason: 'forced' }],
  ['a response that cannot be forced', { reason: 'forced', ...problem('invalid_request', NO_CODE, 400) }],
  ['no status at all', { status: undefined, reason: 'fault', fault: 'connection-reset' }],
  ['a mocked operation', { operation: 'listShops', reason: 'mock' }],
  ['latency', { durationMs: 9001.2, waitingMs: 9000.6 }],
  ['a slow body', { durationMs: 10_003, bodyMs: 10_001, reason: 'fault', fault: 'slow-body' }],
  ['a client that gave up', { status: undefined, how: 'left', durationMs: 502, waitingMs: 501 }],
  ['a hang that its client ended', { status: undefined, how: 'left', durationMs: 125_000, ...HANG }],
  ['a stop', { status: undefined, how: 'cut', durationMs: 1200, waitingMs: 1199 }],
  ['a fault with a status', { reason: 'fault', fault: 'slow-body' }],
  ['a clock that is elsewhere', { at: Date.parse('2030-12-04T23:59:00Z') }],
  ['a wrong body', { ...CREATE_PET, ...problem('invalid_request', WRONG_BODY, 400) }],
  ['no key', { key: 'none', ...problem('missing_api_key', PROBLEMS.missing_api_key.message, 401) }],
  ['no such path', { path: '/v1/pet', query: '', operation: undefined, ...problem('not_found', NO_PATH, 404) }],
  ['a long target', { path: '/v1/pets', query: `name=${'ポチ🐢'.repeat(20)}` }],
]

describe.each([undefined, 80, 60])('the pretty log, %s columns wide', (columns) => {
  const page = { wall: exchange().arrivedAt, ...(columns === undefined ? {} : { columns }) }

  it('shows what matters of each kind of response', () => {
    const entries = KINDS.map(([what, part]) => `# ${what}\n${prettyExchange(shown(part), plain, page)}`)
    expect(`\n${entries.join('\n')}\n`).toMatchSnapshot()
  })

  it.each(KINDS)('is one line, which only a reason makes wider than the terminal: %s', (_what, part) => {
    const line = prettyExchange(shown(part), plain, page)
    expect(line).not.toContain('\n')
    const isWider = cellWidth(line) >= (columns ?? Number.POSITIVE_INFINITY)
    // All but the reasons is left out first.
    if (isWider) expect(line).not.toContain('sandbox')
  })
})

describe('the pretty log', () => {
  it.each([
    [200, 32],
    [301, 36],
    [404, 33],
    [503, 31],
    [undefined, 35],
  ])('colours %s by its class', async (status, colour) => {
    const line = prettyExchange(shown({ status }), await coloursFor(1))
    expect(line).toContain(`\u001b[${colour}m${status ?? '---'}`)
  })

  it('suggests the smallest fix, never a reset', () => {
    const fix = (part: Partial<ExchangeRecord>) =>
      new Hints(() => 'petstore-sandbox control --url http://127.0.0.1:4011').after(shown(part), plain, undefined)
    for (const [, part] of KINDS) expect(fix(part)).not.toContain('reset')
    expect(fix({})).toBe('')
    expect(fix({ ...LIMITED, reason: 'storm' })).toMatch(/→ .*control --url http:\/\/127\.0\.0\.1:4011 storm stop$/)
    expect(fix(MINUTE)).toMatch(/→ retry in 34 s, or: petstore-sandbox control .* clock advance 34s$/)
    // With --any-key, no verb names the key.
    expect(fix({ ...LIMITED, reason: 'ban', key: 'unknown' })).toMatch(/clock advance 34s$/)
    expect(fix({ ...LIMITED, reason: 'ban', key: 'sandbox-banned' })).toMatch(
      /→ Use another key\. The sandbox always refuses this one\.$/,
    )
    const inSpace = new Hints(() => undefined).after(
      shown({ ...LIMITED, reason: 'ban', space: 'checkout' }),
      plain,
      undefined,
    )
    expect(inSpace).toBe('\n  → retry in 34 s, or: npx petstore-sandbox control --space checkout unban sandbox')
  })
})

/** What a log has written, as a terminal of these many columns gets it, or a pipe. */
async function logged(columns: number | undefined, act: (log: ServeLog, stream: Captured) => void): Promise<string> {
  const io = testIo({ tty: columns !== undefined, env: { NO_COLOR: '1' } })
  if (columns !== undefined) io.stderr.columns = columns
  const log = await openServeLog('pretty', io)
  act(log, io.stderr)
  log.flush()
  return io.stderr.text
}

describe('progress', () => {
  it('stays on its own row until the next output', async () => {
    const text = await logged(80, (log) => {
      log.progress?.('Making pets: 1 of 2 …')
      log.progress?.('Making pets: 2 of 2 …')
      log.note('Ready')
    })
    const row = '\r\u001b[K'
    expect(text).toBe(`${row}Making pets: 1 of 2 …${row}Making pets: 2 of 2 …${row}Ready\n`)
  })

  it('is not shown off a terminal', async () => {
    expect(await logged(undefined, (log) => expect(log.progress).toBeUndefined())).toBe('')
  })
})

describe('repeated exchanges', () => {
  it.each([80, undefined])('have a line each, and a hint once for each cause: %s columns', async (columns) => {
    const text = await logged(columns, (log) => {
      for (const part of [{}, MINUTE, MINUTE, {}, MINUTE, { ...MINUTE, key: 'other' }, { ...LIMITED, reason: 'ban' }])
        log.exchange?.(exchange(part as Partial<ExchangeRecord>))
    })
    const kinds = text
      .trimEnd()
      .split('\n')
      .map((line) => (/^ *→/.test(line) ? '→' : (/ (\d{3}) /.exec(line)?.[1] ?? '')))
    expect(kinds.join(' ')).toBe('200 429 → 429 200 429 429 → 429 →')
  })

  it('have their hint again after a change by the control plane', async () => {
    const text = await logged(80, (log) => {
      log.exchange?.(exchange(MINUTE))
      log.verb?.({ space: '', name: 'clock.advance', input: { by: '1m' }, output: {}, text: '', at: Date.now() })
      log.exchange?.(exchange(MINUTE))
    })
    expect(text.match(/→ retry/g)).toHaveLength(2)
  })
})

describe('a verb in the log', () => {
  const ADVANCED = { now: '2026-03-01T10:01:00.000Z', frozen: true }
  const RULE = { operation: '*', fault: 'status', status: 503 }
  const HANG_ONCE = { operation: 'getPet', fault: 'hang', times: 1 }
  const BANNED = { key: 'key-1234', always: null, ban: { until: 'x' } }
  const DONE: readonly (readonly [VerbName, input: unknown, output: unknown, line: string])[] = [
    ['clock.advance', { by: '1m' }, ADVANCED, 'Clock advanced by 1m to 2026-03-01T10:01:00.000Z, frozen.'],
    ['settings.change', { plan: 'pro', latency: null }, {}, 'Settings changed: plan=pro latency=none.'],
    ['faults.add', { rule: '*:503' }, [RULE], 'Fault added: *:503.'],
    ['faults.set', { rules: ['*:503', 'getPet:hang*1'] }, [RULE, HANG_ONCE], 'Faults: *:503 getPet:hang*1.'],
    ['keys.add', { key: 'sk_live_secret' }, { key: 'key-1234', plan: 'pro' }, 'Key key-1234 added, on the plan pro.'],
    ['keys.ban', { key: 'sk_live_secret' }, BANNED, 'Key key-1234 is banned until x.'],
    ['shutdown', {}, { stopping: true }, 'Stopping.'],
  ]

  it.each(DONE)('is one line: %s', async (name, input, output, line) => {
    const done = { space: 'a', name, input, output }
    const text = await logged(undefined, (log) => log.verb?.({ ...done, text: verbText(done), at: Date.now() }))
    expect(text).toMatch(/^[\d:]{8} {2}control {2}a: /)
    expect(text).toContain(`a: ${line}\n`)
  })

  const WITH_KEYS = Object.entries<Verb>(VERBS).filter(([, verb]) => inputField(verb, 'key') !== undefined)

  it.each(WITH_KEYS.map(([name]) => name))('never shows the raw key: %s', (name) => {
    const secret = 'sk_live_secret'
    const output = { key: 'label', removed: 'label', plan: 'pro', always: null, ban: null, id: 1 }
    expect(verbText({ name, input: { key: secret }, output })).not.toContain(secret)
  })
})

describe.each([
  ['pretty', (record: ExchangeRecord) => prettyExchange(exchangeView(record), plain)],
  ['json', jsonExchange],
] as const)('the %s log', (_form, write) => {
  it.each(['\n', '\r', '\u001b[2J', '\u009b31m', '\u2028', '\u202e', '\u0000', '\u007f'])(
    'escapes %j from clients',
    (evil) => {
      const line = write(exchange({ path: `/v1/${evil}`, query: evil, key: evil, method: evil, space: `a${evil}` }))
      expect(line).toBe(escapeControls(line))
    },
  )
})

it('the JSON log is valid JSON for any text', () => {
  const path = '/v1/"\\\u009b\u202e\n'
  expect(JSON.parse(jsonExchange(exchange({ path })))).toMatchObject({ event: 'exchange', path, durationMs: 0.412 })
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

  /** A stream whose reader takes a chunk at each `read`. */
  function slowStream() {
    const writes: string[] = []
    const slow = { writes, read: (_error?: Error) => {} }
    const write: Writable['_write'] = (chunk, _encoding, done) => {
      writes.push(String(chunk))
      slow.read = done
    }
    return Object.assign(slow, { writer: new LineWriter(new Writable({ highWaterMark: 1, write }), dropped) })
  }

  it('writes all lines of a turn at once', async () => {
    const { writes, writer } = slowStream()
    for (const line of ['a', 'b', 'c']) writer.write(() => line)
    expect(writes).toEqual([])
    await turn()
    expect(writes).toEqual(['a\nb\nc\n'])
  })

  it('buffers, then drops lines without a reader, and reports the number', async () => {
    const slow = slowStream()
    const { writes, writer } = slow
    writer.write(() => 'first')
    await turn()
    const line = 'x'.repeat(999)
    let made = 0
    const makeLine = () => {
      made++
      return line
    }
    for (let i = 0; i < 5000; i++) writer.write(makeLine)
    expect(made).toBe(1000)
    expect(writes).toEqual(['first\n'])
    slow.read()
    await turn()
    expect(writes.slice(1)).toEqual([`${`${line}\n`.repeat(1000)}4000 dropped\n`])
    slow.read()
    await turn()
    writer.write(() => 'again')
    await turn()
    expect(writes[2]).toBe('again\n')
  })

  it('does not write to a broken stream', async () => {
    const slow = slowStream()
    slow.writer.write(() => 'a')
    await turn()
    slow.read(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    await turn()
    slow.writer.write(() => 'b')
    await turn()
    expect(slow.writes).toHaveLength(1)
  })
})
