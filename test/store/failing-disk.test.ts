import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Pet } from '../../src/contract/generated/entities.js'
import { StoreFull } from '../../src/domain/problems.js'
import { type Disk, REAL_DISK } from '../../src/store/disk.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { aStore, Owner, petsOf, put, remove, stateIn } from './owner.js'

const pet = (id: number): Pet => ({ id, name: `Pet ${id}`, categoryId: 1 })

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: by the test`), { code })
}

class FailingDisk implements Disk {
  /** Remaining bytes; a write may be partial. */
  room = Number.POSITIVE_INFINITY
  canTruncate = true
  canSync = true

  write(fd: number, bytes: Uint8Array): number {
    if (this.room === 0) throw failure('ENOSPC')
    const written = REAL_DISK.write(fd, bytes.subarray(0, Math.min(bytes.length, this.room)))
    this.room -= written
    return written
  }

  truncate(fd: number, length: number): void {
    if (!this.canTruncate) throw failure('EIO')
    REAL_DISK.truncate(fd, length)
  }

  sync(fd: number): void {
    if (!this.canSync) throw failure('EIO')
    REAL_DISK.sync(fd)
  }
}

/** The pets in the files that a killed process would leave behind. */
async function afterKill(file: string): Promise<readonly Pet[]> {
  const copy = join(temporaryFolder(), 'store.json')
  writeFileSync(copy, readFileSync(file))
  writeFileSync(`${copy}.journal`, readFileSync(`${file}.journal`))
  return petsOf(await stateIn(copy))
}

const NOT_WRITTEN = expect.objectContaining({ code: 'STORE_WRITE_FAILED' })

describe('a store on a failing disk', () => {
  it('refuses a commit that does not fit at any byte, and keeps those before and after', async () => {
    const disk = new FailingDisk()
    const { file, owner } = await aStore({ disk })
    owner.change(put(pet(10)))
    const bytes = 2 * readFileSync(`${file}.journal`).length
    let refused = 0
    for (let room = 0; room < bytes; room++) {
      disk.room = room
      try {
        owner.change(put(pet(11)), put(pet(12)))
      } catch (error) {
        expect(error).toMatchObject({ message: expect.stringContaining(`"${file}.journal" (ENOSPC`) })
        refused++
      }
      disk.room = Number.POSITIVE_INFINITY
      expect(await afterKill(file)).toEqual(petsOf(owner.state))
    }
    expect(refused).toBeGreaterThan(100)
    owner.change(put(pet(13)))
    expect(await afterKill(file)).toEqual(petsOf(owner.state))
    owner.store.close()
  })

  it('removes a partial line before the next write, if it could not immediately', async () => {
    const disk = new FailingDisk()
    const { file, owner } = await aStore({ disk })
    owner.change(put(pet(10)))
    disk.room = 20
    disk.canTruncate = false
    expect(() => owner.change(put(pet(11)))).toThrow(NOT_WRITTEN)
    // There is room again, but the partial line must be removed first.
    disk.room = Number.POSITIVE_INFINITY
    expect(() => owner.change(put(pet(12)))).toThrow(NOT_WRITTEN)
    disk.canTruncate = true
    owner.change(put(pet(13)))
    expect(await afterKill(file)).toEqual(petsOf(owner.state))
    owner.store.close()
  })

  it('does not acknowledge a change that could not be synced', async () => {
    const disk = new FailingDisk()
    const { file, owner } = await aStore({ disk, fsync: true })
    owner.change(put(pet(10)))
    disk.canSync = false
    expect(() => owner.change(put(pet(11)))).toThrow(NOT_WRITTEN)
    expect(await afterKill(file)).toEqual(petsOf(owner.state))
    disk.canSync = true
    owner.change(put(pet(12)))
    expect(await afterKill(file)).toEqual(petsOf(owner.state))
    owner.store.close()
  })

  it('keeps the journal if it cannot be folded on stop, and says so', async () => {
    const disk = new FailingDisk()
    const { file, owner } = await aStore({ disk })
    owner.change(put(pet(10)))
    disk.room = 0
    owner.store.close()
    expect(owner.warnings).toEqual([expect.stringMatching(/ENOSPC.*No changes are lost: the journal has them/)])
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it('keeps changes after a fold that has replaced the document but could not clear the journal', async () => {
    const disk = new FailingDisk()
    const { file, owner } = await aStore({ disk })
    owner.change(put(pet(10)))
    await nextTurn()
    writeFileSync(file, 'edited, so that the next change folds')
    disk.canTruncate = false
    expect(() => owner.change(put(pet(11)))).toThrow(NOT_WRITTEN)
    disk.canTruncate = true
    owner.change(put(pet(12)))
    expect(await afterKill(file)).toEqual(petsOf(owner.state))
    owner.store.close()
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it('continues after its journal could not be replaced', async () => {
    const { file, owner } = await aStore()
    owner.change(put(pet(10)))
    await nextTurn()
    rmSync(`${file}.journal`)
    mkdirSync(`${file}.journal`)
    expect(() => owner.change(put(pet(11)))).toThrow(NOT_WRITTEN)
    expect(() => owner.change(put(pet(11)))).toThrow(NOT_WRITTEN)
    rmSync(`${file}.journal`, { recursive: true })
    owner.change(put(pet(12)))
    expect(await afterKill(file)).toEqual(petsOf(owner.state))
    owner.store.close()
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it.each([false, true])('continues if its journal is removed (fsync: %s)', async (fsync) => {
    const { file, owner } = await aStore({ fsync })
    owner.change(put(pet(10)))
    await nextTurn()
    rmSync(`${file}.journal`)
    owner.change(put(pet(11)))
    expect(await afterKill(file)).toEqual(petsOf(owner.state))
    owner.store.close()
    expect(owner.warnings).toEqual([])
  })

  it('does not open a new store that cannot be written', async () => {
    const folder = temporaryFolder()
    const disk = new FailingDisk()
    disk.room = 10
    await expect(Owner.start(join(folder, 'store.json'), { disk })).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' })
    expect(existsSync(join(folder, 'store.json'))).toBe(false)
  })
})

describe('a full store', () => {
  it('refuses further records, still removes some, and accepts others once there is room', async () => {
    const { file, owner } = await aStore({ maxBytes: 2000 })
    const add = (id: number) => owner.change(put({ ...pet(id), name: 'x'.repeat(200) }))
    let id = 10
    expect(() => {
      for (; id < 100; id++) add(id)
    }).toThrow(StoreFull)
    expect(owner.warnings).toEqual([expect.stringContaining('--max-store')])
    expect(() => add(id)).toThrow(StoreFull)
    expect(owner.warnings).toHaveLength(1)
    for (const { id: one } of petsOf(owner.state).slice(0, 5)) owner.change(remove(one))
    add(id)
    owner.store.close()
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it('is folded before it refuses, because several changes of one record are one then', async () => {
    const { file, owner } = await aStore({ maxBytes: 3000 })
    for (let round = 0; round < 20; round++) owner.change(put({ ...pet(10), name: 'x'.repeat(280) }))
    owner.store.close()
    expect(await stateIn(file)).toEqual(owner.state)
  })
})

it('--reset discards a damaged store once the start succeeds, and keeps a copy', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'store.json')
  writeFileSync(file, '{"version":1,')
  await expect(Owner.open(file)).rejects.toMatchObject({
    code: 'STORE_CORRUPT',
    message: expect.stringMatching(/--reset.*--in-memory/),
  })
  const opened = await Owner.open(file, { reset: true })
  expect(readFileSync(file, 'utf8')).toBe('{"version":1,')
  opened.store.start(() => opened.state)
  opened.store.close()
  const [kept = ''] = readdirSync(folder).filter((name) => name.includes('.discarded-'))
  expect(readFileSync(join(folder, kept), 'utf8')).toBe('{"version":1,')
  expect(opened.warnings).toEqual([expect.stringContaining(kept)])
  expect(await stateIn(file)).toEqual(opened.state)
})

it('--reset leaves the journal of a damaged store as it is if the start fails', async () => {
  const { file, owner } = await aStore()
  owner.change(put(pet(10)))
  const journal = readFileSync(`${file}.journal`)
  owner.store.close()
  writeFileSync(file, '{"version":1,')
  writeFileSync(`${file}.journal`, journal)
  const opened = await Owner.open(file, { reset: true })
  // As if the port were in use.
  opened.store.close()
  expect(readFileSync(`${file}.journal`)).toEqual(journal)
  rmSync(`${file}.journal`)
  const again = await Owner.open(file, { reset: true })
  again.store.close()
  expect(existsSync(`${file}.journal`)).toBe(false)
})

it('a store whose document cannot be replaced keeps its journal', async () => {
  const { file, owner } = await aStore()
  owner.change(put(pet(10)))
  rmSync(file)
  mkdirSync(file)
  owner.store.close()
  rmSync(file, { recursive: true })
  expect(owner.warnings.at(-1)).toContain('No changes are lost')
})
