import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageDirectory } from '../../src/system/package-files.js'
import { type SpawnedServe, spawnServe } from '../support/spawned-serve.js'
import { temporaryFolder } from '../support/temporary-files.js'

const SPEC = join(packageDirectory, 'test/contract/specs/keyed.yaml')

/** The built command, in the folder of a test. */
async function run(cwd: string, ...argv: readonly string[]) {
  const child = spawn(process.execPath, [join(packageDirectory, 'bin/petstore-sandbox.js'), ...argv], {
    cwd,
    env: { PATH: process.env.PATH, XDG_CONFIG_HOME: cwd },
  })
  child.stdin.end()
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

async function serving(...flags: readonly string[]): Promise<SpawnedServe & { readonly cwd: string }> {
  const cwd = temporaryFolder()
  const served = await spawnServe(cwd, '--in-memory', '--spec', SPEC, ...flags)
  onTestFinished(() => void served.end('SIGTERM'))
  return { ...served, cwd }
}

describe('a contract with a server', () => {
  it('is served under the path of the server, and called there', async () => {
    const { baseUrl, controlUrl, cwd } = await serving()
    expect(baseUrl).toBe(controlUrl.replace('/__sandbox', '/v2'))
    const state = await (await fetch(`${controlUrl}/state`)).json()
    expect(state).toMatchObject({ basePath: '/v2' })
    expect(await run(cwd, 'call', 'listNotes')).toMatchObject({ code: 0, out: '[]' })
    expect(await run(cwd, 'verify', '--spec', SPEC)).toMatchObject({ code: 0 })
    const env = 'process.stdout.write(new URL(process.env.PETSTORE_BASE_URL).pathname)'
    expect((await run(cwd, 'exec', '--spec', SPEC, '--', process.execPath, '-e', env)).out).toBe('/v2')
  })

  it('is served under --base-path, if that is given', async () => {
    const { baseUrl, cwd } = await serving('--base-path', '/api/v3')
    expect(new URL(baseUrl).pathname).toBe('/api/v3')
    expect(await run(cwd, 'call', 'listNotes')).toMatchObject({ code: 0, out: '[]' })
  })
})
