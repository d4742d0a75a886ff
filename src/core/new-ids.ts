import type { Int64 } from '../contract/int64.js'
import { fillValue, idOfForm, type ResourceData } from '../contract/resource-data.js'
import type { NewId } from '../contract/shaped-value.js'
import { hexOf } from '../system/hex.js'
import { digestOf } from '../system/runtime.js'
import type { Space } from './space.js'

/**
 * A UUID (version 8, RFC 9562): the same for the same seed.
 * @param what the resource, and what of its records if it is not the id @param number of the record, or its id
 */
export function newUuid({ shared, name }: Space, what: string, number: unknown): string {
  const hex = hexOf(digestOf([shared.seed, name, what, number].join(':')))
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-a$4-$5')
}

/** Few texts may have the form of a pattern. */
const MORE_TRIES = 1000

/** An id that is a text, for a new record. If all that were tried are known, the last of them. */
export function newTextId(
  space: Space,
  { name, id: { pattern } }: ResourceData,
  free: Int64,
  isKnown: (id: unknown) => boolean,
): string | undefined {
  for (let tries = 0; ; tries++) {
    const uuid = newUuid(space, name, tries === 0 ? free : `${free} ${tries}`)
    const made = pattern === undefined ? uuid : idOfForm(pattern, uuid)
    if (tries === MORE_TRIES || !isKnown(made)) return made
  }
}

/** Row ids of a record with an integer id: 7001 is the first of record 7. */
const ROWS = 1000

/**
 * Ids for the rows in a record: not those of its other rows, nor, up to a thousand rows, those of other records.
 * @param known rows with ids
 */
export function newRowIds(space: Space, { name }: ResourceData, id: unknown, known: unknown): NewId {
  let taken: Set<unknown> | undefined
  let count = 0
  // Without any left, rows get ids that others have.
  let tries = MORE_TRIES
  return (fill) => {
    if (taken === undefined) {
      taken = valuesIn(known)
      tries += taken.size
    }
    for (;;) {
      const uuid = newUuid(space, `${name} row ${++count}`, id)
      const numbered = typeof id === 'string' ? Number.NaN : Number(id) * ROWS + count
      const own = Number.isSafeInteger(numbered) ? numbered : Number.parseInt(uuid.slice(0, 13).replace('-', ''), 16)
      const made = fillValue(fill, 0, fill.isCounted ? own : uuid)
      if (taken.has(made) && tries-- > 0) continue
      taken.add(made)
      return made
    }
  }
}

function valuesIn(known: unknown): Set<unknown> {
  const values = new Set<unknown>()
  JSON.stringify(known, (_, value: unknown) => {
    values.add(value)
    return typeof value === 'bigint' ? undefined : value
  })
  return values
}
