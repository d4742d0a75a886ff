import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Layout } from '../../src/store/layout.js'
import { SnapshotFolder } from '../../src/store/snapshot-folder.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { Owner, SEED } from './owner.js'

describe('in a cloned folder', () => {
  it('a link in the place of the own folder is refused, and the folder behind it is left alone', async () => {
    const elsewhere = join(temporaryFolder(), 'home')
    mkdirSync(elsewhere, { mode: 0o755 })
    const folder = temporaryFolder()
    symlinkSync(elsewhere, join(folder, '.petstore-sandbox'))
    await expect(Owner.open(join(folder, '.petstore-sandbox/store.json'))).rejects.toMatchObject({
      code: 'STORE_UNREADABLE',
      message: expect.stringContaining('is a symbolic link, not a folder'),
    })
    expect(readdirSync(elsewhere)).toEqual([])
    expect(statSync(elsewhere).mode & 0o777).toBe(0o755)
  })

  it('a link in the place of the default store is refused', async () => {
    const folder = temporaryFolder()
    const elsewhere = join(temporaryFolder(), 'other.json')
    writeFileSync(elsewhere, '{}')
    mkdirSync(join(folder, '.petstore-sandbox'))
    symlinkSync(elsewhere, join(folder, '.petstore-sandbox/store.json'))
    await expect(Owner.open(join(folder, '.petstore-sandbox/store.json'))).rejects.toMatchObject({
      code: 'STORE_UNREADABLE',
      message: expect.stringContaining('--store'),
    })
    expect(readFileSync(elsewhere, 'utf8')).toBe('{}')
  })

  it('a link in the place of the snapshots, or of one of them, is refused', async () => {
    const elsewhere = temporaryFolder()
    const secret = join(elsewhere, 'full.json')
    writeFileSync(secret, '{"crc":1,"snapshot":{}}')
    const folder = temporaryFolder()
    symlinkSync(elsewhere, join(folder, 'snapshots'))
    const linked = new SnapshotFolder(join(folder, 'snapshots'), false, new Layout([]))
    const unusable = { message: expect.stringContaining('is a symbolic link') }
    await expect(linked.names()).rejects.toMatchObject(unusable)
    await expect(linked.get('full')).rejects.toMatchObject(unusable)
    await expect(linked.remove('full')).rejects.toMatchObject(unusable)
    await expect(linked.put('full', { state: SEED } as never)).rejects.toMatchObject(unusable)
    const own = join(folder, 'own')
    mkdirSync(own)
    symlinkSync(secret, join(own, 'full.json'))
    await expect(new SnapshotFolder(own, false, new Layout([])).get('full')).rejects.toMatchObject(unusable)
    expect(existsSync(secret)).toBe(true)
    expect(readFileSync(secret, 'utf8')).toBe('{"crc":1,"snapshot":{}}')
  })
})
