import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/openapi/load-contract.js'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

/** A contract whose operations are all mocked, by their paths. */
function contractOf(responsesOf: Readonly<Record<string, unknown>>): string {
  const paths = Object.fromEntries(
    Object.entries(responsesOf).map(([name, responses]) => [
      `/${name}`,
      { get: { operationId: `get-${name}`, responses } },
    ]),
  )
  return temporaryFile(
    'contract.json',
    JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, servers: [{ url: '/v1' }], paths }),
  )
}

const withHeader = (header: unknown, name = 'X-Note') => ({ 200: { description: 'd', headers: { [name]: header } } })

describe('a contract with responses that cannot be sent', () => {
  it.each([
    ['a status beyond 599', { 1000: { description: 'd' } }, 'responses.1000 must have a status'],
    ['a header name with a space', withHeader({}, 'X Note'), 'headers.X Note must be named by'],
    ['a bad name that looks like an extension', withHeader({}, 'x-ü'), 'headers.x-ü must be named by'],
    ['an example beyond Latin-1', withHeader({ example: '✓ ok' }), 'headers.X-Note.example cannot stand in a header'],
    ['a named example with a line break', withHeader({ examples: { a: { value: 'a\r\nb' } } }), 'examples.a.value'],
    ['a default with a control character', withHeader({ schema: { default: '\u0000' } }), 'schema.default cannot'],
    ['a constant', withHeader({ schema: { const: '€' } }), 'schema.const cannot'],
    ['one of an enumeration', withHeader({ schema: { enum: ['a', '€'] } }), 'schema.enum[1] cannot'],
    ['a media type beyond Latin-1', { 200: { description: 'd', content: { 'text/plain; a=✓': {} } } }, 'media type'],
    ['an invalid media type', { 200: { description: 'd', content: { json: {} } } }, 'content.json must be named'],
  ])('is refused with the place: %s', async (_what, responses, message) => {
    const error: unknown = await loadContract(contractOf({ a: responses })).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'SPEC_INVALID', message: expect.stringContaining('paths./a.get.responses') })
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
  })

  it('may have interim statuses, ranges and a default; only final statuses are responses', async () => {
    const documented = { description: 'd' }
    const responses = { 101: documented, 200: documented, '4XX': documented, default: documented }
    const [getA] = (await loadContract(contractOf({ a: responses }))).operations
    expect([...(getA?.responses.keys() ?? [])]).toEqual([200])
  })
})

/** A value that is only found when a response is generated. */
const generated = (value: string) => withHeader({ schema: { allOf: [{ type: 'string', default: value }] } })
const header = { schema: { type: 'string' }, example: 'x' }
const ownHeaders = { Trailer: header, 'Transfer-Encoding': header, Upgrade: header, 'X-Note': header }
const content = { 'application/json': { example: { a: 1 } } }

it('a mocked response that cannot be sent is a 500, and the log names operation and header', async () => {
  const [, [, openSandbox]] = transports as [unknown, (typeof transports)[number]]
  const responsesOf = {
    beyond: generated('✓'),
    broken: generated('a\r\nb'),
    interim: { 101: { description: 'd' } },
    own: { 200: { description: 'd', headers: ownHeaders } },
    empty: { 204: { description: 'd', content } },
  }
  const sandbox = await openSandbox({ spec: contractOf(responsesOf) })
  for (const name of ['beyond', 'broken', 'interim'])
    expect(await sandbox.get(`/${name}`)).toMatchObject({ status: 500, code: 'internal_error' })
  expect(sandbox.warnings).toEqual([
    expect.stringMatching(/get-beyond.*"x-note".*"✓"/),
    expect.stringMatching(/get-broken.*"x-note".*"a\\r\\nb"/),
    expect.stringMatching(/get-interim.*101/),
  ])

  // It has no header that is the connection's own, and no body where its status has none.
  const { status, headers: sent } = await sandbox.get('/own')
  expect([status, sent.get('x-note'), sent.get('trailer'), sent.get('upgrade')]).toEqual([200, 'x', null, null])
  expect(await sandbox.get('/empty')).toMatchObject({ status: 204, text: '' })
  const forced = await sandbox.call('/v1/empty', { headers: { prefer: 'code=204' } })
  expect(forced).toMatchObject({ status: 204, text: '' })
})
