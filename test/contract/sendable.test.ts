import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadContract } from '../../src/contract/load-contract.js'
import { transports } from '../support/transports.js'

/** A contract with one operation that nobody but Prism answers. */
function contractOf(responses: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'spec-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'contract.json')
  const paths = { '/a': { get: { operationId: 'getA', responses } } }
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info: { title: 't', version: '1' }, paths }))
  return file
}

const withHeader = (header: unknown, name = 'X-Note') => ({ 200: { description: 'd', headers: { [name]: header } } })

describe('a contract that documents what no server can send', () => {
  it.each([
    ['a status beyond 599', { 1000: { description: 'd' } }, 'responses.1000 must have a status'],
    ['a status that is none', { abc: { description: 'd' } }, 'responses.abc must have a status'],
    ['a header name with a space', withHeader({}, 'X Note'), 'headers.X Note must be named by'],
    ['a header name with a line break', withHeader({}, 'X-\r\nNote'), 'must be named by'],
    ['an empty header name', withHeader({}, ''), 'must be named by'],
    ['a bad name that looks like an extension', withHeader({}, 'x-ü'), 'headers.x-ü must be named by'],
    ['an example beyond Latin-1', withHeader({ example: '✓ ok' }), 'headers.X-Note.example cannot stand in a header'],
    ['a named example with a line break', withHeader({ examples: { a: { value: 'a\r\nb' } } }), 'examples.a.value'],
    ['a default with a control character', withHeader({ schema: { default: '\u0000' } }), 'schema.default cannot'],
    ['an example of the schema', withHeader({ schema: { example: 'a\nb' } }), 'schema.example cannot'],
    ['a constant', withHeader({ schema: { const: '€' } }), 'schema.const cannot'],
    ['one of an enumeration', withHeader({ schema: { enum: ['a', '€'] } }), 'schema.enum[1] cannot'],
    ['a media type beyond Latin-1', { 200: { description: 'd', content: { 'text/plain; a=✓': {} } } }, 'media type'],
    ['a media type that is none', { 200: { description: 'd', content: { json: {} } } }, 'content.json must be named'],
    ['a line break in a media type', { 200: { description: 'd', content: { 'text/plain;\r\n': {} } } }, 'media type'],
  ])('is refused when it is read, with the place: %s', async (_what, responses, message) => {
    await expect(loadContract(contractOf(responses))).rejects.toMatchObject({
      code: 'SPEC_INVALID',
      message: expect.stringMatching(/paths\.\/a\.get\.responses/),
    })
    await expect(loadContract(contractOf(responses))).rejects.toThrow(message)
  })

  it('may have interim statuses, ranges and a default, of which only final statuses are answers', async () => {
    const documented = { description: 'd' }
    const responses = { 101: documented, 200: documented, '4XX': documented, default: documented }
    const [getA] = (await loadContract(contractOf(responses))).operations
    expect([...(getA?.responses.keys() ?? [])]).toEqual([200])
  })
})

describe.each(transports)('a mocked answer, %s', (_name, openSandbox) => {
  it.each([
    ['a value beyond Latin-1', withHeader({ schema: { allOf: [{ type: 'string', default: '✓' }] } }), /X-Note.*✓/i],
    ['a line break', withHeader({ schema: { allOf: [{ type: 'string', default: 'a\r\nb' }] } }), /X-Note/i],
    ['an interim status', { 101: { description: 'd' } }, /101/],
  ])('that cannot be sent is a 500, and the log names operation and header: %s', async (_what, responses, words) => {
    const sandbox = await openSandbox({ spec: contractOf(responses) })
    expect(await sandbox.get('/a')).toMatchObject({ status: 500, code: 'internal_error' })
    expect(sandbox.warnings).toEqual([expect.stringMatching(words)])
    expect(sandbox.warnings.join()).toContain('getA')
  })

  it('has no header that is the connection’s own', async () => {
    const header = { schema: { type: 'string' }, example: 'x' }
    const headers = { Trailer: header, 'Transfer-Encoding': header, Upgrade: header, 'X-Note': header }
    const sandbox = await openSandbox({ spec: contractOf({ 200: { description: 'd', headers } }) })
    const { status, headers: sent } = await sandbox.get('/a')
    expect([status, sent.get('x-note'), sent.get('trailer'), sent.get('upgrade')]).toEqual([200, 'x', null, null])
  })

  it('of a status without a body has none', async () => {
    const content = { 'application/json': { example: { a: 1 } } }
    const sandbox = await openSandbox({ spec: contractOf({ 204: { description: 'd', content } }) })
    expect(await sandbox.get('/a')).toMatchObject({ status: 204, text: '' })
    expect(await sandbox.call('/v1/a', { headers: { prefer: 'code=204' } })).toMatchObject({ status: 204, text: '' })
  })
})
