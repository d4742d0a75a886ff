import {
  chmodSync,
  closeSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Pet } from '../../src/contract/generated/entities.js'
import { parseJson } from '../../src/contract/json.js'
import type { Change } from '../../src/domain/state.js'
import { Checksum } from '../../src/store/checksum.js'
import { foldedLine } from '../../src/store/journal.js'
import { type Content, Layout } from '../../src/store/layout.js'
import { openReplacement } from '../../src/system/regular-file.js'
import fc from '../support/fast-check.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { runs } from '../support/test-seed.js'
import { anyChange } from './changes.js'
import { aStore, folderWithin, Owner, petsOf, put, RESOURCES, remove, stateIn } from './owner.js'

const PET: Pet = { id: 3, name: 'Rex', categoryId: 1 }
/** Replayed twice, these would change the order of pets. */
const RETURNING: Change[] = [remove(1), put({ ...PET, id: 1 }), put(PET)]
const MEBIBYTE = 1024 * 1024
const KEPT = 'store.json.edited-2026-03-01T10-00-00-000Z'

/** Makes the journal large enough to be folded. */
function outgrow(owner: Owner): void {
  const name = 'x'.repeat(100_000)
  for (let id = 100; id < 275; id++) owner.change(put({ id, name, categoryId: 1 }))
}

describe('the document', () => {
  it('keeps the mode of the file that it replaces', async () => {
    const { file, owner } = await aStore()
    owner.store.close()
    chmodSync(file, 0o664)
    const again = await Owner.start(file)
    again.change(put(PET))
    again.store.close()
    expect((statSync(file).mode & 0o777).toString(8)).toBe('664')
  })

  it('of a process that was killed while it wrote one leaves no draft after the next start', async () => {
    const { file, owner } = await aStore()
    owner.store.close()
    closeSync(openReplacement(file).fd)
    const others = ['.store.json.swp', '.other.json.abc.petstore-sandbox']
    for (const name of others) writeFileSync(join(dirname(file), name), 'mine')
    expect(readdirSync(dirname(file))).toHaveLength(others.length + 2)
    const again = await Owner.start(file)
    again.store.close()
    expect(readdirSync(dirname(file)).sort()).toEqual([...others, 'store.json'].sort())
  })

  it('is written before a new store serves, with one pet per line', async () => {
    const file = join(temporaryFolder(), 'deep', 'er', 'store.json')
    const owner = await Owner.start(file)
    expect(readFileSync(file, 'utf8')).toBe(`{
  "pets": [
    {"id":1,"name":"Bella","categoryId":1,"status":"available"},
    {"id":9007199254740993,"name":"Zoë","categoryId":9223372036854775807},
    {"id":2,"name":"犬 \\"\\n\u2028\\ud800","categoryId":-4,"status":"sold"}
  ],
  "orders": [
    {"id":9223372036854775807,"note":null,"lines":[1.5,"x"]}
  ],
  "$sandbox": {
    "version": 2,
    "next": {"pets":3,"orders":1},
    "paths": {"pets":"/pets","orders":"/store/orders"},
    "keys": [{"key":"sandbox"},{"key":"sandbox-banned","plan":"free","always":"banned"}]
  }
}
`)
    owner.store.close()
  })

  it.each([false, true])('has all changes after a clean stop, without other files (fsync: %s)', async (fsync) => {
    const folder = temporaryFolder()
    const owner = await Owner.start(join(folder, 'store.json'), { fsync })
    owner.change(put(PET))
    owner.store.close()
    expect(() => owner.store.append([])).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
    expect(readdirSync(folder)).toEqual(['store.json'])
    const content = parseJson(readFileSync(join(folder, 'store.json'), 'utf8')) as Content
    expect(content.$sandbox).toMatchObject({ version: 2 })
    expect(content.pets).toEqual(petsOf(owner.state))
    expect(new Layout(RESOURCES).read(content)).toEqual(owner.state)
    expect(owner.warnings).toEqual([])
  })

  it('includes the journal of a crash, after the start', async () => {
    const folder = temporaryFolder()
    const crashed = await Owner.start(join(folder, 'store.json'))
    crashed.change(put(PET))
    const copy = folderWithin(folder)
    for (const name of ['store.json', 'store.json.journal']) copyFileSync(join(folder, name), join(copy, name))
    crashed.store.close()

    const owner = await Owner.start(join(copy, 'store.json'))
    expect(statSync(join(copy, 'store.json.journal')).size).toBe(0)
    expect(readFileSync(join(copy, 'store.json'), 'utf8')).toContain('"Rex"')
    owner.store.close()
  })

  it.each([false, true])('includes a journal that has outgrown it (fsync: %s)', async (fsync) => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.json')
    const owner = await Owner.start(file, { fsync })
    outgrow(owner)
    expect(statSync(file).size).toBeGreaterThan(16 * MEBIBYTE)
    owner.change(remove(100))
    expect(statSync(`${file}.journal`).size).toBeLessThan(2 * MEBIBYTE)
    const copy = folderWithin(folder)
    for (const name of ['store.json', 'store.json.journal']) copyFileSync(join(folder, name), join(copy, name))
    expect(await stateIn(join(copy, 'store.json'))).toEqual(owner.state)
    owner.store.close()
    expect(readdirSync(folder).filter((name) => name.startsWith('store'))).toEqual(['store.json'])
  })

  it('does not get changes twice after a crash before the journal is renewed, so that pets keep their order', async () => {
    const folder = temporaryFolder()
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange, { minLength: 1, maxLength: 20 }), async (changes) => {
        const file = join(folderWithin(folder), 'store.json')
        const owner = await Owner.start(file)
        for (const change of changes) owner.change(change)
        const journal = readFileSync(`${file}.journal`, 'utf8')
        owner.store.close()
        writeFileSync(`${file}.journal`, journal + foldedLine(new Checksum(readFileSync(file)).toString()))
        const again = await Owner.start(file)
        expect(again.state).toEqual(owner.state)
        expect(again.warnings).toEqual([])
        again.store.close()
      }),
      { numRuns: runs(75), examples: [[RETURNING]] },
    )
  })
})

