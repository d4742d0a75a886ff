import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Pet } from '../../src/domain/pets.js'
import { type Disk, REAL_DISK } from '../../src/store/disk.js'
import { Owner, temporaryFolder } from './owner.js'

const pet = (id: number): Pet => ({ id, name: `Pet ${id}`, categoryId: 1 })

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: as the test wants it`), { code })
}

/** A disk that can be told to fail. */
class FailingDisk implements Disk {
  /** Bytes that still fit; a write takes what it can. */
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

/** What a process killed now would leave behind, read back. */
async function afterKill(file: string): Promise<readonly Pet[]> {
  const copy = join(temporaryFolder(), 'store.json')
  writeFileSync(copy, readFileSync(file))
  writeFileSync(`${copy}.journal`, readFileSync(`${file}.journal`))
  const owner = await Owner.open(copy)
  await owner.store.close()
  return owner.state.pets
}

describe('a store on a disk that fails', () => {
  it('refuses what does not fit, keeps nothing of it, and serves on when there is room', async () => {
    const file = join(temporaryFolder(), 'store.json')
    const disk = new FailingDisk()
    const owner = await Owner.start(file, { disk })
    await owner.change({ kind: 'pet', pet: pet(10) })
    // The first line of these fits, so it must be taken back.
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

  it('takes a failed write back before the next one, if it could not be taken back at once', async () => {
    const file = join(temporaryFolder(), 'store.json')
    const disk = new FailingDisk()
    const owner = await Owner.start(file, { disk })
    await owner.change({ kind: 'pet', pet: pet(10) })
    disk.room = 20
    disk.canTruncate = false
    await expect(owner.change({ kind: 'pet', pet: pet(11) })).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
    // There is room again, but what is in the file must go first.
    disk.room = Number.POSITIVE_INFINITY
    await expect(owner.change({ kind: 'pet', pet: pet(12) })).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
    disk.canTruncate = true
    await owner.change({ kind: 'pet', pet: pet(13) })
    expect(await afterKill(file)).toEqual(owner.state.pets)
    await owner.store.close()
  })

  it('does not acknowledge what could not be synced', async () => {
    const file = join(temporaryFolder(), 'store.json')
    const disk = new FailingDisk()
    const owner = await Owner.start(file, { disk, fsync: true })
    await owner.change({ kind: 'pet', pet: pet(10) })
    disk.canSync = false
    await expect(owner.change({ kind: 'pet', pet: pet(11) })).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' })
    expect(await afterKill(file)).toEqual(owner.state.pets)
    disk.canSync = true
    await owner.change({ kind: 'pet', pet: pet(12) })
    expect(await afterKill(file)).toEqual(owner.state.pets)
    await owner.store.close()
  })

  it('keeps its journal when it is full at the stop', async () => {
    const file = join(temporaryFolder(), 'store.json')
    const disk = new FailingDisk()
    const owner = await Owner.start(file, { disk })
    await owner.change({ kind: 'pet', pet: pet(10) })
    disk.room = 0
    await owner.store.close()
    expect(owner.warnings).toEqual([expect.stringContaining('Nothing is lost')])
    const again = await Owner.open(file)
    expect(again.state).toEqual(owner.state)
    await again.store.close()
  })

  it('does not open a new store that cannot be written', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, '.store.json.next.tmp', 'in-the-way'), { recursive: true })
    await expect(Owner.start(join(folder, 'store.json'))).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' })
  })
})

/** A small disk of its own, where this machine lets us have one. */
function mountSmallDisk(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('a store on a disk that is really full', () => {
  it('loses nothing, and serves on when there is room', async ({ skip }) => {
    const folder = temporaryFolder()
    if (!mountSmallDisk(folder)) return skip('mounting a disk takes root')
    onTestFinished(() => {
      execFileSync('umount', [folder])
    })
    const file = join(folder, 'store.json')
    const owner = await Owner.start(file)
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(40_000))
    let refused = 0
    for (let id = 10; refused < 3; id++) {
      await owner.change({ kind: 'pet', pet: { ...pet(id), name: 'x'.repeat(5_000) } }).catch(() => refused++)
      expect(await afterKill(file)).toEqual(owner.state.pets)
    }
    rmSync(join(folder, 'ballast'))
    await owner.change({ kind: 'pet', pet: pet(1000) })
    await owner.store.close()
    expect(owner.warnings).toEqual([])
    const again = await Owner.open(file)
    expect(again.state).toEqual(owner.state)
    await again.store.close()
  })
})
