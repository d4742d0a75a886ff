import type { Values } from '../contract/contract.js'
import type { Int64 } from '../contract/int64.js'
import { stringifyJson } from '../contract/json.js'

/** The values of the parents' path parameters, outermost first; empty for a resource without parents. */
export type Scope = readonly string[]

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

/** A record that the contract does not allow in responses. It was not added or changed. */
export class InvalidRecord extends Error {
  override readonly name = 'InvalidRecord'
}

let lastValue: Values | undefined
let lastText = ''

/** A record as JSON. The text of a new one is needed three times: to measure, to write and to send it. */
export function recordText(value: Values): string {
  if (value === lastValue) return lastText
  lastText = textOf(value)
  lastValue = value
  return lastText
}

/** Names of properties as JSON, each with its colon. */
const NAMES = new Map<string, string>()
const MAX_NAMES = 1000

/** Field by field: `stringifyJson` is 50 times slower for an object with a bigint, such as an id beyond 2^53. */
function textOf(value: Values): string {
  let text = '{'
  for (const name in value) {
    const field = value[name]
    if (field === undefined) continue
    if (text !== '{') text += ','
    text += nameText(name)
    if (typeof field === 'string') text += JSON.stringify(field)
    else if (typeof field === 'bigint' || Number.isFinite(field)) text += String(field)
    else text += stringifyJson(field)
  }
  return `${text}}`
}

function nameText(name: string): string {
  const known = NAMES.get(name)
  if (known !== undefined) return known
  const text = `${JSON.stringify(name)}:`
  if (NAMES.size < MAX_NAMES) NAMES.set(name, text)
  return text
}
