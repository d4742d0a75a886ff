import type { Pet } from '../../src/domain/pets.js'
import { type HeldReply, Keeper } from '../../src/store/keeper.js'
import { openFileStore } from '../../src/store/open-file-store.js'

/**
 * Adds pets to a store, eight at a time, until it is killed. Reports each id to the parent once the store has
 * acknowledged the pet.
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

function report(id: string): Promise<void> {
  return new Promise((resolve) => process.send?.(id, () => resolve()))
}

async function write(): Promise<never> {
  for (;;) {
    const id = next++
    const pet: Pet = { id, name: `犬 ${id} ${'x'.repeat(Number(id % 200n))}`, categoryId: id }
    const reply: HeldReply = {}
    keeper.take({ kind: 'pet', pet }, () => pets.splice(pets.indexOf(pet), 1))
    pets.push(pet)
    keeper.watch(reply)
    await keeper.settle()
    if (reply.withheld !== undefined) throw reply.withheld
    await report(String(id))
  }
}
await Promise.all(Array.from({ length: 8 }, write))
