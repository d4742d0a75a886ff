import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Pet } from '../../src/contract/generated/entities.js'
import { stringifyJson } from '../../src/contract/json.js'
import { Layout } from '../../src/store/layout.js'
import fc from '../support/fast-check.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { runs } from '../support/test-seed.js'
import { folderWithin, Owner, petsOf, RESOURCES, SEED, stateIn, stateWith } from './owner.js'

function documentOf({ $sandbox, ...content }: Readonly<Record<string, unknown>>): string {
  return stringifyJson({ ...new Layout(RESOURCES).write(SEED), ...content, $sandbox: { ...OWN, ...Object($sandbox) } })
}

const OWN = { version: 2, next: { pets: 3 }, paths: { pets: '/pets' }, keys: SEED.keys }

async function documentInOurLayout(folder: string): Promise<string> {
  const file = join(folderWithin(folder), 'store.json')
  const owner = await Owner.start(file)
  owner.store.close()
  return readFileSync(file, 'utf8')
}

async function read(folder: string, text: string | Uint8Array) {
  const file = join(folder, 'store.json')
  writeFileSync(file, text)
  rmSync(`${file}.journal`, { force: true })
  const owner = await Owner.open(file)
  owner.store.close()
  return owner.state
}

const BELLA = { id: 1, name: 'Bella', categoryId: 1 }

const damaged: readonly (readonly [string, string | Uint8Array, string])[] = [
  ['an empty file', '', 'it is empty'],
  ['invalid JSON', '{"version": 1,\n  oops}', 'unexpected "o" at line 2, column 3'],
  ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'not UTF-8'],
  ['a list', '[]', 'the document is []'],
  ['a field too many', documentOf({ $sandbox: { more: 1 } }), '"more"'],
  ['a name that has neither a list nor an object', documentOf({ more: 1 }), 'more is 1'],
  ['a record that is not an object', documentOf({ orders: [null] }), 'orders[0] is null'],
  ['an invalid next id', documentOf({ $sandbox: { next: { pets: '3' } } }), '$sandbox.next.pets is "3"'],
  ['an object for an id', documentOf({ pets: [{ ...BELLA, id: {} }] }), 'pets[0].id is {}'],
  ['an id twice', documentOf({ pets: [BELLA, BELLA] }), 'pets[1].id is 1, which an earlier record already has'],
  ['a nested record without its parent', documentOf({ toys: [{ id: 1 }] }), 'toys[0].ownerId is missing'],
  ['a key without a name', documentOf({ $sandbox: { keys: [{ plan: 'free' }] } }), '$sandbox.keys[0].key is missing'],
  [
    'a key twice',
    documentOf({ $sandbox: { keys: [{ key: 'a' }, { key: 'a' }] } }),
    '$sandbox.keys[1].key appears twice',
  ],
]

describe('a damaged document', () => {
  it.each(damaged)('with %s stops the start, is reported and stays unchanged', async (_what, text, message) => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.json')
    writeFileSync(file, text)
    const error: unknown = await Owner.start(file).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'STORE_CORRUPT', message: expect.stringContaining(`"${file}" is damaged: `) })
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
    expect(readFileSync(file)).toEqual(Buffer.from(text))
    expect(readdirSync(folder)).toEqual(['store.json'])
  })

  it('of another version is reported as such', async () => {
    const file = join(temporaryFolder(), 'store.json')
    writeFileSync(file, documentOf({ $sandbox: { version: 3 } }))
    await expect(Owner.open(file)).rejects.toMatchObject({
      code: 'STORE_VERSION',
      message: expect.stringMatching(/3.*2/),
    })
  })
})

