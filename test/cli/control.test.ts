import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { Sandbox } from '../../src/api/controls.js'
import { connectSandbox } from '../../src/api/over-network.js'
import { startSandbox } from '../../src/api/start.js'
import { controlCommand, type FoundSandbox, findSandbox } from '../../src/cli/control/find-sandbox.js'
import { connect } from '../../src/cli/control/verb-commands.js'
import { runCli } from '../../src/cli/run-cli.js'
import { hostileServer } from '../client/hostile-server.js'
import { healthOf } from '../support/health-of.js'
import { listenLocally } from '../support/listen-locally.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { temporaryFile } from '../support/temporary-files.js'
import { control, controlJson, get, ioAt, run, sandboxWith, type TestIo, testIo } from './test-io.js'

/** Verbs in order, by what they are about, with what each prints. */
const SESSIONS: Readonly<Record<string, readonly (readonly [line: string, out: unknown])[]>> = {
  clock: [
    ['clock advance 90s', '2026-03-01T10:01:30.000Z (frozen)\n'],
    ['clock set 2026-03-02', '2026-03-02T00:00:00.000Z (frozen)\n'],
    ['clock resume', expect.stringMatching(/^2026-03-02T00:00:\d\d\.\d{3}Z\n$/)],
    ['clock freeze', expect.stringMatching(/ \(frozen\)\n$/)],
    ['clock reset', expect.stringMatching(/Z\n$/)],
  ],
  keys: [
    ['keys add team-a pro', 'key     plan  left/minute  left/day     ban\nteam-a  pro   300/300      10000/10000\n'],
    ['plan team-a business', expect.stringMatching(/\nteam-a +business /)],
    ['keys remove team-a', 'Key team-a removed.\n'],
    ['keys remove team-a', 'Unknown key.\n'],
    ['unban team-a', 'Unknown key.\n'],
  ],
  storm: [
    [
      'storm start --rate 0.5 --for 30s --retry-after 2s',
      expect.stringMatching(/^Storm started: 50 % .* for 30s, .*\n$/),
    ],
    ['storm', '50 % of requests get 429 for 30s, Retry-After 2s, since 2026-03-01T10:00:00Z\n'],
    ['storm start', 'Storm started: all requests get 429.\n'],
    ['storm stop', 'Storm stopped.\n'],
  ],
  faults: [
    ['fault add listPets:503@20%*3', '#  rule                left\n1  listPets:503@20%*3  3\n'],
    ['fault add *:hang', '#  rule                left\n1  listPets:503@20%*3  3\n2  *:hang              unlimited\n'],
    ['fault clear', 'All faults removed.\n'],
    ['fault list --json', '[]\n'],
  ],
  records: [
    ['records', expect.stringMatching(/^name .*\npets +\/pets +id +60\norders +\/store\/orders +id +6\n$/)],
    [
      'records add pets --name R\u001b[31mex --category-id 9223372036854775807 --status sold',
      expect.stringMatching(/^\{"id":60,.*"sold"\}\n$/),
    ],
    [
      'records list pets --limit 1 --json',
      expect.stringMatching(/R\\u001b\[31mex",\s+"categoryId": 9223372036854775807/),
    ],
    ['records get pets 60', expect.stringContaining('R\\u001b[31mex')],
    ['records set pets 60 --status=null --name 42 --json', expect.stringContaining('"name": "42"')],
    ['records get pets 60 --json', expect.not.stringContaining('sold')],
    ['records remove pets 60', 'Record 60 of pets removed.\n'],
    ['records remove pets 60', 'pets has no record 60.\n'],
    ['records remove pets 60 --json', '{\n  "removed": null\n}\n'],
    ['records remove pets 1', 'Record 1 of pets removed.\n'],
    ['reset', 'Reset the default space to its start: pets 60, orders 6.\n'],
  ],
  'records as JSON': [
    [
      'records add pets {"name":"R","categoryId":9007199254740993}',
      '{"id":60,"name":"R","categoryId":9007199254740993}\n',
    ],
    ['records list pets --limit 1', '{"id":60,"name":"R","categoryId":9007199254740993}\n'],
    ['records set pets 60 {"categoryId":1}', '{"id":60,"name":"R","categoryId":1}\n'],
    ['records remove pets 60', 'Record 60 of pets removed.\n'],
  ],
  overrides: [
    ['storm start 0.3,for=30s', expect.any(String)],
    ['fault add listPets:503', expect.any(String)],
    ['overrides', 'storm 30 %, 30 s left\n1 fault\n'],
    ['overrides clear', '2 overrides cleared.\n'],
    ['undo', 'Undone: overrides clear.\n'],
    ['overrides clear', '2 overrides cleared.\n'],
    ['records list orders', expect.stringMatching(/^(?:\{.*\}\n){6}$/)],
  ],
  snapshots: [
    ['snapshot save full', 'Snapshot full saved.\n'],
    ['snapshot list', 'name\nfull\n'],
    ['snapshot restore full', 'Snapshot full restored.\n'],
    ['snapshot remove full', 'Snapshot full removed.\n'],
  ],
  bans: [
    ['ban sandbox-pro~checkout --for 30s', expect.stringContaining('sandbox-pro')],
    ['keys list --space checkout', expect.stringMatching(/^sandbox-pro .*until 2026-03-01T10:00:30/m)],
    ['keys list', expect.not.stringContaining('banned until')],
    ['unban sandbox-pro --space checkout', expect.stringContaining('sandbox-pro')],
    ['keys list --space checkout', expect.not.stringContaining('banned until')],
  ],
  spaces: [
    ['records remove pets 1 --space checkout', 'Record 1 of pets removed.\n'],
    ['spaces list', 'name      records            requests\ncheckout  pets 59, orders 6  0\n'],
    ['spaces copy checkout --space b', 'Copied the space checkout to the space b: pets 59, orders 6.\n'],
    ['spaces copy --space checkout --json', expect.stringContaining('"pets": 60')],
    [
      'spaces list',
      'name      records            requests\ncheckout  pets 60, orders 6  0\nb         pets 59, orders 6  0\n',
    ],
    ['spaces remove checkout', expect.stringContaining('checkout')],
    ['spaces list', 'name  records            requests\nb     pets 59, orders 6  0\n'],
  ],
}

describe('control', () => {
  it.each(Object.entries(SESSIONS))('prints each change: %s', async (_about, lines) => {
    const sandbox = await sandboxWith()
    for (const [line, out] of lines) expect(await control(sandbox, line), line).toEqual({ code: 0, out, err: '' })
  })

  it('shows the state of a space', async () => {
    const sandbox = await sandboxWith({ plan: 'pro', storm: '0.5,for=30s' })
    await sandbox.ban('sandbox-free')
    expect((await control(sandbox, 'status')).out).toBe(
      `service    ${sandbox.baseUrl}
control    ${sandbox.controlUrl}
space      the default one
clock      2026-03-01T10:00:00Z (frozen)
settings   plan=pro
overrides  sandbox-free banned, 5 min left
storm      50 % of requests get 429 for 30s, since 2026-03-01T10:00:00Z
faults     none
counts     pets 60, orders 6, 0 requests, 0 more spaces

key                 plan        left/minute  left/day         ban
sandbox             pro         300/300      10000/10000
sandbox-free        free        60/60        1000/1000        until 2026-03-01T10:05:00Z
sandbox-pro         pro         300/300      10000/10000
sandbox-business    business    1000/1000    100000/100000
sandbox-enterprise  enterprise  10000/10000  1000000/1000000
sandbox-limited     free        0/60         1000/1000        always limited
sandbox-banned      free        60/60        1000/1000        always banned
sandbox-revoked     free        60/60        1000/1000        always revoked
`,
    )
    expect(await controlJson(sandbox, 'status')).toEqual(JSON.parse(JSON.stringify(await sandbox.state())))
    const io = ioAt(sandbox)
    Object.assign(io.stdout, { isTTY: true, columns: 60 })
    await sandbox.settings.change({ latency: '1ms', banAfter: 3, retryAfter: 'none' })
    const narrow = (await run('control status', io)).out
    expect(narrow).toContain('until 2026-03-01T10:05:00Z\n')
    expect(narrow).toContain(
      '\noverrides  ban-after 3 · retry-after none · latency 1ms ·\n           sandbox-free banned, 5 min left\n',
    )
  })

  it('shows that a fault rule is used up', async () => {
    const sandbox = await sandboxWith({ fault: 'listPets:503*1' })
    expect((await get(sandbox, '/pets')).status).toBe(503)
    expect((await control(sandbox, 'status')).out).toContain('\nfaults     listPets:503*1 (used up)\n')
  })

  it('explains how the contract was read: resources, their ids, and why operations are mocked', async () => {
    const response = (schema: object, status = 200) => ({
      responses: { [status]: { description: 'ok', content: { 'application/json': { schema } } } },
    })
    const task = { type: 'object', properties: { pk: { type: 'integer', readOnly: true }, name: { type: 'string' } } }
    const inBody = { requestBody: { content: { 'application/json': { schema: task } } } }
    const shop = { name: 'shop', in: 'path', required: true, schema: { type: 'string' } }
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } }
    const paths = {
      '/shops/{shop}/tasks': {
        parameters: [shop],
        get: { operationId: 'listTasks', ...response({ type: 'array', items: task }) },
        post: { operationId: 'addTask', ...inBody, ...response({ type: 'object', properties: { task } }, 201) },
      },
      '/shops/{shop}/tasks/{id}': { parameters: [shop, id], get: { operationId: 'getTask', ...response(task) } },
      '/ping': { get: { operationId: 'ping', ...response({ type: 'string' }) } },
      '/time': {
        get: { operationId: 'time', ...response({ type: 'object', properties: { now: { type: 'string' } } }) },
      },
    }
    const document = { openapi: '3.0.3', info: { title: 'Tasks', version: '1' }, paths }
    const sandbox = await sandboxWith({ spec: temporaryFile('tasks.json', JSON.stringify(document)) })
    const time = 'paths./time.get.responses.200.content.application/json.schema'
    const unchanged = `GET returns one object, and no PUT or PATCH takes its properties (${time})`
    const none = 'no response describes a record as a JSON object (paths./ping.get.responses.200)'
    expect((await control(sandbox, 'status --explain')).out).toBe(
      `tasks  /shops/{shop}/tasks
  record    the response to GET of one record (paths./shops/{shop}/tasks/{id}.get.responses.200.content.application/json.schema)
  id        pk, because it has the usual name of a key
  envelope  task
  list      listTasks
  parents   shop of anything

operation  request                       is        because
listTasks  GET /shops/{shop}/tasks       stateful  list tasks
addTask    POST /shops/{shop}/tasks      stateful  create tasks
getTask    GET /shops/{shop}/tasks/{id}  stateful  get tasks
ping       GET /ping                     mocked    ${none}
time       GET /time                     mocked    ${unchanged}
`,
    )
    const { explanation } = (await controlJson(sandbox, 'status --explain')) as { explanation: unknown }
    expect(explanation).toEqual({
      resources: [
        {
          name: 'tasks',
          path: '/shops/{shop}/tasks',
          record: expect.stringMatching(/^the response to GET of one record \(paths/),
          id: { property: 'pk', because: 'it has the usual name of a key' },
          envelope: 'task',
          list: 'listTasks',
          parents: [{ parameter: 'shop', resource: null }],
        },
      ],
      operations: expect.arrayContaining([
        {
          operation: 'addTask',
          method: 'POST',
          path: '/shops/{shop}/tasks',
          stateful: true,
          because: 'create tasks',
          needsKey: false,
        },
        { operation: 'ping', method: 'GET', path: '/ping', stateful: false, because: none, needsKey: false },
      ]),
    })
    expect((await sandbox.state()).explanation).toBeUndefined()
    expect((await sandbox.state({ explain: true })).explanation).toEqual(explanation)
  })

  it('changes settings, written like flags', async () => {
    const sandbox = await sandboxWith()
    const pairs = 'plan=pro ban-after=never banDuration=1m no-rate-limit=yes latency=1ms..2ms limits=5/min'
    const changed = { plan: 'pro', banAfter: 'never', banDuration: '1m', rateLimit: false, latency: '1ms..2ms' }
    expect(await controlJson(sandbox, `settings set ${pairs}`)).toMatchObject({ ...changed, limits: '5/min' })
    const removed = { latency: null, limits: null, rateLimit: true }
    expect(await controlJson(sandbox, 'settings set latency=none limits=none rate-limit=on')).toMatchObject(removed)
    expect((await control(sandbox, 'settings')).out).toMatch(/^plan +pro\nrate-limit +true\nban-after +never\n/)
    expect((await control(sandbox, 'sunset after')).out).toBe('Settings changed: sunset=after.\n')
    expect((await get(sandbox, '/pets/1')).status).toBe(404)
  })

  it.each([
    ['plann=pro', 2, /^USAGE: "plann" is not a setting; the settings are plan, .*; did you mean plan\? See .*\n$/],
    ['storm=1', 2, /^USAGE: "storm" is not a setting/],
    ['plan', 2, /^USAGE: "plan" must be <name>=<value>, for example plan=pro\. See .* settings set --help\.\n$/],
    ['plan=pro plan=free', 2, /^USAGE: "plan" is given twice\. See .*\n$/],
    [
      'plan=gold',
      1,
      /^INVALID_REQUEST: The contract has no plan "gold": must be free, pro, business or enterprise\.\n$/,
    ],
  ])('refuses the settings %s', async (pairs, code, err) => {
    const sandbox = await sandboxWith()
    const refused = { code, out: '', err: expect.stringMatching(err) }
    expect(await control(sandbox, `settings set ${pairs}`)).toEqual(refused)
    expect((await sandbox.settings.show()).plan).toBe('free')
  })

  it('reports empty lists on stderr, and fails where the sandbox refuses', async () => {
    const sandbox = await sandboxWith()
    expect(await control(sandbox, 'storm show')).toEqual({ code: 0, out: '', err: 'No storm is active.\n' })
    expect(await control(sandbox, 'snapshot list')).toEqual({ code: 0, out: '', err: 'No snapshots.\n' })
    expect(await control(sandbox, 'requests')).toEqual({ code: 0, out: '', err: 'No requests match.\n' })
    const none = { code: 0, out: '', err: 'No changes from the start configuration.\n' }
    expect(await control(sandbox, 'overrides')).toEqual(none)
    const undone = { code: 1, err: expect.stringMatching(/^NOT_FOUND: There is/) }
    expect(await control(sandbox, 'undo')).toMatchObject(undone)
    expect(await control(sandbox, 'fault add listDogs:503')).toMatchObject({ code: 1, out: '' })
    const refused = { code: 2, err: expect.stringContaining('The fields are not valid JSON') }
    expect(await control(sandbox, 'records add pets Rex')).toMatchObject(refused)
  })

  it('applies a packaged scenario, and one from a file', async () => {
    const sandbox = await sandboxWith()
    expect((await control(sandbox, 'scenario storm')).out).toBe('Scenario storm applied.\n')
    expect(await sandbox.storm.show()).not.toBeNull()
    const io = ioAt(sandbox)
    const friday = 'storm: off\nban-after: 3\nban: { sandbox: 5m }\nnow: 2026-03-03T00:00:00Z\n'
    writeFileSync(join(io.cwd, 'friday.yaml'), friday)
    expect(await run('control scenario friday.yaml', io)).toMatchObject({ code: 0, err: '' })
    const clock = { now: '2026-03-03T00:00:00.000Z' }
    expect(await sandbox.state()).toMatchObject({ storm: null, settings: { banAfter: 3 }, clock })
  })

  it('refuses an invalid scenario before sending anything, with the place of the mistake', async () => {
    const io = testIo({ env: { PETSTORE_SANDBOX_URL: 'http://127.0.0.1:9/__sandbox' } })
    writeFileSync(join(io.cwd, 'bad.yaml'), 'plan: a b\n')
    expect(await run('control scenario bad.yaml', io)).toEqual({
      code: 2,
      out: '',
      err: 'INVALID_OPTIONS: bad.yaml:1:1: plan "a b": must be a plan of the contract. See petstore-sandbox control scenario --help.\n',
    })
  })

  it('takes --space before or after the verb', async () => {
    const sandbox = await sandboxWith()
    for (const line of ['--space a clock advance 1m', 'clock advance 1m --space a', 'clock --space a advance 1m'])
      await control(sandbox, line)
    expect(await sandbox.space('a').clock.show()).toMatchObject({ now: '2026-03-01T10:03:00.000Z' })
    expect(await sandbox.clock.show()).toMatchObject({ now: '2026-03-01T10:00:00.000Z' })
  })

  it('reports conduct, and what each plan would have done', async () => {
    const sandbox = await sandboxWith()
    await get(sandbox, '/animals')
    const { code, out, err } = await control(sandbox, 'conduct')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(
      /^✗ Your client calls an unknown path \(undocumented-endpoint\).*\n {2}GET \/v1\/animals is not in the contract/,
    )
    expect(out).toContain(
      '1 request, 1 sender per key (observed): 1 violation (undocumented-endpoint 1), no warnings\n',
    )
    const next = ['npx petstore-sandbox control requests show 1']
    expect(await controlJson(sandbox, 'conduct')).toEqual({ ...(await sandbox.conduct()), next })
    await control(sandbox, 'reset --space other')
    expect(await controlJson(sandbox, 'conduct --space other')).toMatchObject({ space: 'other', violations: [] })
    const unknown = expect.stringMatching(/^NOT_FOUND: Unknown space "otter"; did you mean other\?/)
    expect(await control(sandbox, 'conduct --space otter')).toEqual({ code: 1, out: '', err: unknown })
  })

  it('fails for a rule that was broken in a space that has been removed, and reset', async () => {
    const sandbox = await sandboxWith()
    await get(sandbox, '/pets')
    for (const name of ['removed', 'reset']) await get(sandbox, '/animals', `sandbox~${name}`)
    await sandbox.spaces.remove('removed')
    await sandbox.space('reset').reset()
    const broken = async () => {
      const { code, err } = await control(sandbox, 'conduct --fail-on violation')
      return { code, count: err.match(/undocumented-endpoint/g)?.length ?? 0 }
    }
    expect(await broken()).toEqual({ code: 1, count: 2 })
    await sandbox.space('reset').undo()
    expect(await broken()).toEqual({ code: 1, count: 2 })
    expect(await sandbox.spaces.conduct()).toMatchObject({ requests: 3, counts: { 'undocumented-endpoint': 2 } })
  })
})

describe('control requests', () => {
  it('lists exchanges by the filters', async () => {
    const sandbox = await sandboxWith()
    for (const path of ['/pets', '/pets/1', '/nope']) await (await get(sandbox, path)).text()
    const listed = async (filter: string) => (await control(sandbox, `requests ${filter}`)).out
    expect(await listed('--operation getPet')).toMatch(/^2 {2}[\d:]{8} {2}200 {2}GET +\/v1\/pets\/1 .*\n$/)
    expect(await controlJson(sandbox, 'requests --since 1 --limit 1')).toMatchObject([{ id: 3, status: 404 }])
    // Without a response, no quota was reported.
    await sandbox.faults.add('getPet:empty-response')
    await get(sandbox, '/pets/2').catch(() => {})
    expect(await listed('--operation getPet --since 3')).toMatch(/^(?!.* left).*\/pets\/2/)
    expect(await listed('clear')).toBe('Log cleared.\n')
    expect(await sandbox.requests()).toEqual([])
  })

  it('follows them until a signal', async () => {
    const sandbox = await sandboxWith()
    const io = ioAt(sandbox)
    const ended = runCli(['control', 'requests', '-f', '--json', '--operation', 'listPets'], io)
    await untilSeen(io, sandbox)
    io.signal('SIGTERM')
    expect(await ended).toBe(143)
    for (const line of io.stdout.text.trimEnd().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ operation: 'listPets', status: 200 })
    expect(io.listeners.size).toBe(0)
  })

  it('follows only new exchanges, until the sandbox stops', async () => {
    const sandbox = await sandboxWith()
    expect(await control(sandbox, 'requests -f --since 1')).toMatchObject({ code: 2, out: '' })
    const io = ioAt(sandbox)
    const ended = runCli(['control', 'requests', '--follow'], io)
    await untilSeen(io, sandbox)
    await sandbox.close()
    expect(await ended).toBe(0)
    expect(io.stderr.text).toBe(`The sandbox at ${sandbox.controlUrl} has stopped.\n`)
  })
})

