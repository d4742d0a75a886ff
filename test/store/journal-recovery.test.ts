import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Change, StoredState } from '../../src/domain/state.js'
import { crc32 } from '../../src/store/checksum.js'
import { readJournal } from '../../src/store/journal.js'
import { Layout } from '../../src/store/layout.js'
import { StoreError } from '../../src/store/store-error.js'
import fc from '../support/fast-check.js'
import { temporaryFolder } from '../support/temporary-files.js'
import { runs } from '../support/test-seed.js'
import { anyChange } from './changes.js'
import { changed, folderWithin, Owner, petsOf, put, RESOURCES, remove, SEED, stateWith } from './owner.js'

/** The files of a store whose process was killed, and the state after each change. */
async function killedAfter(folder: string, changes: readonly Change[]) {
  const file = join(folder, 'store.json')
  const owner = await Owner.start(file)
  const states: StoredState[] = [owner.state]
  for (const change of changes) {
    owner.change(change)
    states.push(owner.state)
  }
  const files = { document: readFileSync(file), journal: readFileSync(`${file}.journal`) }
  owner.store.close()
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
    owner.store.close()
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
  return readJournal(file, new Layout(RESOURCES))
}

function lineOf(text: string): string {
  return `{"crc":"${crc32(text).toString(16).padStart(8, '0')}",${text}}`
}

const LINE_START = '{"crc":"01234567",'.length

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
          const lines = kept.toString('latin1').split('\n').slice(0, -1)
          const commits = lines.filter((line) => line.startsWith('"commit"', LINE_START)).length
          const read = readFrom(folder, kept)
          expect(read.changes).toEqual(changes.slice(0, commits))
          expect(read.tornBytes > 0).toBe(length > 0 && kept.at(-1) !== 10)
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

  it.each([
    '{"journal":{"version":3,"chain":0},"crc":1}',
    '{"kind":"pet","pet":{"id":1,"name":"x","categoryId":1},"crc":1}',
    lineOf('"journal":{"version":6,"document":""}'),
  ])('of another version is refused unchanged, with the way to fold it: %s', async (line) => {
    const file = join(temporaryFolder(), 'store.json')
    writeFileSync(
      `${file}.journal`,
      `${line}
`,
    )
    await expect(Owner.open(file)).rejects.toMatchObject({
      code: 'STORE_VERSION',
      message: expect.stringContaining('Start and stop the release that wrote it'),
    })
    expect(readFileSync(`${file}.journal`, 'utf8')).toBe(`${line}
`)
  })

  it('is applied to a document that was edited by hand after the crash', async () => {
    const folder = temporaryFolder()
    const pet = { id: 1, name: 'Bella', categoryId: 1, status: 'sold' } as const
    const { document, journal } = await killedAfter(folderWithin(folder), [put(pet)])
    const edited = document.toString().replace('Zoë', 'Chloé').replace('Bella', 'Bello')
    const read = await readBack(join(folder, 'copy'), Buffer.from(edited), journal)
    const [, zoe, other] = petsOf(SEED)
    expect(read.kind === 'read' && petsOf(read.state)).toEqual([pet, { ...zoe, name: 'Chloé' }, other])
    expect(read).toMatchObject({
      warnings: [expect.stringContaining('was edited or replaced after a crash')],
    })
  })

  it('is refused if its document is missing', async () => {
    const folder = temporaryFolder()
    const { journal } = await killedAfter(folderWithin(folder), [remove(1)])
    expect(await readBack(join(folder, 'copy'), undefined, journal)).toEqual({ kind: 'refused' })
  })

  it('is complete without a document if it replaced the whole state', async () => {
    const folder = temporaryFolder()
    const replacement = stateWith({ pets: petsOf(SEED).slice(1), orders: [], keys: SEED.keys })
    const changes: Change[] = [{ kind: 'replaced', state: replacement }, remove(2)]
    const { journal } = await killedAfter(folderWithin(folder), changes)
    expect(await readBack(join(folder, 'copy'), undefined, journal)).toMatchObject({
      state: changed(replacement, remove(2)),
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
