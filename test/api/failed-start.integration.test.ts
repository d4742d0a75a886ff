import { existsSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSandbox, type SandboxOptions, startSandbox } from '../../src/index.js'
import { HAS_REDIS, RedisServer } from '../support/redis-server.js'
import { mountSmallDisk } from '../support/small-disk.js'
import { temporaryFolder } from '../support/temporary-files.js'

/** In the name of each temporary folder. */
const MARK = '/petstore-sandbox-'

/** What this process has open: servers, sockets, threads and, where the system lists them, files. */
function openThings(): readonly string[] {
  const resources = process.getActiveResourcesInfo().filter((kind) => /TCP|Worker|MessagePort/.test(kind))
  const descriptors = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : []
  // The descriptor that listed the folder is closed.
  const open = descriptors.filter((fd) => existsSync(join('/proc/self/fd', fd)))
  const files = open.map((fd) => readlinkSync(join('/proc/self/fd', fd))).filter((file) => file.includes(MARK))
  return [...resources, ...files].sort()
}

/** Sockets and threads end some turns after the request. */
async function expectNoMoreThan(before: readonly string[]): Promise<void> {
  const more = () => {
    const left = [...before]
    return openThings().filter((thing) => !left.includes(thing) || left.splice(left.indexOf(thing), 1).length === 0)
  }
  for (let turn = 0; turn < 5000 && more().length > 0; turn++) await endOfTurn()
  expect(more()).toEqual([])
}

/** A port that is taken, for the time of a test. */
async function takenPort(): Promise<{ readonly port: number; free(): Promise<void> }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const free = () => new Promise<void>((resolve) => server.close(() => resolve()))
  onTestFinished(free)
  return { port: (server.address() as AddressInfo).port, free }
}

type Open = (options: SandboxOptions) => Promise<{ close(): Promise<void> }>

/** An obstacle at one step of the start. */
interface Obstacle {
  readonly options: SandboxOptions
  readonly code: string
  /** The options that it takes once the obstacle is gone; the same ones unless they were the obstacle. */
  remove(): SandboxOptions | Promise<SandboxOptions>
}

/** Starts twice with the obstacle and once without, with a store in the folder, in this process. */
async function tryWith(open: Open, folder: string, { options, code, remove }: Obstacle): Promise<void> {
  const store = join(folder, 'store.json')
  const before = openThings()
  for (let attempt = 1; attempt <= 2; attempt++) {
    await expect(open({ store, ...options })).rejects.toMatchObject({ code })
    expect(readdirSync(folder).filter((name) => name.includes('.lock'))).toEqual([])
    await expectNoMoreThan(before)
  }
  const sandbox = await open({ store, ...(await remove()) })
  await sandbox.close()
  await expectNoMoreThan(before)
}

const wrongFile =
  (name: string, text: string, code: string, options: (folder: string) => SandboxOptions = () => ({})) =>
  (folder: string): Obstacle => {
    writeFileSync(join(folder, name), text)
    return { options: options(folder), code, remove: () => removeFrom(folder, name) }
  }

const wrongOptions = (options: SandboxOptions, code: string) => (): Obstacle => ({ options, code, remove: () => ({}) })

function removeFrom(folder: string, name: string): SandboxOptions {
  rmSync(join(folder, name), { recursive: true })
  return {}
}

/** The steps of a start, in its order. */
const STEPS: Readonly<Record<string, (folder: string) => Obstacle>> = {
  'the contract': wrongFile('own.yaml', 'openapi: [', 'SPEC_INVALID', (folder) => ({ spec: join(folder, 'own.yaml') })),
  'an operation of the contract': wrongOptions({ mock: 'listShops' }, 'UNKNOWN_OPERATION'),
  'the key of the real service': wrongOptions(
    { upstream: 'http://127.0.0.1:9/v1', upstreamApiKeyFile: '/nowhere/key' },
    'INVALID_TARGET',
  ),
  'the fixtures': wrongFile('pets.json', '[{"id": "one"', 'FIXTURES_INVALID', (fixtures) => ({ fixtures })),
  'the document of the store': wrongFile('store.json', '{', 'STORE_CORRUPT'),
  'the journal of the store': wrongFile('store.json.journal', 'one\ntwo\n', 'STORE_CORRUPT'),
  'a key of the scenario': wrongOptions({ scenario: { ban: { nobody: '5m' } } }, 'UNKNOWN_KEY'),
  'the label of a key': wrongOptions({ apiKey: ['same=one', 'same=two'] }, 'LABEL_TAKEN'),
}

describe.each([
  ['startSandbox', startSandbox],
  ['createSandbox', createSandbox],
] as const)('%s', (_name, open: Open) => {
  it.each(Object.entries(STEPS))(
    'leaves nothing open when it fails at %s, and can be tried again',
    async (_at, put) => {
      const folder = temporaryFolder()
      await tryWith(open, folder, put(folder))
    },
  )

  it.each([
    ['its lock', 64, 'STORE_UNWRITABLE', {}],
    ['its first document', 60, 'STORE_UNWRITABLE', {}],
    ['its reset', 52, 'STORE_UNWRITABLE', { reset: true }],
  ])(
    'leaves nothing open when the disk of its store is full at %s, and can be tried again',
    async (_at, kib, code, more) => {
      const folder = temporaryFolder()
      if (!mountSmallDisk(folder)) return
      if ('reset' in more) await (await open({ store: join(folder, 'store.json') })).close()
      writeFileSync(join(folder, 'fill'), Buffer.alloc(kib * 1024))
      const options = { generate: ['pets=200'], ...more }
      await tryWith(open, folder, { options, code, remove: () => ({ ...removeFrom(folder, 'fill'), ...options }) })
    },
  )

  it('leaves nothing open when Redis refuses its scripts', async () => {
    const words: string[] = []
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', (data) => {
        for (const command of data.toString().split(/(?=\*\d+\r\n\$)/)) {
          words.push(command.split('\r\n')[2] ?? '')
          socket.write(/\r\neval\r\n/i.test(command) ? '-NOPERM no scripts\r\n' : '+OK\r\n')
        }
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const before = openThings()
    const { port } = server.address() as AddressInfo
    await expect(open({ redis: `redis://127.0.0.1:${port}` })).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
    expect(words.map((word) => word.toUpperCase())).toContain('EVAL')
    await expectNoMoreThan(before)
  })
})

describe('startSandbox', () => {
  it('leaves nothing open when its port is taken, and can be tried again', async () => {
    const { port, free } = await takenPort()
    const remove = async () => {
      await free()
      return { port }
    }
    await tryWith(startSandbox, temporaryFolder(), { options: { port }, code: 'PORT_IN_USE', remove })
  })

  it.skipIf(!HAS_REDIS)('leaves its group when its port is taken', async () => {
    const redis = await RedisServer.start()
    onTestFinished(() => redis.end())
    const { port } = await takenPort()
    const before = openThings()
    for (let attempt = 1; attempt <= 2; attempt++)
      await expect(startSandbox({ redis: redis.url, port })).rejects.toMatchObject({ code: 'PORT_IN_USE' })
    await expectNoMoreThan(before)
    const sandbox = await startSandbox({ redis: redis.url })
    expect(await sandbox.replicas()).toHaveLength(1)
    await sandbox.close()
  })
})
