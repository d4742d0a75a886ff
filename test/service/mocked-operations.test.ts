import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { transports } from '../support/transports.js'

const spec = join(packageDirectory, 'test/contract/specs/mocked.yaml')
const session = { cookie: 'a=1; session=x' }

describe.each(transports)('a mocked operation, %s', { timeout: 60_000 }, (_name, openSandbox) => {
  it('says nothing in the name of the sandbox, and no header twice', async () => {
    const { headers, reason } = await (await openSandbox({ spec })).get('/things')
    expect([reason, headers.get('x-version')]).toEqual([undefined, '3'])
    expect(headers.get('sunset')).toBe('Tue, 01 Jan 2030 00:00:00 GMT')
    expect(headers.get('deprecation')).toMatch(/^@\d{2,}$/)
  })

  it('answers 204 without Content-Length', async () => {
    const seen = await (await openSandbox({ spec })).call('/v1/things/7', { method: 'DELETE', headers: session })
    expect([seen.status, seen.headers.get('content-length')]).toEqual([204, null])
  })

  it('does not take a body with a Content-Encoding', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
    const seen = await (await openSandbox({ spec })).call('/v1/things', { method: 'POST', body: '{}', headers })
    expect(seen).toMatchObject({ status: 415, code: 'unsupported_media_type' })
  })
})
