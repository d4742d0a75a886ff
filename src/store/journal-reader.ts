import type { Change } from '../domain/state.js'
import { readRegularFile } from '../regular-file.js'
import { type FoldMark, readJournalLine } from './journal-line.js'
import { cannot, corrupt, Damage, failedWith } from './store-error.js'

const LINE_FEED = 10

/** What a journal tells. */
export interface JournalContent {
  /** What is not in the document yet, in order. */
  readonly changes: readonly Change[]
  /** Bytes up to the end of the last whole line. */
  readonly length: number
  /** Whether the last of these lines lacks its line feed. */
  readonly endsOpen: boolean
  /** Bytes of a last line that was not written to its end. */
  readonly tornBytes: number
}

/**
 * Reads a journal; a file that is not there is an empty one.
 *
 * What is before a mark whose document is the present one is in that document
 * already: a crash came between the writing of the document and the cutting of the journal.
 *
 * @param document checksum of the present document
 * @throws StoreError STORE_CORRUPT for a damaged line, unless it is the last one and has no end
 */
export function readJournal(file: string, document: string | undefined): JournalContent {
  const bytes = bytesOf(file)
  const entries: { readonly at: number; readonly entry: Change | FoldMark }[] = []
  let from = 0
  let at = 0
  while (at < bytes.length) {
    const feed = bytes.indexOf(LINE_FEED, at)
    const end = feed === -1 ? bytes.length : feed
    const entry = readLine(bytes.subarray(at, end), feed === -1, file, entries.length + 1)
    if (entry === undefined) break
    entries.push({ at, entry })
    if (entry.kind === 'folded' && entry.document === document) from = entry.upTo
    at = Math.min(end + 1, bytes.length)
  }
  const changes = entries.flatMap(({ at, entry }) => (entry.kind === 'folded' || at < from ? [] : entry))
  const endsOpen = at > 0 && bytes[at - 1] !== LINE_FEED
  return { changes, length: at, endsOpen, tornBytes: bytes.length - at }
}

function bytesOf(file: string): Buffer {
  try {
    return readRegularFile(file)
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return Buffer.alloc(0)
    throw cannot('STORE_UNREADABLE', 'read', file, error)
  }
}

function readLine(line: Buffer, isTail: boolean, file: string, number: number): Change | FoldMark | undefined {
  try {
    return readJournalLine(line)
  } catch (error) {
    if (isTail) return undefined
    throw corrupt(file, new Damage(`line ${number}: ${error instanceof Error ? error.message : String(error)}`))
  }
}
