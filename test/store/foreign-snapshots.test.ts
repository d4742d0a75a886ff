import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { temporaryFolder } from '../support/temporary-files.js'

it('a file of the user beside snapshots is no snapshot, and stays', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'snapshots', 'users.json')
  mkdirSync(join(folder, 'snapshots'))
  writeFileSync(file, '{"mine":1}')
  await using sandbox = await createSandbox({ store: join(folder, 'db.json') })
  await sandbox.snapshots.save('own')
  expect(await sandbox.snapshots.list()).toEqual(['own'])
  await expect(sandbox.snapshots.save('users')).rejects.toThrow('is another file, and not a snapshot')
  await expect(sandbox.snapshots.remove('users')).rejects.toThrow('is another file, and not a snapshot')
  expect(readFileSync(file, 'utf8')).toBe('{"mine":1}')
})

it('a snapshot of another store in the same folder is neither listed, restored nor replaced', async () => {
  const folder = temporaryFolder()
  await using one = await createSandbox({ store: join(folder, 'one.json') })
  await using other = await createSandbox({ store: join(folder, 'other.json'), generate: ['pets=1'] })
  await one.snapshots.save('full')
  const text = readFileSync(join(folder, 'snapshots', 'full.json'), 'utf8')
  expect([await one.snapshots.list(), await other.snapshots.list()]).toEqual([['full'], []])
  for (const verb of ['restore', 'save', 'remove'] as const)
    await expect(other.snapshots[verb]('full')).rejects.toThrow(
      'is a snapshot of the store "one.json". Choose another name.',
    )
  expect(readFileSync(join(folder, 'snapshots', 'full.json'), 'utf8')).toBe(text)
  expect(await other.records.list('pets')).toHaveLength(1)
  await one.snapshots.restore('full')
})

it('a snapshot that names no store, as of an earlier build, is of every store in its folder', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'snapshots', 'full.json')
  await using one = await createSandbox({ store: join(folder, 'one.json'), generate: ['pets=3'] })
  await one.snapshots.save('full')
  writeFileSync(file, readFileSync(file, 'utf8').replace('"store":"one.json",', ''))
  await using other = await createSandbox({ store: join(folder, 'other.json'), generate: ['pets=1'] })
  expect(await other.snapshots.list()).toEqual(['full'])
  await other.snapshots.restore('full')
  expect(await other.records.list('pets')).toHaveLength(3)
})
