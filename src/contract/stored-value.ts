import type { PropertyData } from './resource-data.js'
import { shapedValue } from './shaped-value.js'

/** The value that a record gets for a sent one. */
export function storedValue(property: PropertyData | undefined, sent: unknown): unknown {
  return property?.shape === undefined ? sent : shapedValue(sent, property.shape)
}
