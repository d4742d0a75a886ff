import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import { startSandbox } from '../../src/index.js'
import { type Drift, driftingService } from '../client/drifting-service.js'
import { junitViolations } from '../support/junit-schema.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { testIo } from './test-io.js'

const REAL_KEY = 'a-real-key-of-staging'
/** A client test: read, add, and read the new pet. */
const SUITE = `
  const call = (path, init = {}) => fetch(process.env.PETSTORE_BASE_URL + path, { ...init,
    headers: { Authorization: 'Bearer ' + process.env.PETSTORE_API_KEY, 'Content-Type': 'application/json' } });
  const { id } = await (await call('/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' })).json();
  const found = await (await call('/pets/' + id)).json();
  const [first] = await (await call('/pets?limit=1')).json();
  const missing = await call('/pets/4711');
  if (found.name !== 'Rex' || first.id !== id || missing.status !== 404) process.exit(3);`

async function exec(drift: Drift | undefined, ...flags: readonly string[]) {
  const service = await driftingService(drift, { apiKey: [`real=${REAL_KEY}:business`] })
  const io = testIo({ env: { PATH: process.env.PATH }, cwd: temporaryFolder() })
  writeFileSync(join(io.cwd, 'key'), REAL_KEY)
  const upstream = ['--upstream', service.baseUrl, '--upstream-api-key-file', 'key']
  const argv = ['exec', ...upstream, ...flags, '--', process.execPath, '--input-type=module', '-e', SUITE]
  const code = await runCli(argv, io)
  return { code, err: io.stderr.text, cwd: io.cwd, came: service.came }
}

describe('exec in front of a real service', () => {
  it('passes what passes on a faithful one, which is not written to', async () => {
    const { code, err, came } = await exec(undefined, '--fail-on', 'drift')
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('4 requests') })
    expect(came.map(({ method, key }) => [method, key])).toEqual([
      ['GET', REAL_KEY],
      ['GET', REAL_KEY],
    ])
  })

  it('fails with --fail-on drift, names the drift, and reports it as JUnit', async () => {
    const drift: Drift = (_came, goes) => {
      if (goes.status === 404) goes.headers['content-type'] = 'application/problem+json'
      return goes
    }
    const { code, err, cwd } = await exec(drift, '--fail-on', 'drift', '--report', 'run.xml')
    const line = 'drift, getPet: the media type is "application/problem+json", not application/json (once)'
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`--fail-on failed the run:\n  ${line}`) })
    const xml = readFileSync(join(cwd, 'run.xml'), 'utf8')
    expect(xml).toMatch(/<testcase classname="drift" name="getPet"[^>]*><failure/)
    expect(junitViolations(xml)).toEqual([])
    expect(xml + err).not.toContain(REAL_KEY)
  })

  it('only reports drift without --fail-on drift', async () => {
    const { code, cwd } = await exec(
      (_came, goes) => {
        goes.headers['x-ratelimit-reset'] = '60'
        return goes
      },
      '--report',
      'run.xml',
    )
    expect(code).toBe(0)
    const xml = readFileSync(join(cwd, 'run.xml'), 'utf8')
    expect(xml).toContain('drift, listPets: X-RateLimit-Reset is 60')
    expect(junitViolations(xml)).toEqual([])
  })
})

describe('control drift', () => {
  it('prints the drift of the upstream, and none without an upstream', async () => {
    const sandbox = await startSandbox()
    const io = testIo({ env: { PETSTORE_SANDBOX_URL: sandbox.controlUrl } })
    expect(await runCli(['control', 'drift'], io)).toBe(0)
    expect(io.stdout.text).toBe('0 responses of the real service, 0 drifted\n')
    await sandbox.close()
  })
})
