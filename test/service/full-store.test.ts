import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { type TestSandbox, transports } from '../support/transports.js'

const GROWN = fileURLToPath(new URL('../contract/specs/grown.yaml', import.meta.url))
const KIB = 1024
const LARGE = { name: 'x'.repeat(4 * KIB), categoryId: 1 }

/** Adds pets of four kibibytes until one is refused. @returns how many were kept */
async function fill(sandbox: TestSandbox, key = 'sandbox'): Promise<number> {
  for (let kept = 0; ; kept++) {
    const { status, code, text } = await sandbox.post('/pets', LARGE, key)
    if (status === 201) continue
    expect([status, code]).toEqual([507, 'store_full'])
    expect(JSON.parse(text)).toEqual({ code, message: expect.stringContaining('--max-store'), status })
    return kept
  }
}

describe.each(transports)('a sandbox with --max-store, %s', (name, openSandbox) => {
  const inMemory = ['in memory', () => ({})] as const
  const onDisk = ['on disk', () => ({ store: join(temporaryFolder(), 'store.json') })] as const
  // Replicas support no store.
  const places = name === 'with two replicas' ? [inMemory] : [inMemory, onDisk]

  it.each(places)('%s returns 507 when it is full, warns once, and serves on', async (_where, place) => {
    const sandbox = await openSandbox({ maxStore: '64KiB', rateLimit: false, strict: true, ...place() })
    const kept = await fill(sandbox)
    expect(kept).toBeGreaterThan(10)
    expect(kept).toBeLessThan(16)
    await fill(sandbox)
    expect(sandbox.warnings).toEqual([expect.stringMatching(/is full \(--max-store 64KiB\)/)])
    expect((await sandbox.get('/pets')).status).toBe(200)
    const refused = await sandbox.control('POST', '/resources/pets', LARGE)
    expect([refused.status, refused.json.code]).toEqual([507, 'store_full'])
    // Less than a pet is left.
    const added = []
    for (const one of ['a', 'b', 'c']) added.push(await sandbox.control('POST', '/keys', { key: one.repeat(2 * KIB) }))
    expect(added.at(-1)).toMatchObject({ status: 507, json: { code: 'store_full' } })
  })

  it.each(places)('%s holds records of any resource to it', async (_where, place) => {
    const sandbox = await openSandbox({ spec: GROWN, maxStore: '64KiB', rateLimit: false, ...place() })
    let kept = 0
    const add = () => sandbox.post('/categories', { name: `${kept} ${LARGE.name}` })
    while ((await add()).status === 201 && kept < 100) kept++
    expect(kept).toBeGreaterThan(7)
    expect(kept).toBeLessThan(16)
    expect((await add()).code).toBe('store_full')
  })

  it.each(places)('%s has room again after a removal, and after a reset', async (_where, place) => {
    const sandbox = await openSandbox({ maxStore: '64KiB', rateLimit: false, ...place() })
    const kept = await fill(sandbox)
    const [newest] = (await sandbox.get('/pets?limit=1')).json as { id: number }[]
    expect((await sandbox.control('DELETE', `/resources/pets/${newest?.id}`)).status).toBe(200)
    expect((await sandbox.post('/pets', LARGE)).status).toBe(201)
    expect((await sandbox.control('POST', '/reset')).status).toBe(200)
    expect(Math.abs((await fill(sandbox)) - kept)).toBeLessThan(2)
  })

  it('holds all spaces in memory to it together, counts bytes, and gives back what a removed one held', async () => {
    const sandbox = await openSandbox({ maxStore: '64KiB', rateLimit: false })
    const pet = { name: '犬'.repeat(KIB), categoryId: 1 }
    let kept = 0
    while ((await sandbox.post('/pets', pet, 'sandbox~a')).status === 201) kept++
    expect(kept).toBe(20)
    expect((await sandbox.post('/pets', pet, 'sandbox~b')).status).toBe(507)
    expect((await sandbox.control('DELETE', '/spaces/a')).status).toBe(200)
    expect(await fill(sandbox, 'sandbox~b')).toBeGreaterThan(13)
  })

  it.each(places)(
    'counts fault rules with their bodies %s, and gives back what removed ones held',
    async (_where, place) => {
      const sandbox = await openSandbox({ maxStore: '64KiB', rateLimit: false, ...place() })
      const rule = { operation: 'getPet', fault: 'status', status: 500, body: 'x'.repeat(10 * KIB) }
      const add = (i: number, space = '') =>
        sandbox.control('POST', `/faults?space=${space}`, { ...rule, status: 500 + i })
      for (let i = 0; i < 3; i++) expect((await add(i)).status).toBe(200)
      for (let i = 0; i < 3; i++) expect((await add(i, 'a')).status).toBe(200)
      expect(await add(7)).toMatchObject({ status: 507, json: { code: 'store_full' } })
      expect((await sandbox.control('GET', '/faults')).json).toHaveLength(3)
      expect((await sandbox.control('DELETE', '/faults')).status).toBe(200)
      for (let i = 0; i < 3; i++) expect((await add(i, 'a')).status).toBe(200)
      expect((await add(7)).status).toBe(507)
      expect((await sandbox.control('POST', '/reset?space=a')).status).toBe(200)
      expect((await sandbox.control('POST', '/undo?space=a')).status).toBe(200)
      expect((await add(7)).status).toBe(507)
      expect((await sandbox.control('DELETE', '/spaces/a')).status).toBe(200)
      for (let i = 0; i < 6; i++) expect((await add(i)).status).toBe(200)
    },
  )

  it('counts the snapshots of spaces in memory, and gives back what a removed or replaced one held', async () => {
    const sandbox = await openSandbox({ maxStore: '64KiB', rateLimit: false })
    const save = (name: string) => sandbox.control('PUT', `/snapshots/${name}?space=a`)
    for (let i = 0; i < 5; i++) await sandbox.post('/pets', LARGE, 'sandbox~a')
    expect((await save('one')).status).toBe(200)
    expect((await save('one')).status).toBe(200)
    expect(await save('two')).toMatchObject({ status: 507, json: { code: 'store_full' } })
    expect((await sandbox.control('DELETE', '/snapshots/one?space=a')).status).toBe(200)
    expect((await save('two')).status).toBe(200)
    expect((await sandbox.control('DELETE', '/spaces/a')).status).toBe(200)
    expect(await fill(sandbox, 'sandbox~b')).toBeGreaterThan(13)
  })
})

