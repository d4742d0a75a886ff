import { stringifyJson } from '../contract/json.js'
import type { ApiKey } from '../domain/keys.js'
import { recordText } from '../domain/records.js'
import type { SpaceState } from '../domain/state.js'

export const DOCUMENT_VERSION = 1

/** Lines before the first pet and after the last. Only documents with them are read line by line. */
export const LAYOUT = {
  head: [/^\{$/, /^ {2}"version": \d+,$/, /^ {2}"nextPetId": \d+,$/, /^ {2}"pets": \[$/],
  petIndent: '    ',
  afterPets: '  ],',
} as const

/** About a millisecond of work, so that requests are served in between. */
const PETS_PER_PIECE = 2000

/** Writes one pet per line, in pieces: a million pets are never in memory as one string. */
export function* documentPieces({ nextPetId, pets, orders, keys, records }: SpaceState): Generator<Buffer> {
  yield Buffer.from(`{\n  "version": ${DOCUMENT_VERSION},\n  "nextPetId": ${nextPetId},\n  "pets": [`)
  for (let at = 0; at < pets.length; at += PETS_PER_PIECE) {
    yield Buffer.from((at === 0 ? '' : ',') + lines(pets.slice(at, at + PETS_PER_PIECE).map(recordText)))
  }
  const orderTexts = orders.map((order) => stringifyJson(order))
  yield Buffer.from(`\n  ],\n  "orders": ${list(orderTexts)},\n  "keys": ${list(keys.map(keyText))}`)
  if (records !== undefined) yield Buffer.from(`,\n  "records": ${recordsText(records)}`)
  yield Buffer.from('\n}\n')
}

function recordsText(records: NonNullable<SpaceState['records']>): string {
  const resources = Object.entries(records).map(([name, { values, ...rest }]) => {
    const head = stringifyJson(rest).slice(0, -1)
    return `${stringifyJson(name)}: ${head},"values":${list(values.map(recordText))}}`
  })
  return `{\n    ${resources.join(',\n    ')}\n  }`
}

/** Without its label. */
export function keyText({ key, plan, always }: ApiKey): string {
  return stringifyJson({ key, plan, always })
}

function lines(entries: readonly string[]): string {
  return entries.map((entry) => `\n${LAYOUT.petIndent}${entry}`).join(',')
}

function list(entries: readonly string[]): string {
  return entries.length === 0 ? '[]' : `[${lines(entries)}\n  ]`
}
