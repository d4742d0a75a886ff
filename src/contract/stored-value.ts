import type { PropertyData } from './resource-data.js'
import { type NewId, shapedValue } from './shaped-value.js'

/** The value that a record gets for a sent one. */
export function storedValue(property: PropertyData | undefined, sent: unknown, newId: NewId): unknown {
  return property?.shape === undefined ? sent : shapedValue(sent, property.shape, newId)
}
