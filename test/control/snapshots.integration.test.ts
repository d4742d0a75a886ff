import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseJson, stringifyJson } from '../../src/contract/json.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { openSandboxCore } from '../../src/start/compose.js'
import { crc32 } from '../../src/store/checksum.js'
import { embeddedOptions } from '../support/embedded-options.js'
import { serviceRequest } from '../support/service-request.js'
import { temporaryFolder } from '../support/temporary-files.js'

/** Has every part of a snapshot. */
const EVENTFUL: SandboxOptions = {
  limits: '5/min,50/day',
  banAfter: 3,
  senders: 3,
  storm: '0.5,for=30s,every=5m,retry-after=2s',
  fault: ['getPet:503@20%*3', '*:hang*9'],
  latency: '0ms..1ms',
  now: '2026-03-01T12:00:00Z',
  freeze: true,
  seed: 1,
}

async function openSandbox(folder: string, options: SandboxOptions = EVENTFUL) {
  const warnings: string[] = []
  const resolved = embeddedOptions({ ...options, store: join(folder, 'store.json') })
  const core = await openSandboxCore(resolved, { onWarning: (message) => warnings.push(message) })
  await core.begin('')
  onTestFinished(() => core.close())
  const control = async (method: string, path: string, body?: unknown) => {
    const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const request = new Request(`http://localhost/__sandbox${path}`, init)
    request.headers.set('host', 'localhost')
    const response = await core.control(request)
    return { status: response.status, json: parseJson(await response.text()) as Record<string, unknown> }
  }
  /** Without counts and hits, because the log is not in a snapshot. */
  const all = async () => {
    const { counts: _log, active, ...state } = (await control('GET', '/state')).json
    const switches = (active as object[]).map((one) => ({ ...one, hits: undefined }))
    return [{ ...state, active: switches }, (await control('GET', '/resources/pets')).json]
  }
  return { core, control, all, warnings }
}

/** Writes any content with a valid checksum. */
function writeSnapshot(folder: string, name: string, snapshot: unknown): void {
  const text = stringifyJson(snapshot)
  mkdirSync(join(folder, 'snapshots'), { recursive: true })
  writeFileSync(join(folder, 'snapshots', `${name}.json`), `{"crc":${crc32(text)},"snapshot":${text}}\n`)
}

function readSnapshot(folder: string, name: string): Record<string, unknown> {
  const text = readFileSync(join(folder, 'snapshots', `${name}.json`), 'utf8')
  return (parseJson(text) as { snapshot: Record<string, unknown> }).snapshot
}

type Path = readonly (string | number)[]

function withValue(value: unknown, [name, ...rest]: Path, put: unknown): unknown {
  if (name === undefined) return put
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) }
  Reflect.set(copy, name, withValue(Reflect.get(copy, name), rest, put))
  return copy
}

async function eventful(folder: string) {
  const sandbox = await openSandbox(folder)
  await sandbox.control('POST', '/keys', { key: 'mine', plan: 'pro' })
  await sandbox.control('PUT', '/keys/sandbox-pro/ban', { for: '5m' })
  await sandbox.control('PUT', '/faults', ['getPet:503*3,retry-after=2s,after'])
  const ask = () => sandbox.core.service(serviceRequest({ headers: { authorization: 'Bearer sandbox' } }))
  for (let i = 0; i < 12; i++) await ask()
  await sandbox.control('PUT', '/snapshots/good')
  return sandbox
}