describe('a document', () => {
  it('in our own layout with a wrong number of commas is damaged', async () => {
    const folder = temporaryFolder()
    const whole = await documentInOurLayout(folder)
    for (const [right, wrong] of [
      ['"sold"}\n', '"sold"},\n'],
      ['"available"},\n', '"available"}\n'],
    ] as const) {
      expect(whole).toContain(right)
      await expect(read(folder, whole.replace(right, wrong))).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
    }
  })

  it('reads the same in any layout, with a byte order mark and with other line ends', async () => {
    const folder = temporaryFolder()
    const whole = await documentInOurLayout(folder)
    const layouts = [
      whole,
      `\uFEFF${whole}`,
      whole.replaceAll('\n', '\r\n'),
      `${whole}\n`,
      whole.trimEnd(),
      documentOf({}),
    ]
    for (const text of layouts) expect(await read(folder, text)).toEqual(SEED)
  })

  it('keeps every pet through a stop and a start', async () => {
    const folder = temporaryFolder()
    const name = fc.string({ unit: 'binary' })
    const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => {
      const number = Number(value)
      return Number.isSafeInteger(number) ? number : value
    })
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.tuple(id, name), { selector: ([one]) => one }), async (entries) => {
        const pets: Pet[] = entries.map(([one, text]) => ({ id: one, name: text, categoryId: one }))
        const file = join(folderWithin(folder), 'store.json')
        const owner = await Owner.start(file)
        owner.change({ kind: 'replaced', state: stateWith({ pets, nextId: 2n ** 53n, orders: [], keys: SEED.keys }) })
        owner.store.close()
        expect(await stateIn(file)).toEqual(owner.state)
      }),
      { numRuns: runs(100) },
    )
  })

  it('of several pieces is read to its end', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.json')
    const owner = await Owner.start(file)
    const pets = Array.from({ length: 5000 }, (_, index) => ({
      id: index + 1,
      name: `犬 number ${index}`,
      categoryId: 1,
    }))
    const toys = {
      idProperty: 'id',
      nextId: 2n ** 60n,
      values: pets.map(({ id, name }) => ({ id: name, sizes: [id, 0.5], weight: 2n ** 60n })),
      scopes: pets.map(({ id }) => [String(id)]),
    }
    const others = [
      { name: 'empty', content: [] },
      { name: 'profile', content: { name: 'x' }, path: '/profile' },
    ]
    const { records, keys } = stateWith({ pets, nextId: 5001, orders: [], keys: SEED.keys })
    owner.change({ kind: 'replaced', state: { records: [...records, ['toys', toys]], others, keys } })
    owner.store.close()
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it('never reuses the id of a pet added by hand', async () => {
    const pets = [...petsOf(SEED), { id: 60, name: 'By hand', categoryId: 1 }]
    const { records } = await read(temporaryFolder(), documentOf({ pets }))
    expect(new Map(records).get('pets')?.nextId).toBe(61)
  })

  it('behind a symbolic link is replaced, and the link stays', async () => {
    const folder = temporaryFolder()
    const there = join(folderWithin(folder), 'real.json')
    const link = join(folder, 'store.json')
    symlinkSync(there, link)
    const first = await Owner.start(there)
    first.store.close()
    const owner = await Owner.open(link)
    await expect(Owner.open(there)).rejects.toMatchObject({ code: 'STORE_LOCKED' })
    owner.store.close()
    expect(readFileSync(there, 'utf8')).toContain('Bella')
    expect(readdirSync(folder)).toHaveLength(2)
  })

  it.each([
    ['the document', 'store.json', /store\.json" \(it is a symbolic link to ".*\.zshenv", which does not exist\)/],
    ['the journal', 'store.json.journal', /store\.json\.journal" \(it is a symbolic link, not a file\)/],
  ])(
    'is never created through a symbolic link, which may come with a cloned folder: %s',
    async (_what, name, message) => {
      const folder = temporaryFolder()
      const elsewhere = join(temporaryFolder(), '.zshenv')
      symlinkSync(elsewhere, join(folder, name))
      await expect(Owner.start(join(folder, 'store.json'))).rejects.toMatchObject({
        code: 'STORE_UNREADABLE',
        message: expect.stringMatching(message),
      })
      expect(existsSync(elsewhere)).toBe(false)
    },
  )

  it('never truncates a file behind a link named like its journal', async () => {
    const folder = temporaryFolder()
    const elsewhere = join(temporaryFolder(), '.npmrc')
    writeFileSync(elsewhere, 'one line without its end')
    symlinkSync(elsewhere, join(folder, 'store.json.journal'))
    await expect(Owner.start(join(folder, 'store.json'))).rejects.toMatchObject({ code: 'STORE_UNREADABLE' })
    expect(readFileSync(elsewhere, 'utf8')).toBe('one line without its end')
  })

  it('that cannot be read or written is reported in one line', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'a-folder'))
    await expect(Owner.open(join(folder, 'a-folder'))).rejects.toMatchObject({
      code: 'STORE_UNREADABLE',
      message: expect.stringMatching(/^cannot read "[^\n]*a-folder"[^\n]*--store/),
    })
    writeFileSync(join(folder, 'a-file'), '')
    await expect(Owner.open(join(folder, 'a-file', 'store.json'))).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' })
    expect(existsSync(join(folder, 'a-folder.lock'))).toBe(false)
  })
})
