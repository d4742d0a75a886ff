import { describe, expect, it } from 'vitest'
import type { Values } from '../src/contract/contract.js'
import type { Pet } from '../src/contract/generated/entities.js'
import { packagedContract } from '../src/contract/packaged-contract.js'
import { Failure } from '../src/domain/failures.js'
import type { StoredState } from '../src/domain/state.js'
import { packagedFixtures } from '../src/fixtures/generated/packaged-fixtures.js'
import { loadSeed } from '../src/fixtures/load-fixtures.js'
import { readKeys } from '../src/fixtures/read-fixtures.js'
import { recordSeeds } from '../src/fixtures/record-seeds.js'
import { packageText } from '../src/system/package-files.js'
import { folderWith } from './options/context.js'

const PACKAGED = { fixtures: undefined, pets: undefined, seed: 1 }
const SEEDS = { ...PACKAGED, ...recordSeeds(packagedContract()) }

/** What a folder of fixtures is refused with; `…` stands for the folder. */
function refusal(files: Readonly<Record<string, string>>): string {
  const fixtures = folderWith(files)
  try {
    loadSeed({ ...SEEDS, fixtures }, packagedContract())
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${error.message.replaceAll(fixtures, '…')}`
    throw error
  }
  return 'none'
}

/** Of pets. */
function petsIn({ records }: StoredState) {
  const saved = new Map(records).get('pets')
  return {
    pets: (saved?.values ?? []) as readonly Values[] as readonly object[] as readonly Pet[],
    nextId: saved?.nextId,
  }
}

describe('the packaged fixtures', () => {
  it('say what their files say', () => {
    const { records, keys } = packagedFixtures
    expect(records.map(([name]) => name)).toEqual(['orders', 'pets'])
    for (const [name, values] of records) {
      const fixtures = folderWith({ [`${name}.json`]: packageText(`fixtures/${name}.json`) })
      const read = loadSeed({ ...SEEDS, fixtures }, packagedContract())
      expect(values).toEqual(new Map(read.records).get(name)?.values)
    }
    expect(keys).toEqual(readKeys('keys.json', packageText('fixtures/keys.json')))
  })

  it('are the same ones for every sandbox of a process', () =>
    expect(petsIn(loadSeed(PACKAGED, packagedContract())).pets).toBe(
      petsIn(loadSeed(PACKAGED, packagedContract())).pets,
    ))

  it('keep an id above 2^53, and count on below it', () => {
    const { pets, nextId } = petsIn(loadSeed(PACKAGED, packagedContract()))
    expect(pets.map(({ id }) => id)).toContain(9007199254740993n)
    expect(nextId).toBe(pets.length)
  })
})

describe('a folder of fixtures', () => {
  it('replaces packaged files with its own', () => {
    const fixtures = folderWith({
      'pets.json': '[{"id":9223372036854775807,"name":"Rex","categoryId":-1,"status":"sold"}]',
    })
    const seed = loadSeed({ ...SEEDS, fixtures }, packagedContract())
    const { pets, nextId } = petsIn(seed)
    expect(pets).toEqual([{ id: 9223372036854775807n, name: 'Rex', categoryId: -1, status: 'sold' }])
    expect(nextId).toBe(1)
    expect(seed.keys).toBe(loadSeed(PACKAGED, packagedContract()).keys)
  })

  it('may have ids as texts, as files of json-server do', () => {
    const fixtures = folderWith({ 'pets.json': '[{"id":"7","name":"Rex","categoryId":1}]' })
    const { pets, nextId } = petsIn(loadSeed({ ...SEEDS, fixtures }, packagedContract()))
    expect([pets, nextId]).toEqual([[{ id: 7, name: 'Rex', categoryId: 1 }], 8])
  })

  it.each([
    ['none of the files', { 'cats.json': '[]' }],
    ['broken JSON', { 'pets.json': '[\n{"id":1,}]' }],
    ['no array', { 'pets.json': '{}' }],
    ['an id that is no int64', { 'pets.json': '[{"id":9223372036854775808,"name":"x","categoryId":1}]' }],
    ['a fraction', { 'pets.json': '[{"id":1,"name":"x","categoryId":1.5}]' }],
    ['a missing field', { 'pets.json': '[{"id":1,"name":"x"}]' }],
    ['an unknown field', { 'pets.json': '[{"id":1,"name":"x","categoryId":1,"colour":"red"}]' }],
    ['an unknown status', { 'pets.json': '[{"id":1,"name":"x","categoryId":1,"status":"lost"}]' }],
    ['an id twice', { 'pets.json': '[{"id":1,"name":"x","categoryId":1},{"id":1,"name":"y","categoryId":1}]' }],
    ['a value nested too deeply to be written', { 'orders.json': `[{"a":${'['.repeat(5000)}${']'.repeat(5000)}}]` }],
    ['an order that is not an object', { 'orders.json': '[{}, 5]' }],
    ['a key with a space mark', { 'keys.json': '[{"key":"a~b"}]' }],
    ['a key twice', { 'keys.json': '[{"key":"a"},{"key":"a","plan":"pro"}]' }],
    ['a folder in place of a file', { 'keys.json/inside': '' }],
  ])('with %s is refused', (_what, files) => expect(refusal(files)).toMatchSnapshot())
})

describe('generated pets', () => {
  const generate = (pets: number, seed = 1) =>
    petsIn(loadSeed({ fixtures: undefined, pets, seed }, packagedContract())).pets

  it('are the same for the same seed only', () => {
    expect(generate(100)).toEqual(generate(100))
    expect(generate(100)).not.toEqual(generate(100, 2))
  })

  it.each([0, 1, 9, 10, 1000])('has the requested number: %i', (count) => {
    const pets = generate(count)
    expect(pets).toHaveLength(count)
    expect(new Set(pets.map(({ id }) => id)).size).toBe(count)
    expect(pets.some(({ id }) => typeof id === 'bigint')).toBe(count >= 10)
  })

  it('have an id above 2^53 third from the newest', () => expect(generate(10).at(-3)?.id).toBe(9007199254740993n))

  it('come in all three statuses and none', () =>
    expect(new Set(generate(1000).map(({ status }) => status))).toEqual(
      new Set(['available', 'pending', 'sold', undefined]),
    ))
})
