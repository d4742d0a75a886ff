import type { Pet } from '../../src/domain/pets.js'
import { type HeldReply, Keeper } from '../../src/store/keeper.js'
import { openFileStore } from '../../src/store/open-file-store.js'

/**
 * A process that adds pets to a store, eight at a time, until it is killed. Each
 * pet is told to the parent after the store has acknowledged it, and not before.
 */
const [file = '', fsync] = process.argv.slice(2)
const { state, store } = await openFileStore(file, {
  fsync: fsync === 'fsync',
  maxBytes: Number.MAX_SAFE_INTEGER,
  warn: () => {},
  now: () => 0,
})
const pets: Pet[] = [...(state?.pets ?? [])]
let next = 2n ** 60n + BigInt(pets.length)
const keeper = new Keeper(store, () => {})
await store.start(() => ({ nextPetId: 1, pets: [...pets], orders: [], keys: [] }))

function told(id: string): Promise<void> {
  return new Promise((resolve) => process.send?.(id, () => resolve()))
}

async function write(): Promise<never> {
  for (;;) {
    const id = next++
    const pet: Pet = { id, name: `犬 ${id} ${'x'.repeat(Number(id % 200n))}`, categoryId: id }
    const witness: HeldReply = {}
    keeper.take({ kind: 'pet', pet }, () => pets.splice(pets.indexOf(pet), 1))
    pets.push(pet)
    keeper.watch(witness)
    await keeper.settle()
    if (witness.withheld !== undefined) throw witness.withheld
    await told(String(id))
  }
}
await Promise.all(Array.from({ length: 8 }, write))
