import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-files.js'
import { startChild } from './child.js'
import { Owner } from './owner.js'

/** Kills a writing process after a number of acknowledged pets. @returns all acknowledged ids */
async function killAfter(file: string, count: number, fsync: boolean): Promise<readonly string[]> {
  const child = startChild('writer.ts', [file, fsync ? 'fsync' : 'no'])
  const acknowledgedIds: string[] = []
  child.on('message', (id) => {
    acknowledgedIds.push(String(id))
    if (acknowledgedIds.length === count) child.kill('SIGKILL')
  })
  const [[, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  expect(signal).toBe('SIGKILL')
  return acknowledgedIds
}

describe('a store whose process is killed while eight writers are active', () => {
  // Large counts are near compactions: 1 MiB of journal has about 4,000 pets.
  it.each([
    [false, [1, 7, 100, 3999, 12_345]],
    [true, [1, 50, 500]],
  ])('has every acknowledged pet, digit for digit (fsync: %s)', async (fsync, counts) => {
    const file = join(temporaryFolder(), 'store.json')
    const acknowledged: string[] = []
    for (const count of counts) {
      acknowledged.push(...(await killAfter(file, count, fsync)))
      const owner = await Owner.open(file)
      const pets = new Map(owner.state.pets.map((pet) => [String(pet.id), pet]))
      for (const id of acknowledged) {
        const name = `犬 ${id} ${'x'.repeat(Number(BigInt(id) % 200n))}`
        expect(pets.get(id)).toEqual({ id: BigInt(id), name, categoryId: BigInt(id) })
      }
      await owner.store.close()
    }
    expect(acknowledged.length).toBeGreaterThan(500)
  })
})
