import type { Values } from '../contract/contract.js'
import { parseInt64 } from '../contract/int64.js'
import { type ParentData, parentField } from '../contract/resource-data.js'
import type { StoredRecord } from './records.js'

// In memory, the ids of a record's parents are beside it, so that no response shows them. Files and the control plane have
// them as fields of the record.

/** The fields for the parents of a record that it does not have itself. */
export function parentFields(parents: readonly ParentData[], { scope, value }: StoredRecord): Values {
  const fields: Record<string, unknown> = {}
  for (const [index, { field, property, isInteger }] of parents.entries()) {
    const id = scope[index] ?? ''
    if (property !== undefined && String(value[property]) === id) continue
    // A property of the record that says something else stays as it is.
    const name = property !== undefined || Object.hasOwn(value, field) ? parentField(index) : field
    fields[name] = (isInteger ? parseInt64(id) : undefined) ?? id
  }
  return fields
}

/** @returns the record without these fields; or the name of one that is missing */
export function withoutParentFields(parents: readonly ParentData[], fields: Values): StoredRecord | string {
  if (parents.length === 0) return { scope: [], value: fields }
  const value: Record<string, unknown> = { ...fields }
  const scope: string[] = []
  for (const [index, { field, property }] of parents.entries()) {
    const other = parentField(index)
    const isOther = Object.hasOwn(fields, other)
    const name = isOther ? other : field
    if (fields[name] === undefined || fields[name] === null) return field
    scope.push(String(fields[name]))
    if (isOther || property === undefined) delete value[name]
  }
  return { scope, value }
}
