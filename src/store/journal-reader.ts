import type { Pet } from '../domain/pets.js'
import type { Change } from '../domain/state.js'
import { messageOf } from '../system/message-of.js'
import { readRegularFile } from '../system/regular-file.js'
import type { JournalEnd } from './journal.js'
import { beginsWithLine, type CompactionMark, type ReadLine, readJournalLine } from './journal-line.js'
import type { Reader } from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'

const LINE_FEED = 10

/** The content of a journal. */
export interface JournalContent {
  /** Changes that are not in the document yet, in order. */
  readonly changes: readonly Change[]
  /** The end of the last whole line. */
  readonly end: JournalEnd
  /** Whether the last of these lines lacks its line feed. */
  readonly endsOpen: boolean
  /** Bytes of an incomplete last line. */
  readonly tornBytes: number
}

/**
 * Reads a journal; a missing file counts as an empty one.
 *
 * What is before a mark whose document is the present one is in that document
 * already: a crash came between the writing of the document and the cutting of the journal.
 *
 * @param document checksum of the present document
 * A last line that breaks off was never acknowledged, and is left out; one that
 * is whole but for its line feed is read. Whatever else is wrong is damage, also a
 * whole last line that ends in something other than a line feed.
 *
 * @throws StoreError STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE
 */
export function readJournal(file: string, document: string | undefined, readPet?: Reader<Pet>): JournalContent {
  const bytes = bytesOf(file)
  const entries: { readonly at: number; readonly entry: Change | CompactionMark }[] = []
  let from = 0
  let at = 0
  let number = 0
  /** Checksum of the line before; undefined where each stands alone. */
  let chain: number | undefined
  while (at < bytes.length) {
    const feed = bytes.indexOf(LINE_FEED, at)
    const end = feed === -1 ? bytes.length : feed
    number++
    const line = readLine(bytes.subarray(at, end), chain ?? 0, feed === -1, file, number, readPet)
    if (line === undefined) break
    const { entry, checksum } = line
    if (entry.kind === 'journal') {
      if (chain !== undefined) throw damaged(file, number, 'another journal begins here')
      chain = entry.chain
    } else {
      entries.push({ at, entry })
      if (chain !== undefined) chain = checksum
      if (entry.kind === 'folded' && entry.document === document) from = entry.upTo
    }
    at = Math.min(end + 1, bytes.length)
  }
  const changes = entries.flatMap(({ at, entry }) => (entry.kind === 'folded' || at < from ? [] : entry))
  const endsOpen = at > 0 && bytes[at - 1] !== LINE_FEED
  return { changes, end: { length: at, chain }, endsOpen, tornBytes: bytes.length - at }
}

function bytesOf(file: string): Buffer {
  try {
    return readRegularFile(file)
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return Buffer.alloc(0)
    throw cannot('STORE_UNREADABLE', 'read', file, error)
  }
}

/** @returns undefined for a last line that breaks off */
function readLine(
  line: Buffer,
  before: number,
  isTail: boolean,
  file: string,
  number: number,
  readPet: Reader<Pet> | undefined,
): ReadLine | undefined {
  try {
    return readJournalLine(line, before, readPet)
  } catch (error) {
    if (error instanceof StoreError) throw error
    if (!isTail) throw damaged(file, number, messageOf(error))
    if (beginsWithLine(line, before)) throw damaged(file, number, 'it does not end in a line feed')
    return undefined
  }
}

function damaged(file: string, number: number, problem: string): StoreError {
  return corrupt(file, new CorruptionError(`line ${number}: ${problem}`))
}
