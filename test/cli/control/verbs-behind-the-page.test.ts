import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectSandbox } from '../../../src/index.js'
import { spawnServe } from '../../support/spawned-serve.js'
import { temporaryFolder } from '../../support/temporary-files.js'
import { control, get, sandboxWith } from '../test-io.js'

const facts = async (controlUrl: string) => {
  const { settings, storm, faults, clock } = await connectSandbox(controlUrl).state()
  return { settings, storm: { ...storm, startedAt: '' }, faults, clock }
}

describe('control export', () => {
  it.each(['flags', 'scenario'] as const)('prints %s that restore the settings in serve', async (form) => {
    const sandbox = await sandboxWith()
    await sandbox.storm.start({ rate: 0.3, for: '30s', every: '5m' })
    await sandbox.faults.set(['listPets:503@20%*3', '*:hang@1%'])
    await sandbox.settings.change({ latency: '1ms..2ms', rateLimit: false, limits: '5/min' })
    const { code, out, err } = await control(sandbox, `export --as ${form}`)
    expect([code, err]).toEqual([0, ''])
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'bent.yaml'), out)
    const script = form === 'flags' ? `printf '%s\\n' ${out}` : 'printf "%s\\n" --scenario ./bent.yaml'
    const { stdout } = await promisify(execFile)('sh', ['-c', script])
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

describe('control', () => {
  it('shows the state of the real service in one line', async () => {
    // No server listens at the port of the discard protocol.
    const upstream = 'http://127.0.0.1:9/v1'
    const sandbox = await sandboxWith({ upstream })
    expect((await control(sandbox, 'status')).out).toContain(`\nupstream   ${upstream}, no request yet\n`)
    await get(sandbox, '/pets', 'a-key-of-the-service')
    const since = 'failing (upstream_unreachable) since 2026-03-01T10:00:00.000Z'
    expect((await control(sandbox, 'status')).out).toContain(`\nupstream   ${upstream}, ${since}\n`)
  })

  it('lists overrides in one line, and resets them', async () => {
    const sandbox = await sandboxWith()
    await sandbox.storm.start({ rate: 0.3, for: '30s' })
    await sandbox.faults.add('listPets:503')
    const prints = async (line: string, out: string, err = '') =>
      expect(await control(sandbox, line)).toEqual({ code: 0, out, err })
    await prints('overrides', 'storm 30 %, 30.0 s left\n1 fault\n')
    await prints('overrides clear', '2 overrides cleared.\n')
    await prints('overrides', '', 'No changes from the start configuration.\n')
    await prints('undo', 'Undone: overrides clear.\n')
    expect(await sandbox.overrides()).toHaveLength(2)
    const refused = { code: 1, err: expect.stringMatching(/^NOT_FOUND: There is/) }
    expect(await control(sandbox, 'undo')).toMatchObject(refused)
  })

  it('lists the orders, one a line', async () => {
    const sandbox = await sandboxWith()
    const lines = (await control(sandbox, 'orders')).out.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(await sandbox.orders())
  })
})
