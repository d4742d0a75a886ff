import { lstatSync } from 'node:fs'
import * as v from 'valibot'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { Pet } from '../domain/pets.js'
import { recordText } from '../domain/records.js'
import type { Change, SpaceState } from '../domain/state.js'
import { messageOf } from '../system/message-of.js'
import { assertRegularFile, readRegularFile } from '../system/regular-file.js'
import { crc32 } from './checksum.js'
import { storedKey } from './document-format.js'
import {
  apiKey,
  check,
  fields,
  int64,
  list,
  type Reader,
  readPackagedPet,
  record,
  recordEntry,
  text,
  wholeNumber,
} from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'

/** The document with this checksum contains the journal up to a byte offset. */
export interface CompactionMark {
  readonly kind: 'folded'
  readonly document: string
  readonly upTo: number
}

export interface JournalEnd {
  readonly length: number
  /** Checksum of the last line; undefined for an empty journal. */
  readonly chain: number | undefined
}

const JOURNAL_VERSION = 3

export const FIRST_CHAIN = 1

const CHECKSUM = ',"crc":'
const MAX_END_LENGTH = CHECKSUM.length + 11
const LINE_FEED = 10

/**
 * A line of the journal: JSON that ends with its checksum, which continues the previous one. So missing, repeated and
 * misplaced lines are detected as well as flipped bits.
 * @param content from `entryText`
 */
export function journalLine(content: string, checksum: number): string {
  return `${content}${CHECKSUM}${checksum}}\n`
}

/** The first line of a journal. Each checksum continues the previous one, starting from `chain`. */
export function journalHead(chain: number): string {
  const content = `{"journal":{"version":${JOURNAL_VERSION},"chain":${chain}}`
  return journalLine(content, crc32(content, 0))
}

/** An entry without its checksum and closing brace. */
export function entryText(entry: Change | CompactionMark): string {
  switch (entry.kind) {
    case 'pet':
      return `{"kind":"pet","pet":${recordText(entry.pet)}`
    case 'replaced': {
      const { pets, keys, ...others } = entry.state
      const rest = stringifyJson({ ...others, keys: keys.map(storedKey) }).slice(1)
      return `{"kind":"replaced","state":{"pets":[${pets.map(recordText).join(',')}],${rest}`
    }
    default:
      return stringifyJson(entry.kind === 'key' ? { ...entry, key: storedKey(entry.key) } : entry).slice(0, -1)
  }
}

/** What `entryText` writes, besides pets. Recovery checks replaced states. */
const entry = v.variant(
  'kind',
  [
    fields({ kind: v.literal('pet-removed'), id: int64 }),
    fields({ kind: v.literal('record'), resource: text, idProperty: text, entry: recordEntry }),
    fields({ kind: v.literal('record-removed'), resource: text, scope: list(text), id: text }),
    fields({ kind: v.literal('key'), key: apiKey }),
    fields({ kind: v.literal('key-removed'), key: text }),
    fields({ kind: v.literal('replaced'), state: v.unknown() }),
    fields({ kind: v.literal('folded'), document: text, upTo: wholeNumber(0) }),
  ],
  'a change',
)

export interface JournalContent {
  readonly changes: readonly Change[]
  readonly end: JournalEnd
  /** The last good line lacks its line feed. */
  readonly endsOpen: boolean
  /** Length of a truncated last line. */
  readonly tornBytes: number
}

/**
 * Reads a journal; a missing file counts as empty.
 *
 * Lines before a mark for the current document are skipped: the sandbox crashed between writing the document and
 * cutting the journal. A truncated last line was never acknowledged, and is skipped, but read if only its line feed is
 * missing. Anything else is damage.
 * @param document checksum of the current document
 * @throws StoreError STORE_CORRUPT, STORE_VERSION, STORE_UNREADABLE
 */
