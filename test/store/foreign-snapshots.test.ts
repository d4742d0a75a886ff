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
