import { parseJson, stringifyJson } from '../contract/json.js'
import { petText } from '../domain/pet-text.js'
import type { Pet } from '../domain/pets.js'
import type { Change, SpaceState } from '../domain/state.js'
import { crc32 } from './crc32.js'
import { keyText } from './entry-text.js'
import { asInt64, asKey, asPet, asRecord, asText, type Reader } from './shape.js'
import { CorruptionError, StoreError } from './store-error.js'

/** Says that a document contains everything in the journal up to a byte offset. */
export interface CompactionMark {
  readonly kind: 'folded'
  /** Checksum of that document. */
  readonly document: string
  readonly upTo: number
}

/** The first line of a journal: from here on each checksum continues the one before it, beginning with `chain`. */
interface JournalHead {
  readonly kind: 'journal'
  readonly chain: number
}

/** Version of the journal's lines. Those of the first had no head, and checksums that each stood alone. */
const JOURNAL_VERSION = 2

/** What a new journal's chain begins with. Not 0: without their head its lines would look like those of the first version. */
export const FIRST_CHAIN = 1

/**
 * The checksum of a line, which continues that of the line before it: so neither
 * a flipped bit nor a line that is missing, doubled or in another's place goes
 * unnoticed.
 *
 * @param content the line as entryText gives it
 */
export function checksumOf(content: string | Uint8Array, before: number): number {
  return crc32(content, before)
}

/** A line of the journal: JSON whose last member is its checksum. */
export function journalLine(content: string, checksum: number): string {
  return `${content}${CHECKSUM}${checksum}}\n`
}

/** The first line of a journal. It stands alone. */
export function journalHead(chain: number): string {
  const content = `{"journal":{"version":${JOURNAL_VERSION},"chain":${chain}}`
  return journalLine(content, checksumOf(content, 0))
}

/** What a line says, without its checksum and its end. */
export function entryText(entry: Change | CompactionMark): string {
  switch (entry.kind) {
    case 'pet':
      return `{"pet":${petText(entry.pet)}`
    case 'pet-removed':
      return `{"petRemoved":${entry.id}`
    case 'key':
      return `{"key":${keyText(entry.key)}`
    case 'key-removed':
      return `{"keyRemoved":${JSON.stringify(entry.key)}`
    case 'replaced':
      return `{"replaced":${stateText(entry.state)}`
    case 'folded':
      return `{"folded":${JSON.stringify({ document: entry.document, upTo: entry.upTo })}`
  }
}

function stateText({ nextPetId, pets, orders, keys }: SpaceState): string {
  const petTexts = pets.map(petText).join(',')
  return `{"nextPetId":${nextPetId},"pets":[${petTexts}],"orders":${stringifyJson(orders)},"keys":[${keys.map(keyText).join(',')}]}`
}

const CHECKSUM = ',"crc":'
/** `,"crc":4294967295}` */
const LONGEST_END = CHECKSUM.length + 11

/** A line as it was read, and its checksum. */
export interface ReadLine {
  readonly entry: Change | CompactionMark | JournalHead
  readonly checksum: number
}

/**
 * Reads a line of the journal, given without its line feed.
 *
 * A replaced state is not checked here; Recovery does that.
 *
 * @param before checksum of the line before it; 0 where it stands alone
 * @throws CorruptionError; StoreError STORE_VERSION for a head of another version
 */
export function readJournalLine(line: Buffer, before: number, readPet: Reader<Pet> = asPet): ReadLine {
  const end = line.toString('latin1', Math.max(0, line.length - LONGEST_END))
  const inEnd = end.lastIndexOf(CHECKSUM)
  if (inEnd === -1) throw new CorruptionError('its checksum is missing')
  const content = line.subarray(0, line.length - end.length + inEnd)
  const checksum = checksumOf(content, before)
  if (end.slice(inEnd + CHECKSUM.length) !== `${checksum}}`) {
    throw new CorruptionError('its checksum does not match it and the line before it')
  }
  return { entry: readEntry(parseJson(`${content}}`), readPet), checksum }
}

/** Whether some bytes begin with a whole line, whatever comes after it. */
export function beginsWithLine(bytes: Buffer, before: number): boolean {
  let checksum = before
  let from = 0
  for (let at = bytes.indexOf(CHECKSUM); at !== -1; at = bytes.indexOf(CHECKSUM, at + 1)) {
    checksum = checksumOf(bytes.subarray(from, at), checksum)
    from = at
    const end = `${CHECKSUM}${checksum}}`
    if (bytes.toString('latin1', at, at + end.length) === end) return true
  }
  return false
}

function readEntry(value: unknown, readPet: Reader<Pet>): ReadLine['entry'] {
  const [[name, entry] = []] = Object.entries(asRecord(value, 'it'))
  switch (name) {
    case 'pet':
      return { kind: 'pet', pet: readPet(entry, name) }
    case 'petRemoved':
      return { kind: 'pet-removed', id: asInt64(entry, name) }
    case 'key':
      return { kind: 'key', key: asKey(entry, name) }
    case 'keyRemoved':
      return { kind: 'key-removed', key: asText(entry, name) }
    case 'replaced':
      return { kind: 'replaced', state: entry as SpaceState }
    case 'folded': {
      const { document, upTo } = asRecord(entry, name)
      return { kind: 'folded', document: asText(document, 'document'), upTo: Number(asInt64(upTo, 'upTo')) }
    }
    case 'journal': {
      const { version, chain } = asRecord(entry, name)
      if (version !== JOURNAL_VERSION) throw otherVersion(version)
      return { kind: 'journal', chain: Number(asInt64(chain, 'chain')) }
    }
    default:
      throw new CorruptionError(`it records a change of an unknown kind, ${JSON.stringify(name)}`)
  }
}

function otherVersion(version: unknown): StoreError {
  return new StoreError(
    'STORE_VERSION',
    `the journal has version ${stringifyJson(version)}, this release reads ${JOURNAL_VERSION}. Use the release that wrote it, or choose another file with --store.`,
  )
}