export function readJournal(
  file: string,
  document: string | undefined,
  readPet: Reader<Pet> = readPackagedPet,
): JournalContent {
  const bytes = readBytes(file)
  const entries: { readonly at: number; readonly entry: Change | CompactionMark }[] = []
  let from = 0
  let at = 0
  let chain: number | undefined
  for (let number = 1; at < bytes.length; number++) {
    const damaged = (problem: string) => corrupt(file, new CorruptionError(`line ${number}: ${problem}`))
    const feed = bytes.indexOf(LINE_FEED, at)
    const line = bytes.subarray(at, feed === -1 ? bytes.length : feed)
    try {
      const { content, checksum } = readLine(line, chain ?? 0)
      if (chain === undefined) chain = readHead(content)
      else {
        const entry = readEntry(content, readPet)
        entries.push({ at, entry })
        chain = checksum
        if (entry.kind === 'folded' && entry.document === document) from = entry.upTo
      }
    } catch (error) {
      if (error instanceof StoreError) throw error
      if (feed !== -1) throw damaged(messageOf(error))
      if (startsWithLine(line, chain ?? 0)) throw damaged('it does not end with a line feed')
      break
    }
    at = Math.min(at + line.length + 1, bytes.length)
  }
  const changes = entries.flatMap(({ at, entry }) => (entry.kind === 'folded' || at < from ? [] : entry))
  const endsOpen = at > 0 && bytes[at - 1] !== LINE_FEED
  return { changes, end: { length: at, chain }, endsOpen, tornBytes: bytes.length - at }
}

function readBytes(file: string): Buffer {
  try {
    // A cloned folder may contain a link: appending through it would write to, or truncate, any file of the user.
    const stats = lstatSync(file, { throwIfNoEntry: false })
    if (stats !== undefined) assertRegularFile(stats)
    return readRegularFile(file)
  } catch (error) {
    if (failedWith(error, 'ENOENT')) return Buffer.alloc(0)
    throw cannot('STORE_UNREADABLE', 'read', file, error)
  }
}

/**
 * @param line   without its line feed
 * @param before previous checksum; 0 for the first line
 * @throws CorruptionError
 */
function readLine(line: Buffer, before: number): { readonly content: unknown; readonly checksum: number } {
  const end = line.toString('latin1', Math.max(0, line.length - MAX_END_LENGTH))
  const inEnd = end.lastIndexOf(CHECKSUM)
  if (inEnd === -1) throw new CorruptionError('its checksum is missing')
  const content = line.subarray(0, line.length - end.length + inEnd)
  const checksum = crc32(content, before)
  if (end.slice(inEnd + CHECKSUM.length) !== `${checksum}}`) {
    throw new CorruptionError('its checksum does not match its content and the previous line')
  }
  return { content: parseJson(`${content}}`), checksum }
}

function startsWithLine(bytes: Buffer, before: number): boolean {
  let checksum = before
  let from = 0
  for (let at = bytes.indexOf(CHECKSUM); at !== -1; at = bytes.indexOf(CHECKSUM, at + 1)) {
    checksum = crc32(bytes.subarray(from, at), checksum)
    from = at
    const end = `${CHECKSUM}${checksum}}`
    if (bytes.toString('latin1', at, at + end.length) === end) return true
  }
  return false
}

/** @returns the checksum that the next line continues. @throws StoreError STORE_VERSION */
function readHead(content: unknown): number {
  const { journal } = check(record, content, 'it')
  const { version, chain } = check(record, journal ?? { version: 1 }, 'journal')
  if (version === JOURNAL_VERSION) return check(wholeNumber(0), chain, 'chain')
  throw new StoreError(
    'STORE_VERSION',
    `the journal has version ${stringifyJson(version ?? null)}, this release reads version ${JOURNAL_VERSION}. Use the release that wrote it, or choose another file with --store.`,
  )
}

function readEntry(content: unknown, readPet: Reader<Pet>): Change | CompactionMark {
  const { kind, pet }: { readonly kind?: unknown; readonly pet?: unknown } = Object(content)
  // Not by the schema, because most lines are pets.
  if (kind === 'pet') return { kind, pet: readPet(pet, 'pet') }
  const read = check(entry, content, '')
  return read.kind === 'replaced' ? { ...read, state: read.state as SpaceState } : read
}
