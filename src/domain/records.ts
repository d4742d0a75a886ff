import type { Values } from '../contract/contract.js'
import type { Int64 } from '../contract/int64.js'
import { stringifyJson } from '../contract/json.js'

/** The values of the parents' path parameters, outermost first; empty for a resource without parents. */
export type Scope = readonly string[]

export interface RecordId {
  readonly resource: string
  readonly scope: Scope
  readonly id: unknown
}

export interface StoredRecord {
  readonly scope: Scope
  readonly value: Values
}

/** The records of one resource as plain data, in order of creation. */
export interface SavedRecords {
  /** Identifies a record within its scope. */
  readonly idProperty: string
  /** The next id, or the number of the next UUID. */
  readonly nextId: Int64
  readonly values: readonly Values[]
  /** One for each value; omitted if the resource has no parents. */
  readonly scopes?: readonly Scope[]
}

export type RecordChange =
  | {
      readonly kind: 'put'
      readonly resource: string
      readonly record: StoredRecord
      /** Of a removed record that returns to its place: the number of records before it. */
      readonly rank?: number
    }
  | { readonly kind: 'remove'; readonly resource: string; readonly scope: Scope; readonly id: string }

/** The owner's change of a record, or a record that the contract does not allow in responses. Nothing was changed. */
export class RecordRefused extends Error {
  override readonly name = 'RecordRefused'
  readonly code: 'invalid_request' | 'not_found' | 'conflict'

  constructor(code: RecordRefused['code'], message: string) {
    // A suggestion ends in a question mark.
    super(message.replace(/\?\.$/, '?'))
    this.code = code
  }
}

/** Field by field: `stringifyJson` is 50 times slower for an object with a bigint, such as an id beyond 2^53. */
export function recordText(value: Values): string {
  let text = ''
  for (const name in value) {
    const field = value[name]
    if (field === undefined) continue
    const isPlain = typeof field === 'bigint' || Number.isFinite(field)
    const fieldText = isPlain ? String(field) : typeof field === 'string' ? JSON.stringify(field) : stringifyJson(field)
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${fieldText}`
  }
  return `{${text}}`
}
