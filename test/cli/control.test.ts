import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Sandbox } from '../../src/api/controls.js'
import { startSandbox } from '../../src/api/start.js'
import { controlCommand, type FoundSandbox, findSandbox } from '../../src/cli/control/find-sandbox.js'
import { connect } from '../../src/cli/control/verb-commands.js'
import { runCli } from '../../src/cli/run-cli.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { hostileServer } from '../client/hostile-server.js'
import { healthOf } from '../support/health-of.js'
import { type TestIo, testIo } from './test-io.js'

const NOON = '2026-03-01T12:00:00.000Z'

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ now: NOON, freeze: true, seed: 1, ...options })
  onTestFinished(() => sandbox.close())
  return sandbox
}

async function run(io: TestIo, ...argv: readonly string[]) {
  const code = await runCli(['control', ...argv], io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

/** Runs a verb against a sandbox that the environment names. */
function control(sandbox: Sandbox, ...argv: readonly string[]) {
  return run(testIo({ env: { PETSTORE_SANDBOX_URL: sandbox.controlUrl } }), ...argv)
}

async function json(sandbox: Sandbox, ...argv: readonly string[]) {
  const { code, out, err } = await control(sandbox, ...argv, '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

function get(sandbox: Sandbox, path: string, key = 'sandbox') {
  return fetch(sandbox.baseUrl + path, { headers: { Authorization: `Bearer ${key}` } })
}

describe('control', () => {
  it('shows the state of a space', async () => {
    const sandbox = await start({ plan: 'pro', storm: '0.5,for=30s' })
    await sandbox.ban('sandbox-free')
    expect((await control(sandbox, 'status')).out).toBe(
      `service    ${sandbox.baseUrl}
control    ${sandbox.controlUrl}
space      the default one
clock      2026-03-01T12:00:00.000Z (frozen)
settings   plan=pro
overrides  sandbox-free banned, 5 min left
storm      50 % of requests get 429 for 30s, since 2026-03-01T12:00:00.000Z
faults     none
counts     60 pets, 6 orders, 0 requests, 0 more spaces

key                 plan        left/minute  left/day         ban
sandbox             pro         300/300      10000/10000
sandbox-free        free        60/60        1000/1000        banned until 2026-03-01T12:05:00.000Z
sandbox-pro         pro         300/300      10000/10000
sandbox-business    business    1000/1000    100000/100000
sandbox-enterprise  enterprise  10000/10000  1000000/1000000
sandbox-limited     free        0/60         1000/1000        always limited
sandbox-banned      free        60/60        1000/1000        always banned
sandbox-revoked     free        60/60        1000/1000        always revoked
`,
    )
    expect(await json(sandbox, 'status')).toEqual(JSON.parse(JSON.stringify(await sandbox.state())))
    const io = testIo({ tty: true, env: { PETSTORE_SANDBOX_URL: sandbox.controlUrl } })
    io.stdout.columns = 60
    await sandbox.settings.change({ latency: '1ms', banAfter: 3, retryAfter: 'none' })
    expect((await run(io, 'status')).out).toContain(
      '\noverrides  ban-after 3 · retry-after none · latency 1ms ·\n           sandbox-free banned, 5 min left\n',
    )
  })

  it('moves the clock', async () => {
    const sandbox = await start()
    expect((await control(sandbox, 'clock', 'advance', '90s')).out).toBe('2026-03-01T12:01:30.000Z (frozen)\n')
    expect((await control(sandbox, 'clock', 'set', '2026-03-02')).out).toBe('2026-03-02T00:00:00.000Z (frozen)\n')
    expect(await json(sandbox, 'clock', 'resume')).toMatchObject({ frozen: false })
    expect(await json(sandbox, 'clock', 'freeze')).toMatchObject({ frozen: true })
    expect(await json(sandbox, 'clock', 'show')).toEqual(await sandbox.clock.show())
    expect(await json(sandbox, 'clock', 'reset')).toMatchObject({ frozen: false })
  })

  it('resets', async () => {
    const sandbox = await start()
    await sandbox.pets.remove(1)
    expect((await control(sandbox, 'reset')).out).toBe('Reset the default space to its start, with 60 pets.\n')
    expect(await sandbox.pets.list()).toHaveLength(60)
  })

  it('changes settings, written like flags', async () => {
    const sandbox = await start()
    const pairs = [
      'plan=pro',
      'ban-after=never',
      'banDuration=1m',
      'no-rate-limit=yes',
      'latency=1ms..2ms',
      'limits=5/min',
    ]
    expect(await json(sandbox, 'settings', 'set', ...pairs)).toMatchObject({
      plan: 'pro',
      banAfter: 'never',
      banDuration: '1m',
      rateLimit: false,
      latency: '1ms..2ms',
      limits: '5/min',
    })
    expect(await json(sandbox, 'settings', 'set', 'latency=none', 'limits=none', 'rate-limit=on')).toMatchObject({
      latency: null,
      limits: null,
      rateLimit: true,
    })
    expect((await control(sandbox, 'settings', 'show')).out).toMatch(/^plan +pro\nrate-limit +true\nban-after +never\n/)
  })

  it.each([
    [
      ['plann=pro'],
      2,
      /^USAGE: "plann" is not a setting; the settings are plan, .*; did you mean plan\? See petstore-sandbox control settings set --help\.\n$/,
    ],
    [['storm=1'], 2, /^USAGE: "storm" is not a setting/],
    [['plan'], 2, /^USAGE: "plan" must be <name>=<value>, for example plan=pro\. See .*\n$/],
    [['plan=pro', 'plan=free'], 2, /^USAGE: "plan" is given twice\. See .*\n$/],
    [['plan=gold'], 1, /^INVALID_REQUEST: plan "gold": must be free, pro, business or enterprise\.\n$/],
  ])('refuses the settings %j', async (pairs, code, err) => {
    const sandbox = await start()
    const result = await control(sandbox, 'settings', 'set', ...pairs)
    expect(result).toEqual({ code, out: '', err: expect.stringMatching(err) })
    expect((await sandbox.settings.show()).plan).toBe('free')
  })

  it('adds, moves and removes keys', async () => {
    const sandbox = await start()
    expect((await control(sandbox, 'keys', 'add', 'team-a', 'pro')).out).toBe(
      'key     plan  left/minute  left/day     ban\nteam-a  pro   300/300      10000/10000\n',
    )
    expect(await json(sandbox, 'plan', 'team-a', 'business')).toMatchObject({ key: 'team-a', plan: 'business' })
    expect(await control(sandbox, 'keys', 'remove', 'team-a')).toMatchObject({ out: 'Key team-a removed.\n' })
    expect(await json(sandbox, 'keys', 'list')).toHaveLength(8)
    expect(await control(sandbox, 'keys', 'remove', 'team-a')).toMatchObject({
      code: 0,
      out: 'There is no such key.\n',
    })
    expect(await control(sandbox, 'unban', 'team-a')).toMatchObject({ code: 0, out: 'There is no such key.\n' })
  })

  it('bans and unbans a key, in the space that it names', async () => {
    const sandbox = await start()
    await control(sandbox, 'ban', 'sandbox-pro~checkout', '--for', '30s')
    expect((await get(sandbox, '/pets', 'sandbox-pro~checkout')).headers.get('retry-after')).toBe('30')
    expect((await get(sandbox, '/pets', 'sandbox-pro')).status).toBe(200)
    await control(sandbox, 'unban', 'sandbox-pro', '--space', 'checkout')
    expect((await get(sandbox, '/pets', 'sandbox-pro~checkout')).status).toBe(200)
    expect(await control(sandbox, '--space', 'other', 'unban', 'sandbox-pro~checkout')).toMatchObject({ code: 2 })
  })

  it.each([
    [[], { rate: 1, for: null, every: null, retryAfter: null }],
    [['0.3,for=30s,every=5m'], { rate: 0.3, for: '30s', every: '5m', retryAfter: null }],
    [['0.3,for=30s', '--rate', '0.5', '--retry-after', '2s'], { rate: 0.5, for: '30s', retryAfter: '2s' }],
  ])('starts the storm %j, and stops it', async (argv, storm) => {
    const sandbox = await start()
    expect(await json(sandbox, 'storm', 'start', ...argv)).toMatchObject(storm)
    expect(await json(sandbox, 'storm', 'show')).toMatchObject(storm)
    expect((await control(sandbox, 'storm', 'stop')).out).toBe('Storm stopped.\n')
    expect(await control(sandbox, 'storm', 'show')).toEqual({ code: 0, out: '', err: 'No storm is active.\n' })
  })

  it('adds, lists and clears faults, in their order', async () => {
    const sandbox = await start()
    await control(sandbox, 'fault', 'add', 'listPets:503@20%*3')
    expect((await control(sandbox, 'fault', 'add', '*:hang')).out).toBe(
      '#  rule                left\n1  listPets:503@20%*3  3\n2  *:hang              unlimited\n',
    )
    expect(await json(sandbox, 'fault', 'list')).toHaveLength(2)
    expect(await json(sandbox, 'fault', 'clear')).toEqual([])
    expect(await json(sandbox, 'fault', 'list')).toEqual([])
    expect(await control(sandbox, 'fault', 'add', 'listDogs:503')).toMatchObject({ code: 1 })
  })

  it('changes the sunset', async () => {
    const sandbox = await start()
    expect((await control(sandbox, 'sunset', 'after')).out).toBe('The setting sunset is now after.\n')
    expect((await get(sandbox, '/pets/1')).status).toBe(404)
  })

  it('applies a packaged scenario, and one from a file', async () => {
    const sandbox = await start()
    expect((await control(sandbox, 'scenario', 'storm')).out).toBe('Scenario storm applied.\n')
    expect(await sandbox.storm.show()).not.toBeNull()
    const io = testIo({ env: { PETSTORE_SANDBOX_URL: sandbox.controlUrl } })
    writeFileSync(
      join(io.cwd, 'friday.yaml'),
      'storm: off\nban-after: 3\nban: { sandbox: 5m }\nnow: 2026-03-03T00:00:00Z\n',
    )
    expect(await run(io, 'scenario', 'friday.yaml')).toMatchObject({ code: 0, err: '' })
    expect(await sandbox.storm.show()).toBeNull()
    expect(await sandbox.state()).toMatchObject({
      settings: { banAfter: 3 },
      clock: { now: '2026-03-03T00:00:00.000Z' },
    })
  })

  it('refuses an invalid scenario before sending anything, with the place of the mistake', async () => {
    const io = testIo({ env: { PETSTORE_SANDBOX_URL: 'http://127.0.0.1:9/__sandbox' } })
    writeFileSync(join(io.cwd, 'bad.yaml'), 'plan: gold\n')
    expect(await run(io, 'scenario', 'bad.yaml')).toEqual({
      code: 2,
      out: '',
      err: 'INVALID_OPTIONS: bad.yaml:1:1: plan "gold": must be free, pro, business or enterprise. See petstore-sandbox control scenario --help.\n',
    })
  })

  it('keeps every digit of a pet, and escapes its name for the terminal', async () => {
    const sandbox = await start()
    const argv = ['pets', 'add', '--name', 'R\u001b[31mex', '--category-id', '9223372036854775807', '--status', 'sold']
    expect((await control(sandbox, ...argv)).out).toBe('Pet 60 added.\n')
    expect((await control(sandbox, 'pets')).out).toContain('R\\u001b[31mex')
    const list = await control(sandbox, 'pets', 'list', '--json')
    expect(list.out).toContain('"categoryId": 9223372036854775807')
    expect(list.out).not.toContain('\u001b')
    expect(await json(sandbox, 'pets', 'set', '60', '--status', 'none', '--name', 'Rex')).toMatchObject({
      id: 60,
      name: 'Rex',
    })
    expect(await control(sandbox, 'pets', 'remove', '60')).toMatchObject({ code: 0, out: 'Pet 60 removed.\n' })
    expect(await control(sandbox, 'pets', 'remove', '60')).toMatchObject({
      code: 0,
      out: 'There is no pet 60.\n',
    })
    expect(await json(sandbox, 'pets', 'remove', '60')).toEqual({ removed: null })
  })

  it('lists, adds, changes and removes records of any resource', async () => {
    const sandbox = await start()
    expect((await control(sandbox, 'resources')).out).toBe(
      'name    path           id  parents  records\npets    /pets          id           60\norders  /store/orders  id           6\n',
    )
    const rex = '{"id":60,"name":"Rex","categoryId":9223372036854775807}'
    const added = await control(sandbox, 'resources', 'add', 'pets', rex.replace('"id":60,', ''))
    expect(added.out).toBe(`${rex}\n`)
    expect((await control(sandbox, 'resources', 'records', 'pets', '--limit', '1')).out).toBe(`${rex}\n`)
    expect(await json(sandbox, 'resources', 'set', 'pets', '60', '{"status":"sold"}')).toMatchObject({
      name: 'Rex',
      status: 'sold',
    })
    expect((await control(sandbox, 'resources', 'remove', 'pets', '60')).out).toBe('Record 60 of pets removed.\n')
    expect(await control(sandbox, 'resources', 'add', 'pets', 'Rex')).toMatchObject({
      code: 2,
      err: expect.stringContaining('The fields are not valid JSON'),
    })
  })

  it('saves, restores, lists and removes snapshots', async () => {
    const sandbox = await start()
    await control(sandbox, 'snapshot', 'save', 'full')
    await sandbox.pets.remove(1)
    await control(sandbox, 'snapshot', 'restore', 'full')
    expect(await sandbox.pets.list()).toHaveLength(60)
    expect((await control(sandbox, 'snapshot', 'list')).out).toBe('name\nfull\n')
    await control(sandbox, 'snapshot', 'remove', 'full')
    expect(await control(sandbox, 'snapshot', 'list')).toEqual({ code: 0, out: '', err: 'No snapshots.\n' })
  })

  it('lists spaces, copies them and removes them', async () => {
    const sandbox = await start()
    await get(sandbox, '/pets', 'sandbox~checkout')
    expect((await control(sandbox, 'spaces', 'list')).out).toBe('name      pets  requests\ncheckout  60    1\n')
    await sandbox.space('checkout').pets.remove(1)
    expect((await control(sandbox, 'spaces', 'copy', 'checkout', '--space', 'b')).out).toBe(
      'Copied the space checkout to the space b, with 59 pets.\n',
    )
    expect(await json(sandbox, 'spaces', 'copy', '--space', 'checkout')).toEqual({
      space: 'checkout',
      pets: 60,
    })
    expect((await control(sandbox, 'spaces', 'list')).out).toBe(
      'name      pets  requests\ncheckout  60    1\nb         59    0\n',
    )
    await control(sandbox, 'spaces', 'remove', 'checkout')
    expect(await json(sandbox, 'spaces', 'list')).toMatchObject([{ name: 'b' }])
  })

  it('takes --space before or after the verb', async () => {
    const sandbox = await start()
    await control(sandbox, '--space', 'a', 'clock', 'advance', '1m')
    await control(sandbox, 'clock', 'advance', '1m', '--space', 'a')
    await control(sandbox, 'clock', '--space', 'a', 'advance', '1m')
    expect(await sandbox.space('a').clock.show()).toMatchObject({ now: '2026-03-01T12:03:00.000Z' })
    expect(await sandbox.clock.show()).toMatchObject({ now: NOON })
  })
})

describe('control conduct', () => {
  it('reports findings, and what each plan would have done', async () => {
    const sandbox = await start()
    await get(sandbox, '/animals')
    const { code, out, err } = await control(sandbox, 'conduct')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^✗ undocumented-endpoint, sandbox: GET \/v1\/animals is not in the contract/)
    expect(out).toContain(
      '1 request, 1 sender per key (observed): 1 violation (undocumented-endpoint 1), no warnings\n',
    )
    const next = ['npx petstore-sandbox control requests show 1']
    expect(await json(sandbox, 'conduct')).toEqual({ ...(await sandbox.conduct()), next })
    await control(sandbox, 'reset', '--space', 'other')
    expect(await json(sandbox, 'conduct', '--space', 'other')).toMatchObject({ space: 'other', violations: [] })
    expect(await control(sandbox, 'conduct', '--space', 'otter')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^NOT_FOUND: Unknown space "otter"; did you mean other\?/),
    })
  })
})

describe('control requests', () => {
  it('lists exchanges by the filters', async () => {
    const sandbox = await start()
    for (const path of ['/pets', '/pets/1', '/nope']) await (await get(sandbox, path)).text()
    expect((await control(sandbox, 'requests', '--operation', 'getPet')).out).toMatch(
      /^2 {2}[\d:]{8} {2}200 {2}GET +\/v1\/pets\/1 .*\n$/,
    )
    expect(await json(sandbox, 'requests', '--since', '1', '--limit', '1')).toMatchObject([{ id: 3, status: 404 }])
    // Without a response, no quota was reported.
    await sandbox.faults.add('getPet:empty-response')
    await get(sandbox, '/pets/2').catch(() => {})
    expect((await control(sandbox, 'requests', '--operation', 'getPet', '--since', '3')).out).toMatch(
      /^(?!.* left).*\/pets\/2/,
    )
    expect(await json(sandbox, 'requests', '--status', '429')).toEqual([])
    expect(await control(sandbox, 'requests', 'clear')).toMatchObject({ out: 'Log cleared.\n' })
    expect(await control(sandbox, 'requests')).toEqual({ code: 0, out: '', err: 'No requests match.\n' })
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('follows them until %s', async (signal, code) => {
    const sandbox = await start()
    const io = testIo({ env: { PETSTORE_SANDBOX_URL: sandbox.controlUrl } })
    const ended = runCli(['control', 'requests', '-f', '--json', '--operation', 'listPets'], io)
    await untilSeen(io, sandbox)
    io.signal(signal)
    expect(await ended).toBe(code)
    for (const line of io.stdout.text.trimEnd().split('\n')) {
      expect(JSON.parse(line)).toMatchObject({ operation: 'listPets', status: 200 })
    }
    expect(io.listeners.size).toBe(0)
  })

  it('follows them until the sandbox stops', async () => {
    const sandbox = await start()
    const io = testIo({ env: { PETSTORE_SANDBOX_URL: sandbox.controlUrl } })
    const ended = runCli(['control', 'requests', '--follow'], io)
    await untilSeen(io, sandbox)
    await sandbox.close()
    expect(await ended).toBe(0)
    expect(io.stderr.text).toBe(`The sandbox at ${sandbox.controlUrl} has stopped.\n`)
  })

  it('follows only new exchanges', async () => {
    const sandbox = await start()
    expect(await control(sandbox, 'requests', '-f', '--since', '1')).toMatchObject({ code: 2, out: '' })
  })
})

describe('a sandbox that was neither named nor started in this folder', () => {
  it('is only read: verbs that change something are refused', async () => {
    const sandbox = await start()
    const { origin } = new URL(sandbox.baseUrl)
    const found: FoundSandbox = { controlUrl: sandbox.controlUrl, how: 'the default', isDefault: true }
    const before = await sandbox.state()
    const { controls, sandbox: whole } = await connect({}, testIo(), found)
    expect(await controls.state()).toEqual(before)
    expect(await controls.pets.list()).toHaveLength(60)
    for (const act of [
      () => whole.shutdown(),
      () => controls.reset(),
      () => controls.undo(),
      () => controls.clock.advance('1m'),
      () => controls.storm.start(),
      () => controls.faults.clear(),
      () => controls.pets.remove(1),
      () => controls.requests.clear(),
      () => controls.requests.replay(1),
      () => whole.spaces.remove('a'),
      () => whole.space('a').reset(),
    ])
      await expect(act()).rejects.toThrow(
        `No sandbox was started in this folder. The one at ${origin} was started in another folder, so this command did not change it. To change it, add --url ${origin}.`,
      )
    expect(await sandbox.state()).toEqual(before)
    await sandbox.close()
    await expect(controls.reset()).rejects.toThrow(`No sandbox is running at ${sandbox.controlUrl} (the default). `)
  })

  it('is the one at the default port without a valid locator', async () => {
    const { controlUrl } = await gone()
    const io = testIo()
    expect(await findSandbox(undefined, io)).toMatchObject({ isDefault: true })
    expect(await findSandbox(controlUrl, io)).not.toHaveProperty('isDefault')
    const sandbox = await start()
    leaveWord(io, { ...sandbox, ...(await healthOf(sandbox.controlUrl)) })
    expect(await findSandbox(undefined, io)).not.toHaveProperty('isDefault')
    expect(await findSandbox(undefined, { ...io, cwd: join(io.cwd, 'below') })).not.toHaveProperty('isDefault')
  })

  it('is named by suggested commands', async () => {
    const sandbox = await start()
    const { origin } = new URL(sandbox.baseUrl)
    const io = testIo()
    expect(controlCommand(sandbox.controlUrl, io)).toBe(`npx petstore-sandbox control --url ${origin}`)
    const named = { ...io, env: { PETSTORE_SANDBOX_URL: origin } }
    expect(controlCommand(sandbox.controlUrl, named)).toBe('npx petstore-sandbox control')
    leaveWord(io, { ...sandbox, ...(await healthOf(sandbox.controlUrl)) })
    expect(controlCommand(sandbox.controlUrl, io)).toBe('npx petstore-sandbox control')
    expect(controlCommand('http://127.0.0.1:4011/__sandbox', io)).toBe(
      'npx petstore-sandbox control --url http://127.0.0.1:4011',
    )
  })
})

/** Sends requests until the first of them was shown: nobody says when a reader is connected. */
async function untilSeen(io: TestIo, sandbox: Sandbox): Promise<void> {
  await vi.waitFor(
    async () => {
      await (await get(sandbox, '/pets?limit=1', 'sandbox-enterprise')).text()
      expect(io.stdout.text).not.toBe('')
    },
    { timeout: 60_000, interval: 20 },
  )
}

describe('control wait', () => {
  it('prints the base address of a healthy sandbox', async () => {
    const sandbox = await start()
    expect(await control(sandbox, 'wait')).toEqual({ code: 0, out: `${sandbox.baseUrl}\n`, err: '' })
    expect(await json(sandbox, 'wait')).toEqual({ baseUrl: sandbox.baseUrl, controlUrl: sandbox.controlUrl })
  })

  it('waits for one that starts later', async () => {
    const io = testIo()
    const ended = run(io, 'wait', '--timeout', '1m')
    const sandbox = await start()
    const { baseUrl, controlUrl } = sandbox
    leaveWord(io, { baseUrl, controlUrl, ...(await healthOf(controlUrl)) })
    // Whatever runs at port 4010 of this machine may be found first.
    expect((await ended).code).toBe(0)
  })

  it('times out with exit code 7', async () => {
    const { controlUrl } = await gone()
    const { code, out, err } = await run(testIo(), 'wait', '--url', controlUrl, '--timeout', '0s')
    expect({ code, out }).toEqual({ code: 7, out: '' })
    expect(err).toMatch(/^NO_SANDBOX: Waited 0s\. No sandbox is running at .*\n$/)
  })
})

describe('control stop', () => {
  it('returns when the sandbox is gone', async () => {
    const sandbox = await start()
    expect(await control(sandbox, 'stop')).toEqual({
      code: 0,
      out: `The sandbox at ${sandbox.controlUrl} has stopped.\n`,
      err: '',
    })
    // A connection of this very process may outlive the port for a moment.
    await vi.waitFor(() => expect(fetch(sandbox.baseUrl)).rejects.toThrow(), { timeout: 60_000 })
    expect(await control(sandbox, 'stop')).toMatchObject({ code: 7, out: '' })
  })
})

describe('the sandbox', () => {
  it('is found by --url, before the environment, before the locator', async () => {
    const [first, second, third] = [await start(), await start(), await start()]
    const { pid, startedAt } = await healthOf(third.controlUrl)
    const io = () => {
      const one = testIo({ env: { PETSTORE_SANDBOX_URL: second.controlUrl } })
      leaveWord(one, { baseUrl: third.baseUrl, controlUrl: third.controlUrl, pid, startedAt })
      return one
    }
    expect((await run(io(), 'wait', '--url', first.controlUrl)).out).toBe(`${first.baseUrl}\n`)
    expect((await run(io(), 'wait', '--url', first.baseUrl)).out).toBe(`${first.baseUrl}\n`)
    expect((await run(io(), 'wait')).out).toBe(`${second.baseUrl}\n`)
    expect((await run({ ...io(), env: { PETSTORE_SANDBOX_URL: '' } }, 'wait')).out).toBe(`${third.baseUrl}\n`)
  })

  it.each([['--url'], ['PETSTORE_SANDBOX_URL']])('named by %s is not replaced by another', async (by) => {
    const { controlUrl } = await gone()
    const io = testIo({ env: by === '--url' ? {} : { PETSTORE_SANDBOX_URL: controlUrl } })
    expect(await run(io, 'status', ...(by === '--url' ? [by, controlUrl] : []))).toEqual({
      code: 7,
      out: '',
      err: `NO_SANDBOX: No sandbox is running at ${controlUrl} (by ${by}). Start one with "npx petstore-sandbox serve", or give its address with --url or PETSTORE_SANDBOX_URL.\n`,
    })
  })

  it.each([
    ['nonsense'],
    ['ftp://127.0.0.1/__sandbox'],
    ['http://127.0.0.1:4010/v1?key=u:p'],
    ['http://u:p@127.0.0.1/__sandbox'],
  ])('cannot be at %s', async (url) => {
    const { code, err } = await run(testIo(), 'status', '--url', url)
    expect(code).toBe(2)
    expect(err).toMatch(/^USAGE: --url .*: must be the address of a sandbox, /)
    expect(err).not.toContain('u:p')
  })

  it('is not another server', async () => {
    const server = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/__sandbox`
    const { code, err } = await run(testIo(), 'reset', '--url', url)
    expect(code).toBe(7)
    expect(err).toMatch(/^NO_SANDBOX: .*is not a sandbox.* It was found by --url\.\n$/)
  })

  it('requires its token, which comes from the environment or a file', async () => {
    const sandbox = await start({ controlToken: 'secret-1' })
    const io = (token?: string) =>
      testIo({ env: { PETSTORE_SANDBOX_URL: sandbox.controlUrl, PETSTORE_SANDBOX_CONTROL_TOKEN: token } })
    expect(await run(io(), 'clock', 'show')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^FORBIDDEN: .* Give it in PETSTORE_SANDBOX_CONTROL_TOKEN or with --token-file\.\n$/),
    })
    expect(await run(io('secret-1'), 'clock', 'show')).toMatchObject({ code: 0 })
    const withFile = io('secret-2')
    writeFileSync(join(withFile.cwd, 'token'), 'secret-1\n')
    expect(await run(withFile, 'clock', 'show', '--token-file', 'token')).toMatchObject({ code: 0 })
    expect(await run(io(), 'clock', 'show', '--token-file', 'nowhere')).toMatchObject({
      code: 2,
      err: 'USAGE: --token-file "nowhere": cannot be read (ENOENT). See petstore-sandbox control clock show --help.\n',
    })
    const broken = await run(io('two\nlines'), 'clock', 'show')
    expect(broken.code).toBe(2)
    expect(broken.err).not.toContain('lines')
  })
})

describe('a locator that came with a folder', () => {
  const TOKEN = { PETSTORE_SANDBOX_CONTROL_TOKEN: 'secret-token' }

  /** A server of someone else with a made-up health response. */
  async function stranger(health: object): Promise<{ readonly origin: string; readonly asked: string[] }> {
    const asked: string[] = []
    const origin = await hostileServer((socket, text) => {
      asked.push(text)
      const isHealth = text.startsWith('GET /__sandbox/health ')
      const body = JSON.stringify(isHealth ? { status: 'healthy', version: '1', ...health } : {})
      socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    })
    return { origin, asked }
  }

  const startedAt = '2026-03-01T10:00:00.000Z'
  it.each([
    ['it does not prove itself', {}, {}],
    ['another process is at its address', { pid: process.pid + 1, startedAt }, {}],
    ['it was started at another time', { pid: process.pid, startedAt: '2026-03-01T10:00:00.001Z' }, {}],
    ['its process is gone', { pid: 2 ** 30, startedAt }, { pid: 2 ** 30 }],
    ['its process is all of a group', { pid: 0, startedAt }, { pid: 0 }],
    ['it has no start', { pid: process.pid }, { startedAt: undefined }],
    ['its service is elsewhere', { pid: process.pid, startedAt }, { baseUrl: 'http://127.0.0.1:1/v1' }],
    ['it is not on this machine', { pid: process.pid, startedAt }, { controlUrl: 'http://127.evil.invalid/__sandbox' }],
  ])('is ignored and gets no token if %s', async (_name, health, said) => {
    const { origin, asked } = await stranger(health)
    const io = testIo({ env: TOKEN })
    const told = { baseUrl: `${origin}/v1`, controlUrl: `${origin}/__sandbox`, pid: process.pid, startedAt }
    leaveWord(io, { ...told, ...said })
    const { out, err } = await run(io, 'status')
    expect(asked.filter((text) => !text.startsWith('GET /__sandbox/health '))).toEqual([])
    expect(asked.join()).not.toContain('secret-token')
    expect(out + err).not.toContain('INTERNAL')
  })

  it('is reported when it is ignored', async () => {
    const { origin } = await stranger({})
    const io = testIo()
    leaveWord(io, { baseUrl: `${origin}/v1`, controlUrl: `${origin}/__sandbox`, pid: process.pid, startedAt })
    expect((await run(io, 'status')).err).toContain(
      `.petstore-sandbox/run.json names ${origin}/v1, where a different sandbox is running`,
    )
  })
})

describe('a control plane that misbehaves', () => {
  const AT = (origin: string, ...argv: readonly string[]) =>
    run(testIo({ env: { PETSTORE_SANDBOX_CONTROL_TOKEN: 'secret-token' } }), ...argv, '--url', `${origin}/__sandbox`)
  const json = (body: string) =>
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

  it.each([[['status']], [['requests', '-f']]])('times out after --timeout: %j', async (argv) => {
    const origin = await hostileServer((socket) => socket.write('HTTP/1.1 200 OK\r\n'))
    const { code, err } = await AT(origin, ...argv, '--timeout', '100ms')
    expect(code).toBe(7)
    expect(err).toMatch(/^NO_SANDBOX: .*did not respond within 100ms/)
  })

  it.each([
    'HTTP/1.1 000 Weird\r\nContent-Length: 2\r\n\r\n{}',
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{',
    '220 mail ready\r\n',
    '',
    json('{}'),
    json('null'),
    json('[]'),
    json('"text"'),
    json('{"settings":5,"keys":{},"faults":null,"clock":[],"counts":null}'),
    json(`{"settings":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
    json(`${'['.repeat(20_000)}${']'.repeat(20_000)}`),
  ])('is not a sandbox: %#', async (reply) => {
    const origin = await hostileServer((socket) => socket.end(reply))
    const { code, out, err } = await AT(origin, 'status')
    expect({ code, out }).toEqual({ code: 7, out: '' })
    expect(err).toMatch(/^NO_SANDBOX: /)
  })
})

describe('a usage error of control', () => {
  it.each([
    [['nope'], "unknown command 'nope'."],
    [['stauts'], "unknown command 'stauts'; did you mean status?"],
    [
      ['clock', 'advnce', '1m'],
      "unknown command 'advnce'; did you mean advance? See petstore-sandbox control clock --help.",
    ],
    [['clock', 'show', 'x'], "too many arguments for 'show'"],
    [['clock', 'advance'], "missing required argument 'duration'. See petstore-sandbox control clock advance --help."],
    [['clock', 'advance', 'soon'], "'soon' is invalid for argument 'duration': must be "],
    [['clock', 'set', 'tomorrow'], "'tomorrow' is invalid for argument 'instant': must be "],
    [
      ['plan', 'sandbox', 'gold'],
      "'gold' is invalid for argument 'plan'. Allowed choices are free, pro, business, enterprise.",
    ],
    [['plan', 'a', 'pro', 'c'], "too many arguments for 'plan'. Expected 2 arguments but got 3."],
    [['sunset', 'never'], "'never' is invalid for argument 'mode'. Allowed choices are auto, before, after, brownout."],
    [['fault', 'add', 'x'], "'x' is invalid for argument 'rule'"],
    [['storm', 'start', '2'], "'2' is invalid for argument 'spec'"],
    [['storm', 'start', '--rate', '1.5'], "argument '1.5' is invalid: must be a number from 0 to 1."],
    [['ban', 'sandbox', '--for', '5'], "argument '5' is invalid: must be "],
    [['pets', 'remove', '01'], "'01' is invalid for argument 'pet': must be the id of a pet."],
    [['pets', 'add', '--name', 'Rex'], "required option '--category-id <id>' not specified."],
    [
      ['pets', 'add', '--name', 'x', '--category-id', '9223372036854775808'],
      "argument '9223372036854775808' is invalid: must be",
    ],
    [['status', '--timeout', '0s'], "argument '0s' is invalid: must be longer than 0."],
    [['requests', '--limit', 'x'], "argument 'x' is invalid: must be a whole number of 0 or more."],
  ])('is reported without a sandbox: %j', async (argv, err) => {
    const result = await run(testIo(), ...argv)
    expect(result).toMatchObject({ code: 2, out: '' })
    expect(result.err).toMatch(/^USAGE: .* See petstore-sandbox control.* --help\.\n$/)
    expect(result.err.slice('USAGE: '.length)).toContain(err)
    expect(result.err.trimEnd()).not.toContain('\n')
  })

  it('is a missing verb, which prints the help on stderr', async () => {
    const { code, out, err } = await run(testIo())
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('Commands:')
  })
})

/** The address of a sandbox that has stopped. */
async function gone(): Promise<{ readonly controlUrl: string }> {
  const sandbox = await startSandbox()
  await sandbox.close()
  return sandbox
}

/** What `serve` leaves behind in its folder. */
function leaveWord(io: TestIo, location: object): void {
  mkdirSync(join(io.cwd, '.petstore-sandbox'), { recursive: true })
  writeFileSync(join(io.cwd, '.petstore-sandbox/run.json'), JSON.stringify(location))
}