describe('a snapshot on disk', () => {
  it('restores the whole state', async () => {
    const folder = temporaryFolder()
    const sandbox = await eventful(folder)
    // Faults begin after the requests before them, by their ids.
    const all = async () => {
      const [state, ...others] = JSON.parse(
        stringifyJson(await sandbox.all())?.replaceAll(/"id":"\d+\.\d+"/g, '"id":""') ?? '',
      )
      // The undo is not part of a snapshot.
      return [{ ...state, undo: null }, ...others]
    }
    const before = await all()
    await sandbox.control('POST', '/reset')
    expect(await all()).not.toEqual(before)
    // Keys belong to the sandbox: a snapshot only has their plans.
    await sandbox.control('POST', '/keys', { key: 'mine', plan: 'pro' })
    expect(await sandbox.control('POST', '/snapshots/good/restore')).toMatchObject({ status: 200 })
    expect(await all()).toEqual(before)
    await sandbox.control('PUT', '/snapshots/again')
    // Storms and bans begin after the requests before them: those of a restored state, after the requests before it.
    const saved = (name: string): unknown =>
      parseJson(stringifyJson(readSnapshot(folder, name)).replaceAll(/,?"afterRequests":\d+/g, ''))
    expect(saved('again')).toEqual(saved('good'))
  })

  it('has the field names of its version', async () => {
    const folder = temporaryFolder()
    await eventful(folder)
    const names = (part: unknown) =>
      Object.keys(part as object)
        .sort()
        .join()
    const { version: _, state, clock, accounts, dice, ...others } = readSnapshot(folder, 'good')
    expect(names(others)).toBe('faults,plans,settings,storm')
    expect([state, clock, dice].map(names)).toEqual(['$sandbox,orders,pets', 'frozen,now', 'faults,latency,storm'])
    expect(new Set((accounts as object[]).map(names))).toEqual(new Set(['bans,kind,name,usage']))
  })

  it('from before a setting existed restores the default of the setting', async () => {
    const folder = temporaryFolder()
    const sandbox = await eventful(folder)
    writeSnapshot(folder, 'older', withValue(readSnapshot(folder, 'good'), ['settings', 'sunsetStatus'], undefined))
    await sandbox.control('PATCH', '/settings', { sunsetStatus: 410 })
    expect(await sandbox.control('POST', '/snapshots/older/restore')).toMatchObject({ status: 200 })
    expect((await sandbox.control('GET', '/settings')).json).toMatchObject({ sunsetStatus: 404 })
  })

  it.each<[string, Path, unknown]>([
    ['a version of another release', ['version'], 3],
    ['no version', ['version'], undefined],
    ['a pet that is not an object', ['state', 'pets', 0], 5],
    ['a pet twice', ['state', 'pets', 1, 'id'], 1],
    ['no ids left', ['state', '$sandbox', 'next', 'pets'], 9223372036854775807n],
    ['no orders', ['state', 'orders'], {}],
  ])('with a valid checksum and %s is refused and changes nothing', async (_what, path, wrong) => {
    const folder = temporaryFolder()
    const sandbox = await eventful(folder)
    writeSnapshot(folder, 'bad', withValue(readSnapshot(folder, 'good'), path, wrong))
    await sandbox.control('POST', '/clock/advance', { by: '1m' })
    const before = await sandbox.all()
    const { status, json } = await sandbox.control('POST', '/snapshots/bad/restore')
    expect([status, json.code]).toEqual([409, 'conflict'])
    expect(json.message).toContain('bad.json"')
    expect(await sandbox.all()).toEqual(before)
  })

  it.skipIf(process.platform === 'win32')('is refused immediately if its file is a FIFO', async () => {
    const folder = temporaryFolder()
    const sandbox = await openSandbox(folder, {})
    mkdirSync(join(folder, 'snapshots'))
    execFileSync('mkfifo', [join(folder, 'snapshots', 'pipe.json')])
    const { status, json } = await sandbox.control('POST', '/snapshots/pipe/restore')
    expect([status, json.message]).toEqual([500, expect.stringContaining('pipe.json" (it is a FIFO, not a file)')])
    expect(await sandbox.control('PUT', '/snapshots/pipe')).toMatchObject({ status: 500 })
  })
})

describe('the name of a snapshot', () => {
  it('has its own file on every file system', async () => {
    const folder = temporaryFolder()
    const sandbox = await openSandbox(folder, {})
    const names = ['A', 'CON', 'a', 'com1', 'con', 'lpt9.x', 'nul.txt', 'Nul', 'x_-1.Y']
    for (const name of names) {
      expect(await sandbox.control('PUT', `/snapshots/${name}`)).toMatchObject({ status: 200 })
      await sandbox.control('POST', '/resources/pets', { name, categoryId: 1 })
    }
    const files = readdirSync(join(folder, 'snapshots'))
    expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(names.length)
    expect(files.filter((file) => /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(file))).toEqual([])
    const { json } = await sandbox.control('GET', '/snapshots')
    expect(json).toEqual(names.toSorted().map((name) => ({ name })))
    for (const [count, name] of names.entries()) {
      await sandbox.control('POST', `/snapshots/${name}/restore`)
      expect((await sandbox.control('GET', '/resources/pets')).json).toHaveLength(60 + count)
      expect(await sandbox.control('DELETE', `/snapshots/${name}`)).toMatchObject({ status: 200 })
    }
    expect(readdirSync(join(folder, 'snapshots'))).toEqual([])
  })
})
