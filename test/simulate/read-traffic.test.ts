import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import fc from '../support/fast-check.js'
import { harEntry, harText, ncsaLine, read } from './traffic.js'

const AT = Date.parse('2026-03-01T10:00:00Z')

const EXCHANGE =
  '{"event":"exchange","id":1,"at":"2026-03-01T10:00:00.000Z","key":"a","method":"GET","path":"/v1/pets"}'

describe('the form of traffic', () => {
  it.each([
    ['an archive', 'har', harText([{ at: AT }])],
    ['an archive that is laid out, behind a byte order mark', 'har', `\ufeff\n ${harText([{ at: AT }], 2)}`],
    ['a combined log', 'ncsa', ncsaLine({ at: AT })],
    ['a common log', 'ncsa', ncsaLine({ at: AT }).replace(/ "-" "curl\/8"$/, '')],
    ['a log behind other lines', 'ncsa', `Starting …\n\n${ncsaLine({ at: AT })}\n`],
    ['the log of a sandbox', 'log', `{"event":"ready"}\n${EXCHANGE}`],
  ])('is known from its beginning: %s', async (_what, form, text) => {
    expect(await read(text)).toMatchObject({ form, records: [{ at: AT, path: '/v1/pets' }], missing: undefined })
    expect(await read(gzipSync(text))).toMatchObject({ form, records: [{ at: AT }] })
    expect(await read(text, 1)).toMatchObject({ form, records: [{ at: AT }] })
  })

  it.each([
    ['is empty', ''],
    ['is in an unknown format', 'hello\nworld\n'],
    ['is in an unknown format', '{"entries": []}'],
    ['is a ZIP file', Buffer.from('PK\u0003\u0004')],
    ['is UTF-16', Buffer.from('\ufeff{"log":{}}', 'utf16le')],
  ])('is unknown if the input %s', async (problem, text) => {
    const message = expect.stringMatching(new RegExp(`^"traffic" ${problem}.* Give an HTTP archive`))
    await expect(read(text)).rejects.toMatchObject({ code: 'TRAFFIC_UNKNOWN', message })
  })
})

describe('an archive', () => {
  it('has the same entries in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary' })),
        fc.jsonValue(),
        fc.integer({ min: 1, max: 70 }),
        fc.nat(2),
        async (bodies, other, size, space) => {
          const entries = bodies.map((text) => ({ ...harEntry({ at: AT }), other, response: { content: { text } } }))
          const archive = { log: { creator: { entries: [{}], log: other }, pages: other, entries, comment: other } }
          const { records, bad } = await read(JSON.stringify(archive, undefined, space), size)
          expect(records.map(({ response: reply }) => reply?.body)).toEqual(JSON.parse(JSON.stringify(bodies)))
          expect(bad).toEqual([])
        },
      ),
    )
  })

  it('counts up to where it breaks off', async () => {
    const text = harText([{ at: AT }, { at: AT + 1 }, { at: AT + 2 }])
    const within = await read(text.slice(0, text.lastIndexOf('startedDateTime')))
    expect(within).toMatchObject({ missing: 'ends in the middle of entry 3' })
    expect(within.records.map(({ at }) => at)).toEqual([AT, AT + 1])
    expect((await read(text.slice(0, -2))).missing).toBe('ends after entry 3, before the archive does')
    const zipped = gzipSync(text)
    expect((await read(zipped.subarray(0, zipped.length - 9))).missing).toBe('is compressed and breaks off')
    expect((await read('{"log":{"version":"1.2"}}')).missing).toBe('has no entries where an archive has them')
  })

  it('continues after unreadable entries, and names them', async () => {
    const entries = [
      '{"startedDateTime":"2026-03-01T12:00:00+02:00","request":{"method":"get","url":"http://h:1/v1/pets?a=1#x"}}',
      '{"startedDateTime":"yesterday","request":{"method":"GET","url":"http://h/"}}',
      '{"startedDateTime":"2026-03-01T10:00:00Z"}',
      '{"a":nonsense}',
      'null',
      '{"startedDateTime":"2026-03-01T10:00:00","request":{"method":"GET","url":"data:text/plain,x"}}',
    ]
    const { records, bad, unit } = await read(`{"log":{"entries":[${entries.join(',')}]}}`)
    expect(records).toMatchObject([
      { place: 1, at: AT, method: 'GET', host: 'h:1', path: '/v1/pets', query: 'a=1', status: 0 },
      { place: 5, at: AT, path: '' },
    ])
    expect(bad).toEqual([
      { place: 2, problem: 'has no startedDateTime that can be read' },
      { place: 3, problem: 'has no request that can be read' },
      { place: 4, problem: 'is not JSON' },
    ])
    expect(unit).toBe('entry')
  })

  it('with indentation has lines as places', async () => {
    const text = harText([{ at: AT }, { at: AT }], 2)
    const { records, unit } = await read(text)
    const lines = text.split('\n')
    expect([unit, records.length]).toEqual(['line', 2])
    for (const { place } of records) {
      expect(lines[place - 1]?.trim()).toBe('{')
      expect(lines[place]).toContain('startedDateTime')
    }
  })
})

