import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Pet } from '../../src/contract/generated/entities.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { folderWithin, Owner, put, stateIn } from './owner.js'

const pet = (id: number): Pet => ({ id, name: `Pet ${id}`, categoryId: 1 })

/** A store in use, with one acknowledged change in its journal. */
async function storeInUse() {
  const folder = folderWithin(temporaryFolder())
  const file = join(folder, 'store.json')
  const owner = await Owner.start(file)
  owner.change(put(pet(10)))
  await nextTurn()
  return { folder, file, owner }
}

describe('a store whose files are removed while it is in use', () => {
  it('acknowledges no more changes, and reports the loss on stop', async () => {
    const { folder, owner } = await storeInUse()
    rmSync(folder, { recursive: true })
    expect(() => owner.change(put(pet(11)))).toThrow(
      expect.objectContaining({
        code: 'STORE_WRITE_FAILED',
        message: expect.stringContaining('its lock file was removed'),
      }),
    )
    expect(() => owner.store.close()).toThrow(
      expect.objectContaining({
        code: 'STORE_LOST',
        message: expect.stringContaining('store.json'),
      }),
    )
    expect(owner.warnings).toEqual([])
    expect(existsSync(folder)).toBe(false)
  })

  it('notices it while a test has faked setImmediate', async () => {
    vi.useFakeTimers({ toFake: ['setImmediate'] })
    onTestFinished(() => void vi.useRealTimers())
    const { file, owner } = await storeInUse()
    rmSync(`${file}.lock`)
    expect(() => owner.change(put(pet(11)))).toThrow('its lock file was removed')
    owner.store.close()
  })

  it('does not touch another store in its place', async () => {
    const { folder, file, owner } = await storeInUse()
    renameSync(folder, `${folder}-moved`)
    mkdirSync(folder)
    const other = await Owner.start(file)
    other.change(put(pet(99)))
    const journal = readFileSync(`${file}.journal`)
    // As if it were another process.
    rmSync(`${file}.lock`)
    expect(() => owner.change(put(pet(11)))).toThrow(expect.objectContaining({ code: 'STORE_WRITE_FAILED' }))
    expect(() => owner.store.close()).toThrow(expect.objectContaining({ code: 'STORE_LOST' }))
    expect(readFileSync(`${file}.journal`)).toEqual(journal)
    other.store.close()
    const moved = file.replace(folder, `${folder}-moved`)
    rmSync(`${moved}.lock`)
    expect(await stateIn(moved)).toEqual(owner.state)
  })

  it('keeps all changes if only its lock is removed, and leaves the document to the new holder', async () => {
    const { file, owner } = await storeInUse()
    rmSync(`${file}.lock`)
    const before = readFileSync(file)
    owner.store.close()
    expect(owner.warnings).toEqual([expect.stringMatching(/lock file was removed.*No changes are lost/)])
    expect(readFileSync(file)).toEqual(before)
    expect(await stateIn(file)).toEqual(owner.state)
  })
})
