import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/core/ports.js'
import type { Change, SpaceState } from '../../src/domain/state.js'
import { Recovery } from '../../src/store/recovery.js'
import { changed, Owner, SEED, temporaryFolder } from './owner.js'

/** A store that can be ended, and what it then holds. */
interface Tried {
  readonly store: Store
  close(): Promise<SpaceState>
}

/** The double: what a store is, without a file. */
class MemoryStore implements Store {
  readonly #recovery = new Recovery()
  #isClosed = false

  constructor(state: SpaceState) {
    this.#recovery.addState(state)
  }

  async append(change: Change): Promise<void> {
    if (this.#isClosed) throw Object.assign(new Error('closed'), { code: 'STORE_CLOSED' })
    this.#recovery.apply(change)
  }

  async close(): Promise<SpaceState> {
    this.#isClosed = true
    return this.#recovery.state()
  }
}

async function inFile(fsync: boolean): Promise<Tried> {
  const file = join(temporaryFolder(), 'store.json')
  const owner = await Owner.start(file, { fsync })
  const append = (change: Change) => owner.change(change)
  return {
    store: { append },
    async close() {
      await owner.store.close()
      await expect(owner.store.append({ kind: 'pet-removed', id: 1 })).rejects.toMatchObject({ code: 'STORE_CLOSED' })
      const again = await Owner.open(file)
      await again.store.close()
      return again.state
    },
  }
}

async function inMemory(): Promise<Tried> {
  const store = new MemoryStore(SEED)
  return { store, close: () => store.close() }
}

const stores: readonly (readonly [string, () => Promise<Tried>])[] = [
  ['in memory', inMemory],
  ['in a file', () => inFile(false)],
  ['in a file, synced', () => inFile(true)],
]

describe.each(stores)('a store %s', (_where, open) => {
  it('holds what it began with', async () => {
    expect(await (await open()).close()).toEqual(SEED)
  })

  it('holds every kind of change', async () => {
    const changes: readonly Change[] = [
      { kind: 'pet', pet: { id: 3, name: 'Rex', categoryId: 1 } },
      { kind: 'pet', pet: { id: 1, name: 'Bella', categoryId: 1, status: 'sold' } },
      { kind: 'pet-removed', id: 9007199254740993n },
      { kind: 'pet', pet: { id: 9223372036854775807n, name: '', categoryId: -9223372036854775808n } },
      { kind: 'key', key: { key: 'more', plan: 'pro' } },
      { kind: 'key', key: { key: 'sandbox', plan: 'business' } },
      { kind: 'key-removed', key: 'sandbox-banned' },
    ]
    const tried = await open()
    for (const change of changes) await tried.store.append(change)
    expect(await tried.close()).toEqual(changes.reduce(changed, SEED))
  })

  it('makes changes that are given at once in the order given', async () => {
    const tried = await open()
    const order: number[] = []
    const appends = Array.from({ length: 100 }, async (_, index) => {
      await tried.store.append({ kind: 'pet', pet: { id: 3 + (index % 7), name: `${index}`, categoryId: index } })
      order.push(index)
    })
    await Promise.all(appends)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect((await tried.close()).pets.slice(-7).map(({ name }) => name)).toEqual([
      '98',
      '99',
      '93',
      '94',
      '95',
      '96',
      '97',
    ])
  })

  it('writes what was given before it is closed', async () => {
    const tried = await open()
    const appended = tried.store.append({ kind: 'pet', pet: { id: 3, name: 'Rex', categoryId: 1 } })
    const state = await tried.close()
    await appended
    expect(state.pets.at(-1)?.name).toBe('Rex')
  })

  it('is another one after a replacement', async () => {
    const tried = await open()
    const state: SpaceState = { nextPetId: 1, pets: [], orders: [], keys: [] }
    await tried.store.append({ kind: 'replaced', state })
    expect(await tried.close()).toEqual(state)
  })
})
