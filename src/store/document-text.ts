import { stringifyJson } from '../contract/json.js'
import { petText } from '../domain/pet-text.js'
import type { SpaceState } from '../domain/state.js'
import { crc32 } from './crc32.js'
import { keyText } from './entry-text.js'

/** Version of the document's layout. */
export const DOCUMENT_VERSION = 1

/** The layout before the first pet and after the last. A document that follows it is read line by line. */
export const LAYOUT = {
  head: [/^\{$/, /^ {2}"version": \d+,$/, /^ {2}"nextPetId": \d+,$/, /^ {2}"pets": \[$/],
  petIndent: '    ',
  afterPets: '  ],',
} as const

/** Pets per piece: about a millisecond's work, so that requests are served in between. */
const PETS_A_PIECE = 2000

/** Identifies a document by its crc32 and its length in bytes. */
export class Checksum {
  #crc = 0
  #bytes = 0

  add(part: Uint8Array): void {
    this.#crc = crc32(part, this.#crc)
    this.#bytes += part.length
  }

  /** Passes pieces on and adds them up. */
  *of(pieces: Iterable<Buffer>): Generator<Buffer> {
    for (const piece of pieces) {
      this.add(piece)
      yield piece
    }
  }

  get bytes(): number {
    return this.#bytes
  }

  toString(): string {
    return `${this.#crc.toString(16).padStart(8, '0')}-${this.#bytes}`
  }
}

/**
 * The document of a state, readable, one pet per line.
 *
 * It comes in pieces: a million pets are never in memory as one string, and
 * other work can run after each piece.
 */
export function* documentPieces({ nextPetId, pets, orders, keys }: SpaceState): Generator<Buffer> {
  yield Buffer.from(`{\n  "version": ${DOCUMENT_VERSION},\n  "nextPetId": ${nextPetId},\n  "pets": [`)
  for (let at = 0; at < pets.length; at += PETS_A_PIECE) {
    yield Buffer.from((at === 0 ? '' : ',') + lines(pets.slice(at, at + PETS_A_PIECE).map(petText)))
  }
  const orderTexts = orders.map((order) => stringifyJson(order))
  yield Buffer.from(`\n  ],\n  "orders": ${list(orderTexts)},\n  "keys": ${list(keys.map(keyText))}\n}\n`)
}

function lines(entries: readonly string[]): string {
  return entries.map((entry) => `\n${LAYOUT.petIndent}${entry}`).join(',')
}

function list(entries: readonly string[]): string {
  return entries.length === 0 ? '[]' : `[${lines(entries)}\n  ]`
}
