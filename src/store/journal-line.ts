import { parseJson, stringifyJson } from '../contract/json.js'
import { petText } from '../domain/pet-text.js'
import type { Change, SpaceState } from '../domain/state.js'
import { crc32 } from './crc32.js'
import { keyText } from './entry-text.js'
import { asInt64, asKey, asPet, asRecord, asText } from './shape.js'
import { Damage } from './store-error.js'

/** Says that a document holds everything that the journal had before one of its bytes. */
export interface FoldMark {
  readonly kind: 'folded'
  /** Checksum of that document. */
  readonly document: string
  readonly upTo: number
}

/**
 * Writes a change as a line of the journal: JSON whose last member is the
 * checksum of what stands before it, so that no flipped bit is read as a pet.
 */
export function journalLine(entry: Change | FoldMark): string {
  const content = contentOf(entry)
  return `${content},"crc":${crc32(content)}}\n`
}

function contentOf(entry: Change | FoldMark): string {
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

/**
 * Reads a line of the journal, given without its line feed.
 *
 * A replaced state is not looked into here; Recovery does.
 *
 * @throws Damage
 */
export function readJournalLine(line: Buffer): Change | FoldMark {
  const end = line.toString('latin1', Math.max(0, line.length - LONGEST_END))
  const inEnd = end.lastIndexOf(CHECKSUM)
  if (inEnd === -1) throw new Damage('its checksum is missing')
  const content = line.subarray(0, line.length - end.length + inEnd)
  if (end.slice(inEnd + CHECKSUM.length) !== `${crc32(content)}}`) throw new Damage('its checksum does not match')
  const value = parseJson(`${content}}`)
  const [[name, entry] = []] = Object.entries(asRecord(value, 'it'))
  switch (name) {
    case 'pet':
      return { kind: 'pet', pet: asPet(entry, name) }
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
    default:
      throw new Damage(`it tells of something that is not known here, ${JSON.stringify(name)}`)
  }
}
