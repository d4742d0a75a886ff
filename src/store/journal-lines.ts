import { lstatSync } from 'node:fs'
import { parseJson, stringifyJson } from '../contract/json.js'
import type { Pet } from '../domain/pets.js'
import { recordText } from '../domain/records.js'
import type { Change, SpaceState } from '../domain/state.js'
import { messageOf } from '../system/message-of.js'
import { assertRegularFile, readRegularFile } from '../system/regular-file.js'
import { crc32 } from './checksum.js'
import { keyText } from './document-format.js'
import {
  apiKey,
  check,
  int64,
  type Reader,
  readPackagedPet,
  record,
  recordChange,
  recordRemoval,
  text,
} from './shape.js'
import { CorruptionError, cannot, corrupt, failedWith, StoreError } from './store-error.js'

/** The document with this checksum contains the journal up to a byte offset. */
export interface CompactionMark {
  readonly kind: 'folded'
  readonly document: string
  readonly upTo: number
}

/** The first line of a journal. Each checksum continues the previous one, starting from `chain`. */
interface JournalHead {
  readonly kind: 'journal'
  readonly chain: number
}

export interface JournalEnd {
  readonly length: number
  /** Checksum of the last line; undefined for an empty journal, or one of version 1. */
  readonly chain: number | undefined
}

/** Version 1 had no first line, and independent checksums. */
const JOURNAL_VERSION = 2

/** Not 0, which would make lines without their head look like version 1. */
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

export function journalHead(chain: number): string {
  const content = `{"journal":{"version":${JOURNAL_VERSION},"chain":${chain}}`
  return journalLine(content, crc32(content, 0))
}

/** An entry without its checksum and closing brace. */
export function entryText(entry: Change | CompactionMark): string {
  switch (entry.kind) {
    case 'pet':
      return `{"pet":${recordText(entry.pet)}`
    case 'pet-removed':
      return `{"petRemoved":${entry.id}`
    case 'record': {
      const { resource, idProperty, entry: one } = entry
      return `{"record":${stringifyJson({ resource, idProperty, entry: one })}`
    }
    case 'record-removed': {
      const { resource, scope, id } = entry
      return `{"recordRemoved":${stringifyJson({ resource, scope, id })}`
    }
    case 'key':
      return `{"key":${keyText(entry.key)}`
    case 'key-removed':
      return `{"keyRemoved":${JSON.stringify(entry.key)}`
    case 'replaced': {
      const { nextPetId, pets, orders, keys, records } = entry.state
      const others = records === undefined ? '' : `,"records":${stringifyJson(records)}`
      return `{"replaced":{"nextPetId":${nextPetId},"pets":[${pets.map(recordText).join(',')}],"orders":${stringifyJson(orders)},"keys":[${keys.map(keyText).join(',')}]${others}}`
    }
    case 'folded':
      return `{"folded":${JSON.stringify({ document: entry.document, upTo: entry.upTo })}`
  }
}

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
      const { entry, checksum } = readLine(line, chain ?? 0, readPet)
      if (entry.kind === 'journal') {
        if (chain !== undefined) throw damaged('it is the first line of another journal')
        chain = entry.chain
      } else {
        entries.push({ at, entry })
        if (chain !== undefined) chain = checksum
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
 * @param before previous checksum; 0 for independent checksums
 * @throws CorruptionError; StoreError STORE_VERSION for a head of another version
 */
function readLine(line: Buffer, before: number, readPet: Reader<Pet>) {
  const end = line.toString('latin1', Math.max(0, line.length - MAX_END_LENGTH))
  const inEnd = end.lastIndexOf(CHECKSUM)
  if (inEnd === -1) throw new CorruptionError('its checksum is missing')
  const content = line.subarray(0, line.length - end.length + inEnd)
  const checksum = crc32(content, before)
  if (end.slice(inEnd + CHECKSUM.length) !== `${checksum}}`) {
    throw new CorruptionError('its checksum does not match its content and the previous line')
  }
  return { entry: readEntry(parseJson(`${content}}`), readPet), checksum }
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

/** Recovery checks replaced states. */
function readEntry(value: unknown, readPet: Reader<Pet>): Change | CompactionMark | JournalHead {
  const [[name, entry] = []] = Object.entries(check(record, value, 'it'))
  switch (name) {
    case 'pet':
      return { kind: 'pet', pet: readPet(entry, name) }
    case 'petRemoved':
      return { kind: 'pet-removed', id: check(int64, entry, name) }
    case 'record':
      return { kind: 'record', ...check(recordChange, entry, name) }
    case 'recordRemoved':
      return { kind: 'record-removed', ...check(recordRemoval, entry, name) }
    case 'key':
      return { kind: 'key', key: check(apiKey, entry, name) }
    case 'keyRemoved':
      return { kind: 'key-removed', key: check(text, entry, name) }
    case 'replaced':
      return { kind: 'replaced', state: entry as SpaceState }
    case 'folded': {
      const { document, upTo } = check(record, entry, name)
      return { kind: 'folded', document: check(text, document, 'document'), upTo: Number(check(int64, upTo, 'upTo')) }
    }
    case 'journal': {
      const { version, chain } = check(record, entry, name)
      if (version === JOURNAL_VERSION) return { kind: 'journal', chain: Number(check(int64, chain, 'chain')) }
      throw new StoreError(
        'STORE_VERSION',
        `the journal has version ${stringifyJson(version)}, this release reads version ${JOURNAL_VERSION}. Use the release that wrote it, or choose another file with --store.`,
      )
    }
    default:
      throw new CorruptionError(`it has an unknown kind of change, ${JSON.stringify(name)}`)
  }
}