it('following requests says that the connection was lost if the sandbox was killed', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': connected\n\n')
    setImmediate(() => response.destroy())
  })
  const address = `${await listenLocally(server)}/__sandbox`
  const following = connectSandbox(address).requests.follow()[Symbol.asyncIterator]()
  await expect(following.next()).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('lost'),
  })
})

describe('a sandbox that was neither named nor started in this folder', () => {
  it('is only read: verbs that change something are refused', async () => {
    const sandbox = await sandboxWith()
    const { origin } = new URL(sandbox.baseUrl)
    const found: FoundSandbox = { controlUrl: sandbox.controlUrl, how: 'the default', isDefault: true }
    const before = await sandbox.state()
    const { controls, sandbox: whole } = await connect({}, testIo(), found)
    expect(await controls.state()).toEqual(before)
    expect(await controls.records.list('pets')).toHaveLength(60)
    for (const act of [
      () => whole.shutdown(),
      () => controls.reset(),
      () => controls.clock.advance('1m'),
      () => controls.requests.clear(),
      () => controls.requests.replay(1),
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
    const sandbox = await sandboxWith()
    leaveWord(io, { ...sandbox, ...(await healthOf(sandbox.controlUrl)) })
    expect(await findSandbox(undefined, io)).not.toHaveProperty('isDefault')
    expect(await findSandbox(undefined, { ...io, cwd: join(io.cwd, 'below') })).not.toHaveProperty('isDefault')
  })

  it('is named by suggested commands', async () => {
    const sandbox = await sandboxWith()
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
  const send = async () => {
    await (await get(sandbox, '/pets?limit=1', 'sandbox-enterprise')).text()
    expect(io.stdout.text).not.toBe('')
  }
  await vi.waitFor(send, { timeout: STEP_PATIENCE_MS, interval: 20 })
}

it('control wait returns when a sandbox has started, and control stop when it is gone', async () => {
  const io = testIo()
  const ended = run(`control wait --timeout ${STEP_PATIENCE_MS}ms`, io)
  const sandbox = await sandboxWith()
  const { baseUrl, controlUrl } = sandbox
  leaveWord(io, { baseUrl, controlUrl, ...(await healthOf(controlUrl)) })
  // Whatever runs at port 4010 of this machine may be found first.
  expect((await ended).code).toBe(0)
  expect(await controlJson(sandbox, 'wait')).toEqual({ baseUrl, controlUrl })
  const stopped = { code: 0, out: `The sandbox at ${controlUrl} has stopped.\n`, err: '' }
  expect(await control(sandbox, 'stop')).toEqual(stopped)
  // A connection of this very process may outlive the port for a moment.
  await vi.waitFor(() => expect(fetch(baseUrl)).rejects.toThrow(), { timeout: STEP_PATIENCE_MS })
  expect(await control(sandbox, 'stop')).toMatchObject({ code: 7, out: '' })
  const late = expect.stringMatching(/^NO_SANDBOX: Waited 0s\. No sandbox is running at .*\n$/)
  expect(await control(sandbox, 'wait --timeout 0s')).toEqual({ code: 7, out: '', err: late })
})

describe('the sandbox', () => {
  it('is found by --url, before the environment, before the locator', async () => {
    const [first, second, third] = [await sandboxWith(), await sandboxWith(), await sandboxWith()]
    const { baseUrl, controlUrl } = third
    const health = await healthOf(controlUrl)
    const found = async (flags: string, env: TestIo['env'] = { PETSTORE_SANDBOX_URL: second.controlUrl }) => {
      const io = testIo({ env })
      leaveWord(io, { baseUrl, controlUrl, ...health })
      return (await run(`control wait${flags}`, io)).out.trim()
    }
    expect(await found(` --url ${first.controlUrl}`)).toBe(first.baseUrl)
    expect(await found(` --url ${first.baseUrl}`)).toBe(first.baseUrl)
    expect(await found('')).toBe(second.baseUrl)
    expect(await found('', { PETSTORE_SANDBOX_URL: '' })).toBe(baseUrl)
  })

  it.each(['--url', 'PETSTORE_SANDBOX_URL'])('named by %s is not replaced by another', async (by) => {
    const { controlUrl } = await gone()
    const io = testIo({ env: by === '--url' ? {} : { PETSTORE_SANDBOX_URL: controlUrl } })
    expect(await run(`control status${by === '--url' ? ` --url ${controlUrl}` : ''}`, io)).toEqual({
      code: 7,
      out: '',
      err: `NO_SANDBOX: No sandbox is running at ${controlUrl} (by ${by}). Start one with "npx petstore-sandbox serve", or give its address with --url or PETSTORE_SANDBOX_URL.\n`,
    })
  })

  it.each([
    'nonsense',
    'ftp://127.0.0.1/__sandbox',
    'http://127.0.0.1:4010/v1?key=u:p',
    'http://u:p@127.0.0.1/__sandbox',
  ])('cannot be at %s', async (url) => {
    const { code, err } = await run(`control status --url ${url}`)
    expect(code).toBe(2)
    expect(err).toMatch(/^USAGE: --url .*: must be the address of a sandbox, /)
    expect(err).not.toContain('u:p')
  })

  it('requires its token, which comes from the environment or a file', async () => {
    const sandbox = await sandboxWith({ controlToken: 'secret-1' })
    const show = (flags: string, token?: string) => {
      const io = ioAt(sandbox, { PETSTORE_SANDBOX_CONTROL_TOKEN: token })
      writeFileSync(join(io.cwd, 'token'), 'secret-1\n')
      return run(`control clock show${flags}`, io)
    }
    const hint = /^FORBIDDEN: .* Give it in PETSTORE_SANDBOX_CONTROL_TOKEN or with --token-file\.\n$/
    expect(await show('')).toEqual({ code: 1, out: '', err: expect.stringMatching(hint) })
    expect(await show('', 'secret-1')).toMatchObject({ code: 0 })
    expect(await show(' --token-file token', 'secret-2')).toMatchObject({ code: 0 })
    const unread =
      'USAGE: --token-file "nowhere": cannot be read (ENOENT). See petstore-sandbox control clock show --help.\n'
    expect(await show(' --token-file nowhere')).toEqual({ code: 2, out: '', err: unread })
    expect(await show('', 'two\nlines')).toEqual({ code: 2, out: '', err: expect.not.stringContaining('lines') })
  })
})

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
  ['it does not prove itself', {}, {}, '/v1, where a different sandbox is running'],
  ['another process is at its address', { pid: process.pid + 1, startedAt }, {}],
  ['it was started at another time', { pid: process.pid, startedAt: '2026-03-01T10:00:00.001Z' }, {}],
  ['its process is gone', { pid: 2 ** 30, startedAt }, { pid: 2 ** 30 }],
  ['its process is all of a group', { pid: 0, startedAt }, { pid: 0 }],
  ['it has no start', { pid: process.pid }, { startedAt: undefined }],
  ['its service is elsewhere', { pid: process.pid, startedAt }, { baseUrl: 'http://127.0.0.1:1/v1' }],
  ['it is not on this machine', { pid: process.pid, startedAt }, { controlUrl: 'http://127.evil.invalid/__sandbox' }],
])(
  'a locator that came with a folder is ignored and gets no token if %s',
  async (_name, health, said, problem = '') => {
    const { origin, asked } = await stranger(health)
    const io = testIo({ env: TOKEN })
    const told = { baseUrl: `${origin}/v1`, controlUrl: `${origin}/__sandbox`, pid: process.pid, startedAt }
    leaveWord(io, { ...told, ...said })
    const { out, err } = await run('control status', io)
    expect(asked.filter((text) => !text.startsWith('GET /__sandbox/health '))).toEqual([])
    expect(asked.join()).not.toContain('secret-token')
    expect(out + err).not.toContain('INTERNAL')
    expect(err).toContain(problem)
  },
)

describe('a control plane that misbehaves', () => {
  const at = (origin: string, line: string) =>
    run(
      `control ${line} --url ${origin}/__sandbox`,
      testIo({ env: { PETSTORE_SANDBOX_CONTROL_TOKEN: 'secret-token' } }),
    )
  const json = (body: string) =>
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

  it.each(['status', 'requests -f'])('times out after --timeout: %s', async (line) => {
    const origin = await hostileServer((socket) => socket.write('HTTP/1.1 200 OK\r\n'))
    const { code, err } = await at(origin, `${line} --timeout 100ms`)
    expect(code).toBe(7)
    expect(err).toMatch(/^NO_SANDBOX: .*did not respond within 100ms/)
  })

  it.each([
    'HTTP/1.1 000 Weird\r\nContent-Length: 2\r\n\r\n{}',
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    '',
    json('null'),
    json('{"settings":5,"keys":{},"faults":null,"clock":[],"counts":null}'),
    json(`${'['.repeat(20_000)}${']'.repeat(20_000)}`),
  ])('is not a sandbox: %#', async (reply) => {
    const origin = await hostileServer((socket) => socket.end(reply))
    const err = expect.stringMatching(/^NO_SANDBOX: .*by --url/)
    expect(await at(origin, 'status')).toEqual({ code: 7, out: '', err })
  })
})

it.each([
  ['clock advance soon', "'soon' is invalid for argument 'duration': must be "],
  ['clock set tomorrow', "'tomorrow' is invalid for argument 'instant': must be "],
  ['fault add x', 'x: write it as <operation|*>:<status'],
  ['storm start 2', "'2' is invalid for argument 'spec'"],
  ['storm start --rate 1.5', "argument '1.5' is invalid: must be a number from 0 to 1."],
  ['storm start 0.3 --for 30s', 'Give the storm as 0.3,for=30s or with --rate and --for, not both.'],
  ['records add', "missing required argument 'resource'."],
  ['status --timeout 0s', "argument '0s' is invalid: must be longer than 0."],
  ['requests --limit x', "argument 'x' is invalid: must be a whole number of 0 or more."],
])('a usage error of control is reported without a sandbox: %s', async (line, problem) => {
  const { code, out, err } = await run(`control ${line}`)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(/^USAGE: .* See petstore-sandbox control.* --help\.\n$/)
  expect(err.slice('USAGE: '.length)).toContain(problem)
  expect(err.trimEnd()).not.toContain('\n')
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
