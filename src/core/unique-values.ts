import type { Values } from '../contract/contract.js'
import type { ResourceData } from '../contract/resource-data.js'
import { comparable } from '../domain/collection.js'
import type { RecordsView } from './collections.js'

/**
 * Finds a property whose value must be unique, and that another record has: a known one, or one that was asked about before.
 * @param own the id of the record, if it is known
 */
export function takenFinder(
  { id, unique }: ResourceData,
  records?: RecordsView,
  own?: string,
): (value: Values) => string | undefined {
  const taken = unique.map((property) => [property, new Set<unknown>()] as const)
  const add = (value: Values) => {
    for (const [property, values] of taken) if (value[property] != null) values.add(comparable(value[property]))
  }
  for (const known of records?.values() ?? []) if (String(known[id.property]) !== own) add(known)
  return (value) => {
    const [found] = taken.find(([property, values]) => values.has(comparable(value[property]))) ?? []
    if (found === undefined) add(value)
    return found
  }
}
