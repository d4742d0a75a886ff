import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Pet } from '../../src/domain/pets.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { folderWithin, Owner, stateIn } from './owner.js'

const pet = (id: number): Pet => ({ id, name: `Pet ${id}`, categoryId: 1 })

/** A store in use, with one acknowledged change in its journal. */
async function storeInUse() {
  const folder = folderWithin(temporaryFolder())
  const file = join(folder, 'store.json')
  const owner = await Owner.start(file)
  await owner.change({ kind: 'pet', pet: pet(10) })
  return { folder, file, owner }
}

describe('a store whose files are removed while it is in use', () => {
  it('acknowledges no more changes, and reports the loss on stop', async () => {
    const { folder, owner } = await storeInUse()
    rmSync(folder, { recursive: true })
    await expect(owner.change({ kind: 'pet', pet: pet(11) })).rejects.toMatchObject({
      code: 'STORE_WRITE_FAILED',
      message: expect.stringContaining('its lock file was removed'),
    })
    await expect(owner.store.close()).rejects.toMatchObject({
      code: 'STORE_LOST',
      message: expect.stringContaining('store.json'),
    })
    expect(owner.warnings).toEqual([])
    expect(existsSync(folder)).toBe(false)
  })

  it('does not touch another store in its place', async () => {
    const { folder, file, owner } = await storeInUse()
    renameSync(folder, `${folder}-moved`)
    mkdirSync(folder)
    const other = await Owner.start(file)
    await other.change({ kind: 'pet', pet: pet(99) })
    const journal = readFileSync(`${file}.journal`)
    // As if it were another process.
    rmSync(`${file}.lock`)
    await expect(owner.change({ kind: 'pet', pet: pet(11) })).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
    await expect(owner.store.close()).rejects.toMatchObject({ code: 'STORE_LOST' })
    expect(readFileSync(`${file}.journal`)).toEqual(journal)
    await other.store.close()
    const moved = file.replace(folder, `${folder}-moved`)
    rmSync(`${moved}.lock`)
    expect(await stateIn(moved)).toEqual(owner.state)
  })

  it('keeps all changes if only its lock is removed, and leaves the document to the new holder', async () => {
    const { file, owner } = await storeInUse()
    rmSync(`${file}.lock`)
    const before = readFileSync(file)
    await owner.store.close()
    expect(owner.warnings).toEqual([expect.stringMatching(/lock file was removed.*No changes are lost/)])
    expect(readFileSync(file)).toEqual(before)
    expect(await stateIn(file)).toEqual(owner.state)
  })
})
