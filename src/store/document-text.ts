import { stringifyJson } from '../contract/json.js'
import type { ApiKey } from '../domain/keys.js'
import { recordText } from '../domain/records.js'
import type { SpaceState } from '../domain/state.js'

export const DOCUMENT_VERSION = 1

/** Each entry of a list has a line. Documents with these lines are read block by block. */
export const LAYOUT = { indent: '    ', listEnd: '  ]' } as const

/** About a millisecond of work, so that requests are served in between. */
const ENTRIES_PER_PIECE = 2000

/** Writes one record per line, in pieces: a million records are never in memory as one string. */
export function* documentPieces({ nextPetId, pets, orders, keys, records }: SpaceState): Generator<Buffer> {
  yield Buffer.from(`{\n  "version": ${DOCUMENT_VERSION},\n  "nextPetId": ${nextPetId},\n  "pets": `)
  yield* list(pets, recordText)
  yield Buffer.from(',\n  "orders": ')
  yield* list(orders, stringifyJson)
  yield Buffer.from(',\n  "keys": ')
  yield* list(keys, keyText)
  if (records !== undefined) yield* recordPieces(records)
  yield Buffer.from('\n}\n')
}

function* recordPieces(records: NonNullable<SpaceState['records']>): Generator<Buffer> {
  let before = ',\n  "records": {\n    '
  for (const [name, { idProperty, nextId, values, scopes }] of Object.entries(records)) {
    yield Buffer.from(`${before}${stringifyJson(name)}: ${stringifyJson({ idProperty, nextId }).slice(0, -1)}`)
    if (scopes !== undefined) {
      yield Buffer.from(',"scopes":')
      yield* list(scopes, stringifyJson)
    }
    yield Buffer.from(',"values":')
    yield* list(values, recordText)
    before = '},\n    '
  }
  yield Buffer.from('}\n  }')
}

/** Without its label. */
export function keyText({ key, plan, always }: ApiKey): string {
  return stringifyJson({ key, plan, always })
}

function* list<Entry>(entries: readonly Entry[], textOf: (entry: Entry) => string): Generator<Buffer> {
  if (entries.length === 0) {
    yield Buffer.from('[]')
    return
  }
  for (let at = 0; at < entries.length; at += ENTRIES_PER_PIECE) {
    const lines = entries.slice(at, at + ENTRIES_PER_PIECE).map((entry) => `\n${LAYOUT.indent}${textOf(entry)}`)
    yield Buffer.from((at === 0 ? '[' : ',') + lines.join(','))
  }
  yield Buffer.from(`\n${LAYOUT.listEnd}`)
}