describe('a document edited by hand while the sandbox runs', () => {
  const edits: readonly (readonly [string, (file: string) => void])[] = [
    ['in place', (file) => writeFileSync(file, 'by hand')],
    [
      'by an editor that replaces it',
      (file) => {
        writeFileSync(`${file}~`, 'by hand')
        renameSync(`${file}~`, file)
      },
    ],
  ]

  it.each(edits)('%s is kept beside the document, with a warning', async (_how, edit) => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.json')
    const owner = await Owner.start(file)
    owner.change(put(PET))
    edit(file)
    owner.store.close()
    expect(readdirSync(folder)).toEqual(['store.json', KEPT])
    expect(readFileSync(join(folder, KEPT), 'utf8')).toBe('by hand')
    expect(owner.warnings).toEqual([expect.stringContaining(KEPT)])
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it.each(['by the next change', 'on stop'])('is not a document with a new time only: %s', async (when) => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.json')
    const owner = await Owner.start(file)
    const { ino } = statSync(file)
    for (const time of [1, 2, 3]) {
      await nextTurn()
      utimesSync(file, time, time)
      if (when === 'by the next change') owner.change(put(PET))
      expect(statSync(file).ino).toBe(ino)
    }
    owner.store.close()
    expect([readdirSync(folder), owner.warnings]).toEqual([['store.json'], []])
    if (when === 'on stop') expect(statSync(file).ino).toBe(ino)
  })

  it('is kept up to ten times in a run: the newest', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.json')
    const owner = await Owner.start(file)
    for (let edit = 1; edit <= 15; edit++) {
      await nextTurn()
      writeFileSync(file, `edit ${edit}`)
      owner.change(put(PET))
    }
    owner.store.close()
    const kept = readdirSync(folder).filter((name) => name !== 'store.json')
    const texts = kept.map((name) => readFileSync(join(folder, name), 'utf8'))
    expect(texts.toSorted()).toEqual(Array.from({ length: 10 }, (_, index) => `edit ${index + 6}`).toSorted())
    expect(owner.warnings).toHaveLength(15)
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it('loses no pet if an older document is put back and the process is killed after the next change', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.json')
    const owner = await Owner.start(file)
    const old = readFileSync(file)
    outgrow(owner)
    owner.change(put(PET))
    await nextTurn()
    writeFileSync(file, old)
    owner.change(put({ ...PET, id: 4 }))
    const copy = folderWithin(folder)
    for (const name of ['store.json', 'store.json.journal']) copyFileSync(join(folder, name), join(copy, name))
    expect(await stateIn(join(copy, 'store.json'))).toEqual(owner.state)
    owner.store.close()
  })

  it('loses no pet if an older journal is put back in place before the next change', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.json')
    const owner = await Owner.start(file)
    owner.change(put(PET))
    const old = readFileSync(`${file}.journal`)
    owner.change(put({ ...PET, id: 4 }))
    await nextTurn()
    writeFileSync(`${file}.journal`, old)
    owner.change(put({ ...PET, id: 5 }))
    const copy = folderWithin(folder)
    for (const name of ['store.json', 'store.json.journal']) copyFileSync(join(folder, name), join(copy, name))
    expect(await stateIn(join(copy, 'store.json'))).toEqual(owner.state)
    owner.store.close()
  })

  it('never replaces an earlier copy', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.json')
    for (const text of ['first', 'second']) {
      const owner = await Owner.start(file)
      writeFileSync(file, text)
      owner.store.close()
    }
    expect(readFileSync(join(folder, KEPT), 'utf8')).toBe('first')
    expect(readFileSync(join(folder, `${KEPT}-2`), 'utf8')).toBe('second')
  })

  it.each(['by the next change', 'on stop'])('is written again if it was removed: %s', async (when) => {
    const { file, owner } = await aStore()
    rmSync(file)
    if (when === 'by the next change') {
      owner.change(put(PET))
      expect(statSync(file).size).toBeGreaterThan(0)
    }
    owner.store.close()
    expect(owner.warnings).toEqual([expect.stringContaining('removed')])
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it('loses nothing if the journal was removed too', async () => {
    const { file, owner } = await aStore()
    owner.change(put(PET))
    rmSync(`${file}.journal`)
    owner.store.close()
    expect(await stateIn(file)).toEqual(owner.state)
  })
})
