import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCli } from '../../src/cli/run-cli.js'
import { openapiFile } from '../../src/system/package-files.js'
import { healthOf } from '../support/health-of.js'
import { get, type TestIo, testIo } from './test-io.js'

const PET = { id: 1, name: 'Rex', categoryId: 1 }
const pets = (count: number) => JSON.stringify(Array.from({ length: count }, (_, index) => ({ ...PET, id: index + 1 })))

/** `serve --watch` in a folder with these files. */
async function watching(files: Readonly<Record<string, string>>, flags = '', log = 'pretty') {
  const io = testIo({ env: { TZ: 'UTC' } })
  const write = (name: string, text: string) => writeFileSync(join(io.cwd, name), text)
  mkdirSync(join(io.cwd, 'fixtures'))
  for (const [name, text] of Object.entries(files)) write(name, text)
  const ended = runCli(`serve --port 0 --in-memory --log ${log} --watch${flags}`.split(' '), io)
  onTestFinished(async () => {
    io.signal('SIGTERM')
    await ended
  })
  const [, baseUrl = ''] = await io.stderr.seen(/(?:Ready on |"baseUrl":")([^\s"]+)/)
  await io.stderr.seen(/(?:watch {4}|"event":"watch","message":")petstore-sandbox\.yaml/)
  const ask = (path = '/pets?limit=100', key = 'sandbox') =>
    get({ baseUrl }, path, key, { headers: { connection: 'close' } })
  const list = async (key?: string) => (await (await ask(undefined, key)).json()) as readonly { readonly id: number }[]
  const count = async (key?: string) => (await list(key)).length
  return { io, write, ended, baseUrl, get: ask, list, count }
}

/** Handlers are registered once the contract is read. */
function onFirst(io: TestIo, act: () => void): TestIo['onSignal'] {
  return (listener) => {
    act()
    return io.onSignal(listener)
  }
}

describe('serve --watch', () => {
  it('resets every space to changed fixtures of a resource of its contract, also to a new file', async () => {
    const spec = fileURLToPath(new URL('../contract/specs/projects.yaml', import.meta.url))
    const files = { 'fixtures/pets.json': '[]', 'fixtures/projects.json': '[{"name":"First"}]' }
    const { io, write, get } = await watching(files, ` --fixtures fixtures --spec ${spec}`)
    const names = async (path: string) =>
      ((await (await get(path)).json()) as { name: string }[]).map(({ name }) => name)
    expect(await names('/projects')).toEqual(['First'])
    write('fixtures/projects.json', '[{"name":"Second"}]')
    await io.stderr.seen(/fixtures\/projects\.json has changed: every space was reset to the fixtures/)
    expect(await names('/projects')).toEqual(['Second'])
    write('fixtures/tasks.json', '[')
    await io.stderr.seen(/fixtures\/tasks\.json has changed, but the sandbox stays as it was/)
  })

  it('serves the contract with a change of a file that it refers to, also one that was invalid or new', async () => {
    const operation = "get: { responses: { '200': { description: Rooms, content: { application/json: { schema: { $ref: "
    const rooms = (file: string) => `paths: { /rooms: { ${operation}${file} } } } } } } } }`
    const room = (name: string) => `type: object\nexample: { name: ${name} }`
    const own = `openapi: 3.1.0\ninfo: { title: Rooms, version: '1' }\n${rooms('room.yaml')}`
    const { io, write, get } = await watching({ 'own.yaml': own, 'room.yaml': room('Blue') }, ' --spec own.yaml')
    expect(await (await get('/rooms')).json()).toEqual({ name: 'Blue' })
    write('room.yaml', room('Green'))
    await io.stderr.seen(/room\.yaml has changed: restarted with the contract as it is now/)
    expect(await (await get('/rooms')).json()).toEqual({ name: 'Green' })
    write('hall.yaml', '{')
    write('own.yaml', own.replace('room.yaml', 'hall.yaml'))
    await io.stderr.seen(/own\.yaml has changed, but the sandbox stays as it was: .*hall\.yaml is not valid/)
    write('hall.yaml', room('Great'))
    await io.stderr.seen(/hall\.yaml has changed: restarted with the contract as it is now/)
    expect(await (await get('/rooms')).json()).toEqual({ name: 'Great' })
  })

  it('puts changed handlers in force, and keeps the last ones if they are broken', async () => {
    const handlers = (text: string) => `export const getPet = () => (${text})`
    const { io, write, get } = await watching({ 'own.mjs': handlers('{ body: 1 }') }, ' --handlers own.mjs')
    await get('/pets/1')
    write('own.mjs', handlers('{ body: 22 }'))
    await io.stderr.seen(/own\.mjs has changed: handlers in force/)
    expect(await (await get('/pets/1')).json()).toBe(22)
    write('own.mjs', 'export const getPets = () => 7')
    await io.stderr.seen(/own\.mjs has changed, but the sandbox stays as it was: .*no operation "getPets"/)
    expect(await (await get('/pets/1')).json()).toBe(22)
  })

  it.each([
    [
      'is read, before the sandbox is ready',
      (io: TestIo, edit: () => void) => ({ ...io, onSignal: onFirst(io, edit) }),
    ],
    [
      'is read, as soon as the sandbox is ready',
      (io: TestIo, edit: () => void) => {
        const write = io.stderr._write.bind(io.stderr)
        io.stderr._write = (chunk: Buffer, encoding, done) => {
          if (String(chunk).includes('"event":"ready"')) edit()
          write(chunk, encoding, done)
        }
        return io
      },
    ],
  ])('notices a change after a file %s', async (_when, prepare) => {
    const yaml = readFileSync(openapiFile, 'utf8')
    const io = testIo()
    const spec = join(io.cwd, 'own.yaml')
    writeFileSync(spec, yaml)
    const edit = () => writeFileSync(spec, yaml.replace('maximum: 100', 'maximum: 6'))
    const argv = ['serve', '--port', '0', '--in-memory', '--log', 'json', '--watch', '--spec', spec]
    const ended = runCli(argv, prepare(io, edit))
    await io.stderr.seen(/own\.yaml has changed: restarted with the contract as it is now/)
    io.signal('SIGTERM')
    expect(await ended).toBe(0)
  })

  it('resets every space to changed fixtures', async () => {
    const { io, write, count } = await watching({ 'fixtures/pets.json': pets(2) }, ' --fixtures fixtures')
    expect([await count(), await count('sandbox~a')]).toEqual([2, 2])
    write('fixtures/pets.json', pets(3))
    await io.stderr.seen(/fixtures\/pets\.json has changed: every space was reset to the fixtures/)
    expect([await count(), await count('sandbox~a'), await count('sandbox~b')]).toEqual([3, 3, 3])
  })

  it('reports a reset and a restart in the JSON log, and verbs', async () => {
    const { io, write } = await watching({ 'fixtures/pets.json': pets(2) }, ' --fixtures fixtures', 'json')
    write('fixtures/pets.json', pets(3))
    await io.stderr.seen(
      /^{"event":"control","at":"[^"]+","space":"","message":"Reset the default space to its start: pets 3, orders 6\."}$/m,
    )
    await io.stderr.seen(
      /^{"event":"watch","message":"fixtures\/pets\.json has changed: every space was reset to the fixtures"}$/m,
    )
    write('petstore-sandbox.yaml', 'order: oldest\n')
    await io.stderr.seen(/^{"event":"watch","message":".*restarted; state in memory was lost"}$/m)
  })

  it('applies changed settings, storm and faults of config and scenario, and no others', async () => {
    const { io, write, get, count } = await watching({ 'own.yaml': 'plan: pro\n' }, ' --scenario ./own.yaml')
    const created = await get('/pets')
    expect(created.headers.get('X-RateLimit-Limit')).toBe('300')
    write('own.yaml', 'plan: business\nfault: getPet:503\n')
    await io.stderr.seen(/own\.yaml has changed: settings, faults in force/)
    expect((await get('/pets')).headers.get('X-RateLimit-Limit')).toBe('1000')
    expect((await get('/pets/1')).status).toBe(503)
    // The scenario was named by a flag, which wins over the file.
    write('petstore-sandbox.yaml', 'plan: free\nfreeze: true\nretry-after: http-date\n')
    await io.stderr.seen(/petstore-sandbox\.yaml has changed: settings in force; .*freeze from the next reset on/)
    expect((await get('/pets')).headers.get('X-RateLimit-Remaining')).toBe('997')
    write('petstore-sandbox.yaml', 'plam: free\n')
    await io.stderr.seen(/warning: petstore-sandbox\.yaml has changed, but .*plam.*Did you mean/i)
    expect(await count()).toBe(60)
  })

  it('restarts at the same address with a changed contract', async () => {
    const yaml = readFileSync(openapiFile, 'utf8')
    const { io, write, baseUrl, get } = await watching({ 'own.yaml': yaml }, ' --spec own.yaml')
    const locator = () => JSON.parse(readFileSync(join(io.cwd, '.petstore-sandbox/run.json'), 'utf8'))
    const before = locator()
    expect((await get('/pets?limit=7')).status).toBe(200)
    write('own.yaml', yaml.replace('maximum: 100', 'maximum: 6'))
    await io.stderr.seen(/own\.yaml has changed: restarted with the contract as it is now; state in memory was lost/)
    expect((await get('/pets?limit=7')).status).toBe(400)
    expect(locator()).toMatchObject({ baseUrl, pid: before.pid })
    expect(await healthOf(locator().controlUrl)).toMatchObject({ startedAt: locator().startedAt })
    write('own.yaml', 'openapi: 3.1.0\npaths: [')
    await io.stderr.seen(/warning: own\.yaml has changed, but the sandbox stays as it was/)
    expect((await get('/pets?limit=7')).status).toBe(400)
  })

  it('restores the old sandbox if the new one cannot start', async () => {
    const { io, write, list } = await watching({ 'petstore-sandbox.yaml': 'order: oldest\n' })
    write('petstore-sandbox.yaml', 'order: newest\nfixtures: nowhere\n')
    await io.stderr.seen(/warning: petstore-sandbox\.yaml has changed, but .*nowhere/)
    expect((await list())[0]?.id).toBe(1)
    write('petstore-sandbox.yaml', 'order: newest\n')
    await io.stderr.seen(/petstore-sandbox\.yaml has changed: restarted/)
    expect((await list())[0]?.id).not.toBe(1)
  })

  it('applies changed options only once the fixtures are valid', async () => {
    const files = { 'fixtures/pets.json': pets(2), 'petstore-sandbox.yaml': 'order: oldest\n' }
    const { io, write, list } = await watching(files, ' --fixtures fixtures')
    write('fixtures/pets.json', '[{"id": "one"')
    await io.stderr.seen(
      /warning: fixtures\/pets\.json has changed, but the sandbox stays as it was: .*is not valid JSON/,
    )
    write('petstore-sandbox.yaml', 'order: newest\n')
    await io.stderr.seen(/petstore-sandbox\.yaml has changed, but the sandbox stays as it was: .*pets\.json/)
    expect((await list()).map(({ id }) => id)).toEqual([1, 2])
    write('fixtures/pets.json', pets(3))
    await io.stderr.seen(/pets\.json has changed: restarted/)
    expect((await list()).map(({ id }) => id)).toEqual([3, 2, 1])
  })

  it('does not move to another address, and stops cleanly while a file changes', async () => {
    const { io, write, get, ended, baseUrl } = await watching({ 'petstore-sandbox.yaml': 'order: oldest\n' })
    write('petstore-sandbox.yaml', 'base-path: /api/v2\n')
    await io.stderr.seen(/warning: .*basePath cannot change while it runs\. Start serve again for that\./)
    expect((await get('/pets')).status).toBe(200)
    write('petstore-sandbox.yaml', 'order: newest\n')
    io.signal('SIGTERM')
    expect(await ended).toBe(0)
    await expect(fetch(baseUrl)).rejects.toThrow()
  })
})
