import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseJson, stringifyJson } from '../../src/contract/json.js'
import type { StoredState } from '../../src/domain/state.js'
import { Checksum, crc32 } from '../../src/store/checksum.js'
import { REAL_DISK } from '../../src/store/disk.js'
import { foldedLine } from '../../src/store/journal.js'
import { Layout } from '../../src/store/layout.js'
import { SnapshotFolder } from '../../src/store/snapshot-folder.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { Owner, petsOf, put, RESOURCES, SEED, stateIn } from './owner.js'

const [PETS, ORDERS, TOYS] = RESOURCES as readonly [
  (typeof RESOURCES)[number],
  (typeof RESOURCES)[number],
  (typeof RESOURCES)[number],
]

function storeOf(files: { readonly document: object; readonly journal?: string }): string {
  const file = join(temporaryFolder(), 'store.json')
  writeFileSync(file, stringifyJson(files.document))
  if (files.journal !== undefined) writeFileSync(`${file}.journal`, files.journal)
  return file
}

function recordsOf({ records }: StoredState, resource: string) {
  return new Map(records).get(resource)
}

function contentOf(file: string): Readonly<Record<string, unknown>> {
  return parseJson(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>
}

function line(kind: string, content: unknown): string {
  const text = `"${kind}":${stringifyJson(content)}`
  return `{"crc":"${crc32(text).toString(16).padStart(8, '0')}",${text}}\n`
}

describe('a store of version 1', () => {
  const bella = { id: 1, name: 'Bella', categoryId: 1 }
  const max = { id: 9007199254740993n, name: 'Max', categoryId: 2 }
  const document = {
    version: 1,
    nextPetId: 3,
    pets: [bella, max, { ...bella, id: 2 }],
    orders: [{ note: 'none' }],
    keys: [{ key: 'sandbox' }],
    records: {
      toys: { idProperty: 'id', nextId: 4, values: [{ id: 3, kind: 'ball' }], scopes: [['7']] },
      books: { idProperty: 'isbn', nextId: 2, values: [{ isbn: 'a' }], scopes: [['7']] },
    },
  }
  const journal = [
    line('journal', { version: 4, document: `${new Checksum(Buffer.from(stringifyJson(document)))}` }),
    line('commit', [{ kind: 'pet', pet: { ...bella, id: 3 } }]),
    line('commit', [{ kind: 'pet-removed', id: 2 }]),
    line('commit', [
      { kind: 'record', resource: 'toys', idProperty: 'id', entry: { scope: ['8'], value: { id: 3, kind: 'bone' } } },
      { kind: 'record', resource: 'books', idProperty: 'isbn', entry: { scope: ['7'], value: { isbn: 'b' } } },
    ]),
    line('commit', [{ kind: 'key', key: { key: 'mine', plan: 'pro' } }]),
  ].join('')
  const toys = {
    idProperty: 'id',
    nextId: 4,
    values: [
      { id: 3, kind: 'ball' },
      { id: 3, kind: 'bone' },
    ],
    scopes: [['7'], ['8']],
  }

  function check(state: StoredState): void {
    expect(petsOf(state)).toEqual([bella, max, { ...bella, id: 3 }])
    expect(recordsOf(state, 'pets')?.nextId).toBe(4)
    expect(recordsOf(state, 'orders')?.values).toEqual([{ note: 'none' }])
    expect(recordsOf(state, 'toys')).toEqual(toys)
    expect(state.keys).toEqual([{ key: 'sandbox' }, { key: 'mine', plan: 'pro' }])
  }

  it('is converted with its journal at the start, and copies are kept', async () => {
    const file = storeOf({ document, journal })
    const owner = await Owner.start(file)
    check(owner.state)
    expect(owner.warnings).toEqual([
      expect.stringContaining('2 of books'),
      expect.stringContaining('It was converted, and a copy is kept in'),
    ])
    expect(contentOf(file)).toMatchObject({
      toys: [{ ownerId: 7, id: 3 }, { ownerId: 8 }],
      books: [{ $parent: '7', isbn: 'a' }, { isbn: 'b' }],
      $sandbox: { version: 2, next: { pets: 4, toys: 4 } },
    })
    expect(readFileSync(`${file}.version-1`, 'utf8')).toBe(stringifyJson(document))
    expect(readFileSync(`${file}.journal.version-1`, 'utf8')).toContain(journal)
    owner.change(put({ ...bella, id: 4 }))
    owner.store.close()
    const next = await stateIn(file)
    expect(petsOf(next)).toHaveLength(4)
    expect(recordsOf(next, 'toys')).toEqual(toys)
  })

  it('is as before if it cannot be converted, whatever the disk has room for', async () => {
    const file = storeOf({ document, journal })
    const written = readFileSync(file)
    let room = 0
    const disk = {
      ...REAL_DISK,
      write(fd: number, bytes: Uint8Array) {
        if (room < bytes.length) throw Object.assign(new Error('ENOSPC: by the test'), { code: 'ENOSPC' })
        room -= bytes.length
        return REAL_DISK.write(fd, bytes)
      },
    }
    const start = async (bytes: number) => {
      room = bytes
      const owner = await Owner.open(file, { disk })
      try {
        owner.store.start(() => owner.state)
      } finally {
        room = Number.MAX_SAFE_INTEGER
        owner.store.close()
      }
    }
    const whole = storeOf({ document, journal })
    const converted = await Owner.start(whole)
    converted.store.close()
    for (let bytes = 0; bytes < readFileSync(whole).length; bytes += 7) {
      await expect(start(bytes)).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' })
      expect([readFileSync(file), readFileSync(`${file}.journal`, 'utf8')]).toEqual([written, journal])
    }
    check(await stateIn(file))
  })

  it('does not get its journal twice after a crash between document and journal', async () => {
    const file = storeOf({ document, journal })
    const owner = await Owner.start(file)
    const copy = join(temporaryFolder(), 'store.json')
    copyFileSync(file, copy)
    owner.store.close()
    writeFileSync(`${copy}.journal`, journal + foldedLine(`${new Checksum(readFileSync(copy))}`))
    const again = await Owner.start(copy)
    expect(petsOf(again.state)).toEqual(petsOf(owner.state))
    expect(again.warnings).toEqual([expect.stringContaining('2 of books')])
    again.store.close()
  })

  it('has snapshots, which are converted too', async () => {
    const folder = join(temporaryFolder(), 'snapshots')
    mkdirSync(folder)
    const { version: _, ...state } = document
    const text = stringifyJson({ version: 1, state, settings: {}, accounts: [] })
    const file = `{"crc":${crc32(text)},"snapshot":${text}}\n`
    writeFileSync(join(folder, 'full.json'), file)
    writeFileSync(join(folder, 'damaged.json'), file.replace('Bella', 'Bello'))
    const snapshots = new SnapshotFolder(folder, false, new Layout(RESOURCES))
    const abandoned = await snapshots.upgrade()
    abandoned.discard()
    expect(readFileSync(join(folder, 'full.json'), 'utf8')).toBe(file)
    const upgraded = await snapshots.upgrade()
    upgraded.commit()
    expect(readdirSync(folder).sort()).toEqual(['damaged.json', 'full.json', 'full.json.version-1'])
    expect(readFileSync(join(folder, 'full.json'), 'utf8')).toContain('"version":2')
    const snapshot = await snapshots.get('full')
    expect(snapshot && petsOf(snapshot.state)).toHaveLength(3)
    await expect(snapshots.get('damaged')).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
  })

  it('had a record for each path, under its last segment or all that are not parameters', async () => {
    const one = { ...TOYS, name: 'shops/toys', path: '/v1/shops/toys', parents: [] }
    const other = { ...TOYS, name: 'zoos/toys', path: '/v1/zoos/toys', parents: [] }
    const saved = (id: number) => ({ idProperty: 'id', nextId: 9, values: [{ id }] })
    const records = { 'v1/shops/toys': saved(1), 'v1/zoos/toys': saved(2) }
    const file = storeOf({ document: { ...document, records } })
    const owner = await Owner.open(file, { resources: [PETS, ORDERS, one, other] })
    expect(recordsOf(owner.state, 'shops/toys')?.values).toEqual([{ id: 1 }])
    expect(recordsOf(owner.state, 'zoos/toys')?.values).toEqual([{ id: 2 }])
    owner.store.close()
  })
})

describe('a file of json-server', () => {
  const document = {
    pets: [
      { id: '7', name: 'Bella' },
      { id: 'seven', name: 'Max' },
    ],
    toys: [{ id: '1', ownerId: '7', kind: 'ball' }],
    profile: { name: 'Ada' },
  }

  it('is a store with the keys of the fixtures, and is kept once something changes', async () => {
    const file = storeOf({ document })
    const first = await Owner.start(file)
    expect(petsOf(first.state)).toEqual([{ id: 7, name: 'Bella' }, document.pets[1]])
    expect(recordsOf(first.state, 'pets')?.nextId).toBe(9)
    expect(recordsOf(first.state, 'toys')).toMatchObject({ values: [{ id: 1, kind: 'ball' }], scopes: [['7']] })
    expect(first.state.keys).toEqual(SEED.keys)
    expect(first.warnings).toEqual([
      expect.stringContaining('ids that are texts are read as integers, as the contract has them (2)'),
      expect.stringContaining('1 of profile'),
    ])
    first.store.close()
    expect(readFileSync(file, 'utf8')).toBe(stringifyJson(document))
    expect(existsSync(`${file}.original`)).toBe(false)
    const owner = await Owner.start(file)
    owner.change(put({ id: 9, name: 'Rex', categoryId: 1 }))
    owner.store.close()
    expect(readFileSync(`${file}.original`, 'utf8')).toBe(stringifyJson(document))
    expect(contentOf(file)).toMatchObject({ profile: { name: 'Ada' }, toys: [{ ownerId: 7, id: 1 }] })
    expect(petsOf(await stateIn(file))).toHaveLength(3)
  })

  it('has objects as the one record of a path', async () => {
    const profile = {
      ...PETS,
      name: 'profile',
      path: '/profile',
      single: {},
      id: { ...PETS.id, isUnseen: true as const },
    }
    const file = storeOf({ document })
    const owner = await Owner.start(file, { resources: [...RESOURCES, profile] })
    expect(recordsOf(owner.state, 'profile')?.values).toEqual([{ id: 1, name: 'Ada' }])
    const value = { id: 1, name: 'Bob' }
    owner.change({ kind: 'put', resource: 'profile', record: { scope: [], value } })
    owner.store.close()
    expect(contentOf(file)).toMatchObject({ profile: { name: 'Bob' } })
    const { state, store } = await Owner.open(file, { resources: [...RESOURCES, profile] })
    store.close()
    expect(recordsOf(state, 'profile')?.values).toEqual([value])
  })

  it.each([
    ['a number', { all: 5 }, 'all is 5, where an object is expected'],
    ['an object for a list', { pets: { id: 1 } }, 'pets is {"id":1}, where a list is expected'],
    ['a text in a list', { pets: ['a'] }, 'pets[0] is "a", where an object is expected'],
    ['a record without its parent', { toys: [{ id: 1 }] }, 'toys[0].ownerId is missing: it is the id of the parent'],
  ])('with %s is refused', async (_what, content, problem) => {
    const file = storeOf({ document: content })
    await expect(Owner.open(file)).rejects.toThrow(problem)
    expect(readdirSync(join(file, '..'))).toEqual(['store.json'])
  })
})

describe('a store of another contract', () => {
  const shops = { ...PETS, name: 'shops/pets', path: '/shops/pets' }

  async function written(resources = RESOURCES): Promise<string> {
    const file = join(temporaryFolder(), 'store.json')
    const owner = await Owner.start(file, { resources })
    owner.change(put({ id: 50, name: 'Rex', categoryId: 1 }))
    owner.store.close()
    return file
  }

  it('has the records of a path under the name that it has now, which is said once', async () => {
    const file = await written()
    const renamed = [
      { ...PETS, name: 'all/pets', path: '/pets' },
      { ...shops, name: 'pets' },
    ]
    const owner = await Owner.start(file, { resources: renamed })
    expect(recordsOf(owner.state, 'all/pets')?.values).toHaveLength(4)
    expect(recordsOf(owner.state, 'pets')).toBeUndefined()
    expect(owner.warnings).toEqual([
      expect.stringContaining('The resource "pets" of the store is now named "all/pets".'),
      expect.stringContaining('1 of orders'),
    ])
    owner.store.close()
    const again = await Owner.open(file, { resources: renamed })
    expect(again.warnings).toEqual([expect.stringContaining('1 of orders')])
    again.store.close()
  })

  it('has them under a name whose path has changed, with other names of parameters', async () => {
    const file = await written()
    const moved = { ...TOYS, path: '/owners/{owner}/toys', parents: [{ parameter: 'owner', field: 'owner' }] }
    const first = await Owner.start(file)
    first.change({ kind: 'put', resource: 'toys', record: { scope: ['7'], value: { id: 1 } } })
    first.store.close()
    const owner = await Owner.open(file, { resources: [{ ...PETS, path: '/v2/pets' }, ORDERS, moved] })
    expect(petsOf(owner.state)).toHaveLength(4)
    expect(recordsOf(owner.state, 'toys')).toMatchObject({ values: [{ id: 1 }], scopes: [['7']] })
    owner.store.close()
  })

  it('keeps resources that it does not have, with their next ids, also those of a journal', async () => {
    const file = await written()
    const owner = await Owner.start(file)
    owner.change({ kind: 'put', resource: 'toys', record: { scope: ['7'], value: { id: 5, ownerId: 'x' } } })
    owner.change({ kind: 'remove', resource: 'pets', scope: [], id: '50' })
    const copy = join(temporaryFolder(), 'store.json')
    for (const ending of ['', '.journal']) copyFileSync(file + ending, copy + ending)
    owner.store.close()
    for (let start = 0; start < 2; start++) {
      const other = await Owner.start(copy, { resources: [ORDERS] })
      expect(other.warnings).toEqual([expect.stringContaining('3 of pets, 1 of toys')])
      other.change({ kind: 'put', resource: 'orders', record: { scope: [], value: { id: start } } })
      other.store.close()
    }
    const state = await stateIn(copy)
    expect(petsOf(state)).toEqual(petsOf(owner.state))
    expect(recordsOf(state, 'pets')?.nextId).toBe(51)
    expect(recordsOf(state, 'toys')).toMatchObject({ values: [{ id: 5, ownerId: 'x' }], scopes: [['7']] })
  })

  it('keeps all records of a list that is one object now, and lists named as what all objects have', async () => {
    const document = { pets: [{ id: 1 }, { id: 2 }], constructor: [{ id: 3 }], $sandbox: { version: 2, paths: {} } }
    const file = storeOf({ document })
    const owner = await Owner.start(file, { resources: [{ ...PETS, single: {} }, ORDERS] })
    owner.change({ kind: 'put', resource: 'orders', record: { scope: [], value: { id: 1 } } })
    owner.store.close()
    expect(contentOf(file)).toMatchObject({ pets: [{ id: 1 }, { id: 2 }], constructor: [{ id: 3 }] })
  })

  it('does not take a name at another depth for the same resource', async () => {
    const file = await written()
    const nested = { ...TOYS, name: 'pets', path: '/owners/{ownerId}/pets' }
    const owner = await Owner.start(file, { resources: [nested] })
    expect(recordsOf(owner.state, 'pets')).toBeUndefined()
    owner.change({ kind: 'put', resource: 'pets', record: { scope: ['1'], value: { id: 1 } } })
    owner.store.close()
    expect(contentOf(file)).toMatchObject({ pets: [{ ownerId: 1, id: 1 }], '/pets': { length: 4 } })
    expect(petsOf(await stateIn(file))).toHaveLength(4)
  })

  it('keeps lists whose names are taken apart from each other', async () => {
    const nested = { ...TOYS, name: 'pets', path: '/owners/{ownerId}/pets' }
    const paths = { pets: '/pets', other: '/owners/{ownerId}/pets' }
    const document = {
      pets: [{ id: 1 }],
      '/pets': [{ id: 2 }],
      other: [{ id: 3, ownerId: 1 }],
      $sandbox: { version: 2, paths },
    }
    const owner = await Owner.start(storeOf({ document }), { resources: [nested] })
    expect(owner.state.others).toMatchObject([
      { name: '//pets', content: [{ id: 1 }] },
      { name: '/pets', content: [{ id: 2 }] },
    ])
    expect(recordsOf(owner.state, 'pets')?.values).toEqual([{ id: 3 }])
    owner.store.close()
  })

  it.each(['__proto__', 'constructor', 'prototype'])('may have a resource named %s', async (name) => {
    const resources = [{ ...PETS, name, path: `/${name}` }]
    const file = join(temporaryFolder(), 'store.json')
    const change = (id: number) => ({ kind: 'put', resource: name, record: { scope: [], value: { id } } }) as const
    const owner = await Owner.start(file, { resources })
    owner.change(change(1))
    owner.store.close()
    const again = await Owner.start(file, { resources })
    again.change(change(2))
    const copy = join(temporaryFolder(), 'store.json')
    for (const ending of ['', '.journal']) copyFileSync(file + ending, copy + ending)
    again.store.close()
    const { state, store } = await Owner.open(copy, { resources })
    store.close()
    expect(recordsOf(state, name)?.values).toEqual([{ id: 1 }, { id: 2 }])
  })
})