describe('an access log', () => {
  it.each([-420, 0, 330, 840])('is read in its own time zone, %d minutes from UTC', async (zone) => {
    expect((await read(ncsaLine({ at: AT }, zone))).records).toMatchObject([{ at: AT }])
  })

  it('continues after unreadable lines, and names them', async () => {
    const good = ncsaLine({ at: AT, key: 'Anna Bell', target: '/v1/pets?limit=5' })
    const lines = [
      good,
      'garbage "[',
      good.replace('Mar', 'Mrz'),
      good.replace('GET ', '\\x16\\x03 '),
      '',
      `shop.example:443 ${good}\r`,
      good.replace('/v1', 'http://API.example/v1').replace('200', '-'),
      good.slice(0, 30),
    ]
    const { records, bad } = await read(lines.join('\n'))
    expect(records).toMatchObject([
      { place: 1, user: 'Anna Bell', query: 'limit=5', status: 200, host: undefined },
      { place: 6, user: 'Anna Bell', host: 'shop.example:443' },
      { place: 7, host: 'api.example', path: '/v1/pets', status: 0 },
    ])
    expect(bad.map(({ place }) => place)).toEqual([2, 3, 4, 8])
  })

  it('is read in linear time, whatever its lines contain', async () => {
    const nasty = [' ['.repeat(50_000), '"'.repeat(50_000), `${'a '.repeat(50_000)}[`, `x [${'1'.repeat(50_000)}] "`]
    const { bad } = await read([ncsaLine({ at: AT }), ...nasty].join('\n'))
    expect(bad).toHaveLength(nasty.length)
  })
})

it('the log of a sandbox is read as "control requests -o json" prints it, and as a list on one line', async () => {
  await using sandbox = await createSandbox({ now: '2026-03-01T10:00:00Z', freeze: true })
  const headers = { authorization: 'Bearer sandbox-pro', host: 'shop.example' }
  await sandbox.fetch(`${sandbox.baseUrl}/pets?limit=0`, { headers })
  await sandbox.fetch(`${sandbox.baseUrl}/pets`, { headers })
  const exchanges = await sandbox.requests()
  const list = `[\n${exchanges.map((exchange) => `  ${JSON.stringify(exchange)}`).join(',\n')}\n]\n`
  for (const text of [list, JSON.stringify(exchanges)]) {
    const { form, records, bad, missing } = await read(text)
    expect({ form, bad, missing }).toEqual({ form: 'log', bad: [], missing: undefined })
    expect(records).toMatchObject([
      { at: AT, query: 'limit=0', status: 400, own: { key: 'sandbox-pro', space: '', ended: 'sent' } },
      { at: AT, query: '', status: 200, body: '' },
    ])
  }
  const cut = await read(list.slice(0, -40))
  expect(cut).toMatchObject({ missing: 'ends in the middle of a line', bad: [{ place: 3, problem: 'is not JSON' }] })
})
