import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Sandbox } from '../../../src/api/controls.js'
import { startSandbox } from '../../../src/api/start.js'
import { runCli } from '../../../src/cli/run-cli.js'
import { connectSandbox } from '../../../src/index.js'
import { spawnServe } from '../../support/spawned-serve.js'
import { testIo } from '../test-io.js'

async function sandboxWith(options: Parameters<typeof startSandbox>[0] = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ seed: 1, now: '2026-03-01T10:00:00Z', freeze: true, ...options })
  onTestFinished(() => sandbox.close())
  return sandbox
}

async function control({ controlUrl }: Sandbox, ...argv: readonly string[]) {
  const io = testIo({ env: { PETSTORE_SANDBOX_URL: controlUrl } })
  const code = await runCli(['control', ...argv], io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'petstore-switches-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const facts = async (controlUrl: string) => {
  const { settings, storm, faults, clock } = await connectSandbox(controlUrl).state()
  return { settings, storm: { ...storm, startedAt: '' }, faults, clock }
}

describe('control export', () => {
  const bend = async (sandbox: Sandbox) => {
    await sandbox.storm.start({ rate: 0.3, for: '30s', every: '5m' })
    await sandbox.faults.set(['listPets:503@20%*3', '*:hang@1%'])
    await sandbox.settings.change({ latency: '1ms..2ms', rateLimit: false, limits: '5/min' })
  }

  it.each(['flags', 'scenario'] as const)('prints %s that restore the settings in serve', async (form) => {
    const sandbox = await sandboxWith()
    await bend(sandbox)
    const { code, out, err } = await control(sandbox, 'export', '--as', form)
    expect([code, err]).toEqual([0, ''])
    const cwd = folder()
    writeFileSync(join(cwd, 'bent.yaml'), out)
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      form === 'flags' ? `printf '%s\\n' ${out}` : 'printf "%s\\n" --scenario ./bent.yaml',
    ])
    const serve = await spawnServe(cwd, '--in-memory', '--seed', '1', ...stdout.trimEnd().split('\n'))
    onTestFinished(async () => void (await serve.end('SIGTERM')))
    expect(await facts(serve.controlUrl)).toEqual(await facts(sandbox.controlUrl))
  })

  it('reports on stderr overrides that cannot be exported', async () => {
    const sandbox = await sandboxWith()
    await sandbox.plan('sandbox-free', 'pro')
    expect(await control(sandbox, 'export')).toMatchObject({
      code: 0,
      err: 'note: not exportable: the plan pro of the key sandbox-free.\n',
    })
  })
})

describe('control', () => {
  it('shows the state of the real service in one line', async () => {
    // Nobody listens at the port of the discard protocol.
    const upstream = 'http://127.0.0.1:9/v1'
    const sandbox = await sandboxWith({ upstream })
    expect((await control(sandbox, 'status')).out).toContain(`\nupstream   ${upstream}, no request yet\n`)
    await fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: 'Bearer a-key-of-the-service' } })
    expect((await control(sandbox, 'status')).out).toContain(
      `\nupstream   ${upstream}, failing (upstream_unreachable) since 2026-03-01T10:00:00.000Z\n`,
    )
  })

  it('lists overrides in one line, and resets them', async () => {
    const sandbox = await sandboxWith()
    await sandbox.storm.start({ rate: 0.3, for: '30s' })
    await sandbox.faults.add('listPets:503')
    expect((await control(sandbox, 'status')).out).toContain('\noverrides  storm 30 %, 30.0 s left · 1 fault\n')
    expect(await control(sandbox, 'overrides')).toEqual({
      code: 0,
      out: 'storm 30 %, 30.0 s left\n1 fault\n',
      err: '',
    })
    expect((await control(sandbox, 'overrides', 'clear')).out).toBe('2 overrides cleared.\n')
    expect(await control(sandbox, 'overrides')).toEqual({
      code: 0,
      out: '',
      err: 'No changes from the start configuration.\n',
    })
    expect((await control(sandbox, 'undo')).out).toBe('Undone: overrides clear.\n')
    expect(await sandbox.overrides()).toHaveLength(2)
    expect(await control(sandbox, 'undo')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^NOT_FOUND: There is/),
    })
  })

  it('lists the orders, one a line', async () => {
    const sandbox = await sandboxWith()
    const { out } = await control(sandbox, 'orders')
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(await sandbox.orders())
  })

  it('writes the log as an HTTP archive', async () => {
    const sandbox = await sandboxWith()
    const headers = { authorization: 'Bearer sandbox' }
    for (const path of ['/pets', '/nothing']) await fetch(sandbox.baseUrl + path, { headers })
    const { code, out, err } = await control(sandbox, 'requests', '--har', '--status', '404')
    expect([code, err]).toEqual([0, ''])
    expect(JSON.parse(out).log.entries).toMatchObject([{ response: { status: 404 } }])
    expect(out).not.toContain('Bearer sandbox')
    expect((await control(sandbox, 'requests', '--har', '--status', '4xx')).err).toMatch(
      /^USAGE: --har takes one status/,
    )
  })
})
