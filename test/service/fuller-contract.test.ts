import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openapiFile, packageDirectory } from '../../src/system/package-files.js'
import { temporaryFile } from '../support/temporary-files.js'
import { transports } from '../support/transports.js'

const GROWN = join(packageDirectory, 'test/contract/specs/grown.yaml')

/** The packaged contract with something changed in its text. */
function changedContract(from: string, to: string): string {
  const text = readFileSync(openapiFile, 'utf8')
  const changed = text.replace(from, () => to)
  if (changed === text) throw new Error(`the contract has no ${from}`)
  return temporaryFile('openapi.yaml', changed)
}

describe.each(transports)('--strict, %s', (_name, openSandbox) => {
  it('accepts responses that match the contract, and those of switches', async () => {
    const sandbox = await openSandbox({ strict: true, limits: '20/min' })
    const seen = []
    for (const path of ['/pets', '/pets?limit=0', '/pets/9007199254740993', '/pets/4711', '/store/orders', '/nowhere'])
      seen.push(await sandbox.get(path))
    for (const key of [null, 'sandbox-limited']) seen.push(await sandbox.get('/pets', key))
    seen.push(
      await sandbox.post('/pets', '{"name":"Big","categoryId":9223372036854775807}'),
      await sandbox.call('/v1/pets', { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }),
      await sandbox.call('/v1/pets', { method: 'DELETE' }),
      await sandbox.call('/v1/pets', { method: 'HEAD' }),
      await sandbox.call('/v1/pets', { headers: { prefer: 'code=503' } }),
    )
    expect(seen.map(({ status }) => status)).toEqual([200, 400, 200, 404, 200, 404, 401, 429, 201, 415, 405, 200, 503])
    expect(sandbox.warnings).toEqual([])
  })

  it('responds as documented to an unreadable request', async () => {
    const sandbox = await openSandbox({ strict: true, plan: 'enterprise' })
    const endless = `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)},"categoryId":1}`
    for (const body of ['{"name":', 'hello', '\ufeff{', endless, '{"name":"\\ud800"']) {
      expect(await sandbox.post('/pets', body)).toMatchObject({ status: 400, code: 'invalid_request' })
      expect(await sandbox.post('/pets', body, null)).toMatchObject({ status: 401, code: 'missing_api_key' })
      expect(await sandbox.post('/pets', body, 'wrong')).toMatchObject({ status: 401, code: 'invalid_api_key' })
    }
    expect(await sandbox.get('/pets?limit=%&status=%ff&%=%')).toMatchObject({ status: 400 })
    expect(sandbox.warnings).toEqual([])
  })

  it('accepts a documented error that a stateful operation returns on request', async () => {
    const sandbox = await openSandbox({ spec: GROWN, strict: true })
    const forced = await sandbox.call('/v1/categories/9', { headers: { prefer: 'code=404' } })
    expect(forced).toMatchObject({ status: 404, reason: 'forced' })
  })

  it('turns a response that violates the contract into a logged 500', async () => {
    const spec = changedContract('      description: A list of animals.\n', '      maxItems: 3\n')
    const sandbox = await openSandbox({ strict: true, spec, fixtures: join(packageDirectory, 'fixtures') })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 500, code: 'internal_error' })
    expect(sandbox.warnings.join()).toMatch(/listPets|GET \/pets.*breaks the contract/)
  })
})

describe('a contract with an unusable schema', () => {
  it.each([
    ['an invalid pattern', '['],
    ['a pattern that takes for ever', '^(?=a)a*$'],
  ])('is served without checking %s, also under --strict', async (_what, pattern) => {
    const before = '          description: The animals.\n          headers:\n'
    const note = `            X-Note: { schema: { type: string, pattern: '${pattern}' } }\n`
    const spec = changedContract(before, before + note)
    const [, [, openSandbox]] = transports as [never, (typeof transports)[number]]
    const sandbox = await openSandbox({ spec, strict: true })
    expect(await sandbox.get('/pets')).toMatchObject({ status: 200 })
  })
})
