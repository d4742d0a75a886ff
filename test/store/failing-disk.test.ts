import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Pet } from '../../src/domain/pets.js'
import { type Disk, REAL_DISK } from '../../src/store/journal.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { aStore, Owner, stateIn } from './owner.js'

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

  async sync(fd: number): Promise<void> {
    if (!this.canSync) throw failure('EIO')
    await REAL_DISK.sync(fd)
  }
}

/** The pets in the files that a killed process would leave behind. */
async function afterKill(file: string): Promise<readonly Pet[]> {
  const copy = join(temporaryFolder(), 'store.json')
  writeFileSync(copy, readFileSync(file))
  writeFileSync(`${copy}.journal`, readFileSync(`${file}.journal`))
  return (await stateIn(copy)).pets
}

describe('a store on a failing disk', () => {
  it('refuses a change that does not fit, and works again when there is room', async () => {
    const disk = new FailingDisk()
    const { file, owner } = await aStore({ disk })
    await owner.change({ kind: 'pet', pet: pet(10) })
    // The first line fits, so it must be rolled back.
    disk.room = 100
    const refused = await Promise.allSettled([11, 12, 13].map((id) => owner.change({ kind: 'pet', pet: pet(id) })))
    for (const outcome of refused) {
      expect(outcome).toMatchObject({
        reason: { code: 'STORE_WRITE_FAILED', message: expect.stringContaining(`"${file}.journal" (ENOSPC`) },
      })
    }
    expect(await afterKill(file)).toEqual(owner.state.pets)
    disk.room = Number.POSITIVE_INFINITY
    await owner.change({ kind: 'pet', pet: pet(14) })
    expect(await afterKill(file)).toEqual(owner.state.pets)
    expect(owner.state.pets.map(({ id }) => id)).toEqual(expect.arrayContaining([10, 14]))
    await owner.store.close()
  })

  it('rolls back a failed write before the next one, if it could not immediately', async () => {
    const disk = new FailingDisk()
    const { file, owner } = await aStore({ disk })
    await owner.change({ kind: 'pet', pet: pet(10) })
    disk.room = 20
    disk.canTruncate = false
    await expect(owner.change({ kind: 'pet', pet: pet(11) })).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
    // There is room again, but the partial line must be removed first.
    disk.room = Number.POSITIVE_INFINITY
    await expect(owner.change({ kind: 'pet', pet: pet(12) })).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
    disk.canTruncate = true
    await owner.change({ kind: 'pet', pet: pet(13) })
    expect(await afterKill(file)).toEqual(owner.state.pets)
    await owner.store.close()
  })

  it('does not acknowledge a change that could not be synced', async () => {
    const disk = new FailingDisk()
    const { file, owner } = await aStore({ disk, fsync: true })
    await owner.change({ kind: 'pet', pet: pet(10) })
    disk.canSync = false
    await expect(owner.change({ kind: 'pet', pet: pet(11) })).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
    expect(await afterKill(file)).toEqual(owner.state.pets)
    disk.canSync = true
    await owner.change({ kind: 'pet', pet: pet(12) })
    expect(await afterKill(file)).toEqual(owner.state.pets)
    await owner.store.close()
  })

  it('compacts the journal on stop after a failed write', async () => {
    const disk = new FailingDisk()
    const { file, owner } = await aStore({ disk, maxBytes: 2000 })
    const name = 'x'.repeat(280)
    for (let round = 0; round < 4; round++) await owner.change({ kind: 'pet', pet: { ...pet(10), name } })
    disk.room = 0
    await expect(owner.change({ kind: 'pet', pet: pet(11) })).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
    disk.room = Number.POSITIVE_INFINITY
    await owner.store.makeRoom(1000)
    expect(statSync(`${file}.journal`).size).toBe(0)
    await owner.change({ kind: 'pet', pet: pet(12) })
    disk.room = 0
    await expect(owner.change({ kind: 'pet', pet: pet(13) })).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
    disk.room = Number.POSITIVE_INFINITY
    await owner.store.close()
    expect(existsSync(`${file}.journal`)).toBe(false)
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it.each([false, true])(
    'starts a new journal when its own is removed, with all changes (fsync: %s)',
    async (fsync) => {
      const { file, owner } = await aStore({ fsync })
      await owner.change({ kind: 'pet', pet: pet(10) })
      rmSync(`${file}.journal`)
      await expect(owner.change({ kind: 'pet', pet: pet(11) })).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
      while (!existsSync(`${file}.journal`)) await endOfTurn()
      await owner.change({ kind: 'pet', pet: pet(12) })
      expect(owner.state.pets.map(({ id }) => id)).toEqual(expect.arrayContaining([10, 12]))
      expect(await afterKill(file)).toEqual(owner.state.pets)
      await owner.store.close()
      expect(owner.warnings).toEqual([])
    },
  )

  it.each(['a write', 'nothing'])('closes within 5 s while the disk hangs during %s', async (what) => {
    const disk = new FailingDisk()
    const { file, owner } = await aStore({ disk, fsync: true })
    await owner.change({ kind: 'pet', pet: pet(10) })
    const before = owner.state
    disk.sync = () => new Promise(() => {})
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    if (what === 'a write') owner.change({ kind: 'pet', pet: pet(11) }).catch(() => {})
    await endOfTurn()
    const closed = owner.store.close()
    await vi.advanceTimersByTimeAsync(5000)
    await closed
    expect(owner.warnings).toEqual([expect.stringMatching(/the disk took longer than 5s.*No changes are lost/)])
    const again = await Owner.open(file)
    expect(again.state.pets).toEqual(expect.arrayContaining([...before.pets]))
    await again.store.close()
  })

  it('does not open a new store that cannot be written', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, '.store.json.next.tmp', 'in-the-way'), { recursive: true })
    await expect(Owner.start(join(folder, 'store.json'))).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' })
  })
})
