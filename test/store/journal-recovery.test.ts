import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Change, SpaceState } from '../../src/domain/state.js'
import { crc32 } from '../../src/store/checksum.js'
import { readJournal } from '../../src/store/journal-lines.js'
import { StoreError } from '../../src/store/store-error.js'
import fc from '../support/fast-check.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { runs } from '../support/test-seed.js'
import { anyChange } from './changes.js'
import { changed, folderWithin, Owner, SEED } from './owner.js'

/** The files of a store whose process was killed, and the state after each change. */
async function killedAfter(folder: string, changes: readonly Change[]) {
  const file = join(folder, 'store.json')
  const owner = await Owner.start(file)
  const states: SpaceState[] = [owner.state]
  for (const change of changes) {
    await owner.change(change)
    states.push(owner.state)
  }
  const files = { document: readFileSync(file), journal: readFileSync(`${file}.journal`) }
  await owner.store.close()
  return { ...files, states }
}

async function readBack(folder: string, document: Uint8Array | undefined, journal: Uint8Array) {
  const file = join(folder, 'store.json')
  mkdirSync(folder, { recursive: true })
  if (document === undefined) rmSync(file, { force: true })
  else writeFileSync(file, document)
  writeFileSync(`${file}.journal`, journal)
  try {
    const owner = await Owner.open(file)
    await owner.store.close()
    return { kind: 'read', state: owner.state, warnings: owner.warnings } as const
  } catch (error) {
    expect(error).toMatchObject({ code: 'STORE_CORRUPT', message: expect.stringContaining(`"${file}.journal"`) })
    expect(readFileSync(`${file}.journal`)).toEqual(Buffer.from(journal))
    expect(existsSync(`${file}.lock`)).toBe(false)
    return { kind: 'refused' } as const
  }
}

function readFrom(folder: string, journal: Buffer) {
  const file = join(folder, 'a.journal')
  writeFileSync(file, journal)
  return readJournal(file, undefined)
}

const someChanges = fc.array(anyChange, { minLength: 1, maxLength: 5 })

describe('a journal after a crash', () => {
  it('has every acknowledged change', async () => {
    const folder = temporaryFolder()
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange, { maxLength: 30 }), async (changes) => {
        const { document, journal, states } = await killedAfter(folderWithin(folder), changes)
        expect(await readBack(join(folder, 'copy'), document, journal)).toEqual({
          kind: 'read',
          state: states.at(-1),
          warnings: [],
        })
      }),
      { numRuns: runs(100) },
    )
  })

  it('has the changes before the end if truncated anywhere, and reports an incomplete line', async () => {
    const folder = temporaryFolder()
    await fc.assert(
      fc.asyncProperty(someChanges, async (changes) => {
        const { journal } = await killedAfter(folderWithin(folder), changes)
        for (let length = 0; length < journal.length; length++) {
          const kept = journal.subarray(0, length)
          const feeds = kept.filter((byte) => byte === 10).length
          const isWhole = length === 0 || kept.at(-1) === 10 || journal[length] === 10
          // A line without its line feed is complete; the first line is the head.
          const changesLeft = Math.max(0, (journal[length] === 10 ? feeds + 1 : feeds) - 1)
          const read = readFrom(folder, kept)
          expect(read.changes).toEqual(changes.slice(0, changesLeft))
          expect(read.tornBytes > 0).toBe(!isWhole)
        }
      }),
      { numRuns: runs(15) },
    )
  })

  it('is refused if a bit has flipped, even in the last line feed', async () => {
    const folder = temporaryFolder()
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange, { minLength: 1, maxLength: 2 }), async (changes) => {
        const { journal } = await killedAfter(folderWithin(folder), changes)
        for (let bit = 0; bit < journal.length * 8; bit++) {
          const flipped = Buffer.from(journal)
          flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
          expect(() => readFrom(folder, flipped)).toThrow(StoreError)
        }
      }),
      { numRuns: runs(5) },
    )
  })

  it('is refused if lines are missing, repeated or misplaced, unless only the last are missing', async () => {
    const folder = temporaryFolder()
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyChange, { minLength: 2, maxLength: 5 }),
        fc.array(fc.nat(5), { maxLength: 6 }),
        async (changes, order) => {
          const { document, journal, states } = await killedAfter(folderWithin(folder), changes)
          const lines = journal.toString().match(/.*\n/g) ?? []
          const kept = order.filter((at) => at < lines.length)
          const shuffled = kept.map((at) => lines[at]).join('')
          const result = await readBack(join(folder, 'copy'), document, Buffer.from(shuffled))
          if (kept.every((at, place) => at === place)) {
            expect(result).toMatchObject({ kind: 'read', state: states[Math.max(0, kept.length - 1)] })
          } else expect(result).toEqual({ kind: 'refused' })
        },
      ),
      {
        numRuns: runs(200),
        examples: [
          [
            [
              { kind: 'pet-removed', id: 1 },
              { kind: 'pet-removed', id: 2 },
            ],
            [0, 2],
          ],
        ],
      },
    )
  })

  it('of a later version is refused unchanged', async () => {
    const file = join(temporaryFolder(), 'store.json')
    const text = '{"journal":{"version":4,"chain":0}'
    writeFileSync(`${file}.journal`, `${text},"crc":${crc32(text)}}\n`)
    await expect(Owner.open(file)).rejects.toMatchObject({ code: 'STORE_VERSION' })
  })

  it('is applied to a document that was edited by hand after the crash', async () => {
    const folder = temporaryFolder()
    const pet = { id: 1, name: 'Bella', categoryId: 1, status: 'sold' } as const
    const { document, journal } = await killedAfter(folderWithin(folder), [{ kind: 'pet', pet }])
    const edited = document.toString().replace('Zoë', 'Chloé').replace('Bella', 'Bello')
    expect(await readBack(join(folder, 'copy'), Buffer.from(edited), journal)).toMatchObject({
      state: { pets: [pet, { ...SEED.pets[1], name: 'Chloé' }, SEED.pets[2]] },
    })
  })

  it('is refused if its document is missing', async () => {
    const folder = temporaryFolder()
    const { journal } = await killedAfter(folderWithin(folder), [{ kind: 'pet-removed', id: 1 }])
    expect(await readBack(join(folder, 'copy'), undefined, journal)).toEqual({ kind: 'refused' })
  })

  it('is complete without a document if it replaced the whole state', async () => {
    const folder = temporaryFolder()
    const replacement: SpaceState = { ...SEED, pets: SEED.pets.slice(1) }
    const changes: Change[] = [
      { kind: 'replaced', state: replacement },
      { kind: 'pet-removed', id: 2 },
    ]
    const { journal } = await killedAfter(folderWithin(folder), changes)
    expect(await readBack(join(folder, 'copy'), undefined, journal)).toMatchObject({
      state: changed(replacement, { kind: 'pet-removed', id: 2 }),
    })
  })

  it('does not prevent a new store without acknowledged changes', async () => {
    const folder = temporaryFolder()
    expect(await readBack(join(folder, 'copy'), undefined, Buffer.from('{"pet":{"id"'))).toMatchObject({
      state: SEED,
      warnings: [expect.stringContaining('12 bytes')],
    })
  })
})
