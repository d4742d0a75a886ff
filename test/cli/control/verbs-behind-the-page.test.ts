import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectSandbox } from '../../../src/index.js'
import { spawnServe } from '../../support/spawned-serve.js'
import { temporaryFolder } from '../../support/temporary-files.js'
import { control, sandboxWith } from '../test-io.js'

const facts = async (controlUrl: string) => {
  const { settings, storm, faults, clock } = await connectSandbox(controlUrl).state()
  return { settings, storm: { ...storm, startedAt: '' }, faults, clock }
}

describe('control export', () => {
  it('prints flags that restore the settings in serve', async () => {
    const sandbox = await sandboxWith()
    await sandbox.storm.start({ rate: 0.3, for: '30s', every: '5m' })
    await sandbox.faults.set(['listPets:503@20%*3', '*:hang@1%'])
    await sandbox.settings.change({ latency: '1ms..2ms', rateLimit: false, limits: '5/min' })
    const { code, out, err } = await control(sandbox, 'export --as flags')
    expect([code, err]).toEqual([0, ''])
    const cwd = temporaryFolder()
    const { stdout } = await promisify(execFile)('sh', ['-c', `printf '%s\\n' ${out}`])
    const serve = await spawnServe(cwd, '--in-memory', '--seed', '1', ...stdout.trimEnd().split('\n'))
    onTestFinished(async () => void (await serve.end('SIGTERM')))
    expect(await facts(serve.controlUrl)).toEqual(await facts(sandbox.controlUrl))
  })

  it('reports on stderr overrides that cannot be exported', async () => {
    const sandbox = await sandboxWith()
    await sandbox.plan('sandbox-free', 'pro')
    const err = 'note: not exportable: the plan pro of the key sandbox-free.\n'
    expect(await control(sandbox, 'export')).toMatchObject({ code: 0, err })
  })
})

it('control shows the real service behind the sandbox in one line', async () => {
  const upstream = 'http://127.0.0.1:9/v1'
  const sandbox = await sandboxWith({ upstream })
  expect((await control(sandbox, 'status')).out).toContain(`\nupstream   ${upstream}, refuse writes\n`)
})
