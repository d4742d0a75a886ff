import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/contract/json.js'
import type { Pet } from '../../src/domain/pets.js'
import type { Change } from '../../src/domain/state.js'
import fc from '../support/fast-check.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { runs } from '../support/test-seed.js'
import { anyChange } from './changes.js'
import { aStore, folderWithin, Owner, SEED, stateIn } from './owner.js'

const PET: Pet = { id: 3, name: 'Rex', categoryId: 1 }
/** Replayed twice, these would change the order of pets. */
const RETURNING: Change[] = [
  { kind: 'pet-removed', id: 1 },
  { kind: 'pet', pet: { ...PET, id: 1 } },
  { kind: 'pet', pet: PET },
]
const MEBIBYTE = 1024 * 1024
const KEPT = 'store.json.edited-2026-03-01T10-00-00-000Z'

/** Makes the journal large enough for a compaction. */
async function outgrow(owner: Owner, firstId: number): Promise<void> {
  const name = 'x'.repeat(10_000)
  const pets = Array.from({ length: 120 }, (_, index) => ({ id: firstId + index, name, categoryId: 1 }))
  await Promise.all(pets.map((pet) => owner.change({ kind: 'pet', pet })))
}

describe('the document', () => {
  it('is written before a new store serves, with one pet per line', async () => {
    const file = join(temporaryFolder(), 'deep', 'er', 'store.json')
    const owner = await Owner.start(file)
    expect(readFileSync(file, 'utf8')).toBe(`{
  "version": 1,
  "nextPetId": 3,
  "pets": [
    {"id":1,"name":"Bella","categoryId":1,"status":"available"},
    {"id":9007199254740993,"name":"Zoë","categoryId":9223372036854775807},
    {"id":2,"name":"犬 \\"\\n\u2028\\ud800","categoryId":-4,"status":"sold"}
  ],
  "orders": [
    {"id":9223372036854775807,"note":null,"lines":[1.5,"x"]}
  ],
  "keys": [
    {"key":"sandbox"},
    {"key":"sandbox-banned","plan":"free","always":"banned"}
  ]
}
`)
    await owner.store.close()
  })

  it.each([false, true])('has all changes after a clean stop, without other files (fsync: %s)', async (fsync) => {
    const folder = temporaryFolder()
    const owner = await Owner.start(join(folder, 'store.json'), { fsync })
    await owner.change({ kind: 'pet', pet: PET })
    await owner.store.close()
    expect(() => owner.store.write()).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
    expect(readdirSync(folder)).toEqual(['store.json'])
    const { version, ...state } = parseJson(readFileSync(join(folder, 'store.json'), 'utf8')) as { version: number }
    expect(version).toBe(1)
    expect(state).toEqual(owner.state)
    expect(owner.warnings).toEqual([])
  })

  it('is complete if a new store is closed while it is being written', async () => {
    const folder = temporaryFolder()
    const owner = await Owner.open(join(folder, 'store.json'))
    await Promise.all([owner.store.start(() => owner.state), owner.store.close()])
    expect(readdirSync(folder)).toEqual(['store.json'])
    expect(owner.warnings).toEqual([])
    expect(await stateIn(join(folder, 'store.json'))).toEqual(SEED)
  })

  it('is written before a change to a new store is acknowledged', async () => {
    const file = join(temporaryFolder(), 'store.json')
    const owner = await Owner.open(file)
    const started = owner.store.start(() => owner.state)
    expect(await owner.change({ kind: 'pet', pet: PET }).then(() => existsSync(file))).toBe(true)
    await started
    await owner.store.close()
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it('includes the journal of a crash, after the start', async () => {
    const folder = temporaryFolder()
    const crashed = await Owner.start(join(folder, 'store.json'))
    await crashed.change({ kind: 'pet', pet: PET })
    const copy = folderWithin(folder)
    for (const name of ['store.json', 'store.json.journal']) copyFileSync(join(folder, name), join(copy, name))
    await crashed.store.close()

    const owner = await Owner.start(join(copy, 'store.json'))
    expect(statSync(join(copy, 'store.json.journal')).size).toBe(0)
    expect(readFileSync(join(copy, 'store.json'), 'utf8')).toContain('"Rex"')
    await owner.store.close()
  })

  it.each([false, true])(
    'includes a journal that has outgrown it, and keeps concurrent changes (fsync: %s)',
    async (fsync) => {
      const folder = temporaryFolder()
      const file = join(folder, 'store.json')
      const owner = await Owner.start(file, { fsync })
      await outgrow(owner, 100)
      expect(statSync(file).size).toBeLessThan(MEBIBYTE)
      // The first change starts the compaction; the others follow during it.
      for (let id = 300; statSync(file).size < MEBIBYTE; id++) {
        await owner.change({ kind: 'pet', pet: { ...PET, id } })
        await endOfTurn()
        expect(id).toBeLessThan(100_000)
      }
      await owner.change({ kind: 'pet-removed', id: 100 })
      const copy = folderWithin(folder)
      for (const name of ['store.json', 'store.json.journal']) copyFileSync(join(folder, name), join(copy, name))
      expect(await stateIn(join(copy, 'store.json'))).toEqual(owner.state)
      await owner.store.close()
      expect(readdirSync(folder).filter((name) => name.startsWith('store'))).toEqual(['store.json'])
    },
  )

  it('is not replayed after a crash before the journal is cut, so that pets keep their order', async () => {
    const folder = temporaryFolder()
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange, { minLength: 1, maxLength: 20 }), async (changes) => {
        const file = join(folderWithin(folder), 'store.json')
        const owner = await Owner.start(file)
        for (const change of changes) await owner.change(change)
        // The cut fails, so the old journal stays, as after a crash.
        mkdirSync(`${file}.journal.next`)
        await owner.store.close()
        expect(owner.warnings).toEqual([expect.stringContaining('could not be written')])
        rmSync(`${file}.journal.next`, { recursive: true })
        const again = await Owner.start(file)
        expect(again.state).toEqual(owner.state)
        await again.store.close()
      }),
      { numRuns: runs(75), examples: [[RETURNING]] },
    )
  })

  it('that cannot be written causes a warning, and the journal stays', async () => {
    const { file, owner } = await aStore()
    mkdirSync(join(file, '..', '.store.json.next.tmp'))
    await outgrow(owner, 100)
    await owner.change({ kind: 'pet', pet: PET })
    await owner.store.close()
    expect(owner.warnings.length).toBeGreaterThan(0)
    expect(owner.warnings[0]).toContain('No changes are lost')
    rmSync(join(file, '..', '.store.json.next.tmp'), { recursive: true, force: true })
    expect(await stateIn(file)).toEqual(owner.state)
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
    await owner.change({ kind: 'pet', pet: PET })
    edit(file)
    await owner.store.close()
    expect(readdirSync(folder)).toEqual(['store.json', KEPT])
    expect(readFileSync(join(folder, KEPT), 'utf8')).toBe('by hand')
    expect(owner.warnings).toEqual([expect.stringContaining(KEPT)])
    expect(await stateIn(file)).toEqual(owner.state)
  })

  it('never replaces an earlier copy', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'store.json')
    for (const text of ['first', 'second']) {
      const owner = await Owner.start(file)
      writeFileSync(file, text)
      await owner.store.close()
    }
    expect(readFileSync(join(folder, KEPT), 'utf8')).toBe('first')
    expect(readFileSync(join(folder, `${KEPT}-2`), 'utf8')).toBe('second')
  })

  it('is written again if it was removed', async () => {
    const { file, owner } = await aStore()
    rmSync(file)
    await owner.store.close()
    expect(owner.warnings).toEqual([expect.stringContaining('removed')])
    expect(await stateIn(file)).toEqual(SEED)
  })

  it('loses nothing if the journal was removed too', async () => {
    const { file, owner } = await aStore()
    await owner.change({ kind: 'pet', pet: PET })
    rmSync(`${file}.journal`)
    await owner.store.close()
    expect(await stateIn(file)).toEqual(owner.state)
  })
})
