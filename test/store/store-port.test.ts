import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Change, SpaceState } from '../../src/domain/state.js'
import type { ChangeWriter } from '../../src/store/keeper.js'
import { Recovery } from '../../src/store/recovery.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { changed, Owner, SEED } from './owner.js'

interface TestedStore {
  readonly store: ChangeWriter
  close(): Promise<SpaceState>
}

async function inFile(fsync: boolean): Promise<TestedStore> {
  const file = join(temporaryFolder(), 'store.json')
  const { store, state } = await Owner.open(file, { fsync })
  const recovery = new Recovery()
  recovery.addState(state)
  const take = (change: Change) => {
    store.take(change)
    recovery.apply(change)
  }
  await store.start(() => recovery.state())
  return {
    store: { take, write: () => store.write(), drop: () => store.drop() },
    async close() {
      await store.close()
      expect(() => store.write()).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
      const again = await Owner.open(file)
      await again.store.close()
      return again.state
    },
  }
}

const stores: readonly (readonly [string, () => Promise<TestedStore>])[] = [
  ['in a file', () => inFile(false)],
  ['in a file, synced', () => inFile(true)],
]

describe.each(stores)('a store %s', (_where, open) => {
  it('stores every kind of change', async () => {
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
    for (const change of changes) {
      tried.store.take(change)
      await tried.store.write()
    }
    expect(await tried.close()).toEqual(changes.reduce(changed, SEED))
  })

  it('writes changes of one or several turns in order', async () => {
    const tried = await open()
    const written: (Promise<void> | undefined)[] = []
    for (let index = 0; index < 100; index++) {
      tried.store.take({ kind: 'pet', pet: { id: 3 + (index % 7), name: `${index}`, categoryId: index } })
      if (index % 10 === 9) written.push(tried.store.write())
    }
    await Promise.all(written)
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

  it('has the new state after a replacement', async () => {
    const tried = await open()
    const state: SpaceState = { nextPetId: 1, pets: [], orders: [], keys: [] }
    tried.store.take({ kind: 'replaced', state })
    await tried.store.write()
    expect(await tried.close()).toEqual(state)
  })
})