it('a record that a verb was refused for want of room is not in the store either, for which it was folded', async () => {
  const store = join(temporaryFolder(), 'store.json')
  const sandbox = await startSandbox({ maxStore: '64KiB', store })
  const add = () => sandbox.records.add('pets', LARGE)
  for (let isFull = false; !isFull; )
    isFull = await add().then(
      () => false,
      () => true,
    )
  const pets = await sandbox.records.list('pets', { limit: 100 })
  await sandbox.close()
  await using again = await startSandbox({ store })
  expect(await again.records.list('pets', { limit: 100 })).toEqual(pets)
})

it('a store on disk never has more than --max-store in document and journal, however often the same pets change', async () => {
  const [[, openSandbox]] = transports as [(typeof transports)[number]]
  const store = join(temporaryFolder(), 'store.json')
  const sandbox = await openSandbox({ maxStore: '64KiB', rateLimit: false, store })
  for (let i = 0; i < 200; i++) {
    const { status } = await sandbox.control('PATCH', '/resources/pets/1', { name: `${i}`.padEnd(KIB) })
    expect(status).toBe(200)
    const journal = statSync(`${store}.journal`, { throwIfNoEntry: false })?.size ?? 0
    expect(statSync(store).size + journal).toBeLessThan(65 * KIB)
  }
  expect(sandbox.warnings).toEqual([])
})
