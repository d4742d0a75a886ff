import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import { packageDirectory } from '../../src/system/package-files.js'
import { healthOf } from '../support/health-of.js'
import { get, run, type TestIo, testIo } from './test-io.js'

const READY = /^\{"event":"ready".*\}$/m

/** `serve` on a free port, once it is ready. */
async function serving(argv: readonly string[] = [], io: TestIo = testIo()) {
  const place = argv.includes('--store') ? [] : ['--in-memory']
  const ended = runCli(['serve', '--port', '0', ...place, '--log', 'json', ...argv], io)
  const stop = () => {
    io.signal('SIGTERM')
    return ended
  }
  onTestFinished(async () => void (await stop()))
  const ready = await Promise.race([io.stderr.seen(READY), ended])
  if (typeof ready === 'number') throw new Error(`serve ended with ${ready}: ${io.stderr.text}`)
  const facts: { baseUrl: string; controlUrl: string; pid: number } = JSON.parse(ready[0])
  return { io, ended, facts, stop }
}

function runJson(io: TestIo): unknown {
  return JSON.parse(readFileSync(join(io.cwd, '.petstore-sandbox/run.json'), 'utf8'))
}

/** A port that accepts connections, and says nothing. */
async function takenPort() {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

describe('serve', () => {
  it('still ends at a signal at once while it reads a contract', async () => {
    const io = testIo()
    const spec = join(io.cwd, 'contract.yaml')
    writeFileSync(spec, 'openapi: 3.1.0\ninfo: {title: t, version: "1"}\npaths: {}\n')
    const ended = runCli(['serve', '--port', '0', '--in-memory', '--spec', spec], {
      ...io,
      onSignal(listener) {
        // By then it is read, and can be anything: signals ended the process as they do any other.
        writeFileSync(spec, '')
        return io.onSignal(listener)
      },
    })
    expect(await Promise.race([io.stderr.seen(READY).then(() => 'ready'), ended])).toBe('ready')
    io.signal('SIGTERM')
    expect(await ended).toBe(0)
  })

  it('announces its address once it responds there, with what it serves', async () => {
    const flags = ['--generate', 'pets=3', '--plan', 'pro', '--mock', 'listOrders']
    const { io, facts } = await serving(flags, testIo({ env: { PETSTORE_SANDBOX_PLAM: 'pro' } }))
    // The seed is random by default.
    expect(facts).toMatchObject({ pid: process.pid, plan: 'pro', records: { pets: 3 }, seed: 42 })
    expect(facts).toMatchObject({ stateful: ['listPets', 'createPet', 'getPet'], mocked: ['listOrders'] })
    expect(facts.controlUrl).toBe(facts.baseUrl.replace('/v1', '/__sandbox'))
    expect(await (await get(facts, '/pets')).json()).toHaveLength(3)
    expect(io.stdout.text).toBe('')
    expect(io.stderr.text).toContain('{"event":"warning","message":"PETSTORE_SANDBOX_PLAM: unknown option')
  })

  it('warns once of stored records that do not fit its contract, by resource and number', async () => {
    const { cwd } = testIo()
    const [spec, store] = [join(cwd, 'contract.yaml'), join(cwd, 'store.json')]
    const projects = readFileSync(new URL('../contract/specs/projects.yaml', import.meta.url), 'utf8')
    const start = (text: string) => {
      writeFileSync(spec, text)
      return serving(['--spec', spec, '--store', store])
    }
    const first = await start(projects)
    for (const name of ['A', 'B']) {
      const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify({ name }) }
      expect((await fetch(`${first.facts.baseUrl}/projects`, init)).status).toBe(201)
    }
    await first.stop()
    expect(first.io.stderr.text).not.toContain('do not fit')
    const again = await start(projects.replaceAll('minLength: 1', 'minLength: 2'))
    await again.stop()
    const warnings = again.io.stderr.text.split('\n').filter((line) => line.includes('do not fit'))
    expect(warnings).toEqual([expect.stringMatching(/"warning".*: 2 of 2 projects \(.*name.*--reset/)])
  })

  it('logs each exchange as a JSON line off a TTY', async () => {
    const { io, facts } = await serving(['--now', '2026-03-01T10:00:00Z', '--freeze'])
    await (await get(facts, '/pets?limit=1')).text()
    const [line = ''] = await io.stderr.seen(/^\{"event":"exchange".*\}$/m)
    expect(JSON.parse(line)).toMatchObject({
      ...{ at: '2026-03-01T10:00:00.000Z', space: '', key: 'sandbox', method: 'GET', path: '/v1/pets' },
      ...{ query: 'limit=1', operation: 'listPets', status: 200, reason: null },
    })
  })

  it.each([
    ['silent', /^Ready on (\S+) \(plan free, pets 60, orders 6, seed 42\); dashboard \S+\/__sandbox\/\n/],
    ['silent --limits 3/min', /^Ready on (\S+) \(plan free, limits 3\/min, pets 60, /],
    [
      `silent --limits 3/min,9/day --spec ${join(packageDirectory, 'test/contract/specs/projects.yaml')}`,
      /^Ready on (\S+) \(limits 3\/min,9\/day, /,
    ],
    ['pretty --mock getPet', /Ready on (\S+)[\s\S]*^ {2}stateful: 3 operations · mocked: 1 \(getPet\)$/m],
  ])('shows its banner, and exchanges unless it is silent: --log %s', async (flags, banner) => {
    const io = testIo()
    const ended = run(`serve --port 0 --in-memory --log ${flags}`, io)
    const [, baseUrl = ''] = await io.stderr.seen(banner)
    await (await get({ baseUrl }, '/pets')).text()
    io.signal('SIGINT')
    expect(await ended).toMatchObject({ code: 0, out: '' })
    expect(io.stderr.text.includes('GET')).toBe(!flags.startsWith('silent'))
  })
})

describe('the locator', () => {
  it('is there before the ready line, and gone after the stop', async () => {
    const { io, stop, facts } = await serving()
    const { baseUrl, controlUrl, pid } = facts
    const health = await healthOf(controlUrl)
    expect(runJson(io)).toMatchObject({ baseUrl, controlUrl, pid, startedAt: health.startedAt })
    expect(health).toMatchObject({ pid, startedAt: expect.stringMatching(/^\d{4}-.*Z$/) })
    expect(readdirSync(join(io.cwd, '.petstore-sandbox'))).toEqual(['.gitignore', 'run.json'])
    expect(await stop()).toBe(0)
    expect(existsSync(join(io.cwd, '.petstore-sandbox'))).toBe(false)
  })

  it('stays after a later sandbox has written its own', async () => {
    const { io, stop } = await serving()
    writeFileSync(join(io.cwd, '.petstore-sandbox/run.json'), '{"pid":1}')
    expect(await stop()).toBe(0)
    expect(runJson(io)).toEqual({ pid: 1 })
  })

  it('is restored for an earlier sandbox that still runs when a later sandbox stops', async () => {
    const io = testIo()
    const file = join(io.cwd, '.petstore-sandbox/run.json')
    mkdirSync(dirname(file))
    const stopped = spawnSync('true').pid
    for (const [earlier, stays] of [
      [{ pid: process.ppid }, true],
      [{ pid: stopped }, false],
      // Of an earlier process with the pid of this one, as in a container.
      [{ pid: process.pid, processStart: '1' }, false],
    ] as const) {
      writeFileSync(file, JSON.stringify(earlier))
      const later = await serving([], Object.assign(testIo(), { cwd: io.cwd }))
      expect(runJson(io)).toMatchObject({ pid: process.pid, baseUrl: later.facts.baseUrl })
      expect(await later.stop()).toBe(0)
      expect(existsSync(file) && runJson(io)).toEqual(stays && earlier)
    }
  })

  it('is in a folder that git ignores, with store and snapshots', async () => {
    const io = testIo()
    spawnSync('git', ['init', '--quiet'], { cwd: io.cwd })
    const store = ['--store', '.petstore-sandbox/store.json']
    const ended = runCli(['serve', '--port', '0', '--log', 'json', ...store], io)
    await io.stderr.seen(READY)
    const { stdout } = spawnSync('git', ['status', '--porcelain', '--untracked-files=all'], { cwd: io.cwd })
    expect(readdirSync(join(io.cwd, '.petstore-sandbox'))).toContain('store.json')
    expect(String(stdout)).toBe('')
    io.signal('SIGTERM')
    expect(await ended).toBe(0)
  })

  it('is found from subfolders, the nearest one first', async () => {
    const { io, facts } = await serving()
    const below = join(io.cwd, 'packages/app')
    mkdirSync(below, { recursive: true })
    const status = async (cwd: string) => (await run('control wait', testIo({ cwd }))).out.trim()
    expect(await status(below)).toBe(facts.baseUrl)
    const nearer = await serving([], testIo({ cwd: join(io.cwd, 'packages') }))
    expect(await status(below)).toBe(nearer.facts.baseUrl)
    expect(await status(io.cwd)).toBe(facts.baseUrl)
  })

  it('suffices to wait for a sandbox whose control plane needs a token, as the health check of the image does', async () => {
    const { io, facts } = await serving(['--control-token', 'a-token-of-its-own', '--base-path', '/api'])
    const waited = await run('control wait', testIo({ cwd: io.cwd }))
    expect(waited).toEqual({ code: 0, out: `${facts.baseUrl}\n`, err: '' })
  })

  it('that cannot be written is a warning', async () => {
    const io = testIo()
    writeFileSync(join(io.cwd, '.petstore-sandbox'), 'a file in its way')
    const { stop } = await serving([], io)
    expect(io.stderr.text).toContain('"event":"warning","message":"run.json could not be written')
    expect(await stop()).toBe(0)
  })
})

describe('stopping', () => {
  it('stops cleanly on a signal, which npm sends twice', async () => {
    const { io, ended, facts } = await serving()
    io.signal('SIGTERM')
    io.pass(100)
    io.signal('SIGTERM')
    expect(await ended).toBe(0)
    expect(io.listeners.size).toBe(1)
    expect(io.exits).toEqual([])
    await expect(fetch(facts.baseUrl)).rejects.toThrow()
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops at once on a later %s', async (signal, code) => {
    const { io, ended } = await serving()
    io.signal('SIGINT')
    io.pass(101)
    io.signal(signal)
    expect(io.exits).toEqual([code])
    await ended
  })

  it('is at once on SIGINT while a replica still waits for its log', async () => {
    const { server: silent, port } = await takenPort()
    const connected = once(silent, 'connection')
    const io = testIo()
    const ended = runCli(['serve', '--port', '0', '--redis', `redis://127.0.0.1:${port}`], io)
    const [socket] = await connected
    io.signal('SIGINT')
    expect(io.exits).toEqual([130])
    silent.close()
    socket.end('-ERR gone\r\n')
    await ended
  })

  it('stops when the control plane asks', async () => {
    const { ended, facts } = await serving()
    await fetch(`${facts.controlUrl}/shutdown`, { method: 'POST' })
    expect(await ended).toBe(0)
  })
})

describe('a start that fails', () => {
  it('names a taken port, exits with 1 and leaves no locator', async () => {
    const { port } = await takenPort()
    const io = testIo()
    expect((await run(`serve --in-memory --port ${port}`, io)).code).toBe(1)
    expect(io.stderr.text).toMatch(new RegExp(`^PORT_IN_USE: .*${port}.*--port.*\n$`))
    expect(existsSync(join(io.cwd, '.petstore-sandbox'))).toBe(false)
    expect(io.listeners.size).toBe(0)
  })

  it('says which sandbox has the port, and how to stop it from here', async () => {
    const { io: holder, facts } = await serving()
    const { port } = new URL(facts.baseUrl)
    const whoHasIt = async (io: TestIo) => (await run(`serve --in-memory --port ${port}`, io)).err
    const here = process.platform === 'linux' ? `, ${process.cwd()}` : ''
    expect(await whoHasIt(testIo())).toBe(
      `PORT_IN_USE: Port ${port} of 127.0.0.1 is in use by petstore-sandbox, pid ${process.pid}${here}. Stop it with: npx petstore-sandbox control --url http://127.0.0.1:${port} stop; or choose another port with --port, or 0 for any free one.\n`,
    )
    expect(await whoHasIt(testIo({ cwd: holder.cwd }))).toContain('Stop it with: npx petstore-sandbox control stop;')
  })
})

it('a folder of fixtures may not exist', async () => {
  const { code, err } = await run('serve --port 0 --in-memory --fixtures nodir', testIo())
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/FIXTURES_MISSING: "\S+nodir" does not exist, or contains none of pets\.json/),
  ])
})

it('a reset rereads the fixtures, or reports the problem', async () => {
  const pets = (count: number) =>
    JSON.stringify(Array.from({ length: count }, (_, index) => ({ id: index + 1, name: 'Rex', categoryId: 1 })))
  const io = testIo()
  const file = join(io.cwd, 'fixtures/pets.json')
  mkdirSync(dirname(file))
  writeFileSync(file, pets(2))
  const { facts } = await serving(['--fixtures', 'fixtures'], io)
  const reset = async (content: string | undefined) => {
    if (content === undefined) rmSync(file)
    else writeFileSync(file, content)
    const response = await fetch(`${facts.controlUrl}/reset`, { method: 'POST', headers: { connection: 'close' } })
    return `${response.status} ${await response.text()}`
  }
  expect(await reset(pets(5))).toMatch(/^200 .*"pets":5/)
  expect(await reset('[{}]')).toMatch(/^409 .*The fixtures cannot be loaded, so nothing was reset: .*pets\.json/)
  expect(await reset(undefined)).toMatch(/^409 .*contains none of/)
  expect(await reset(pets(1))).toMatch(/^200 .*"pets":1/)
})
