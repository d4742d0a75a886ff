import type { KeyHeader } from '../contract/contract-data.js'
import type { Place } from '../contract/document.js'
import { isNamedLogin, isToken } from '../contract/login-names.js'
import { readRecordFields, typeOf } from '../contract/schema-fields.js'
import { type OperationShape, success } from './operations.js'

/** Of an envelope: `{ data: { tokens: { access_token } } }`. */
const MAX_DEPTH = 3

/** Whether an operation has the name of a login, and a response with a place for a token. */
export function isLogin({ id, path, method, place }: OperationShape, keyHeaders: readonly KeyHeader[]): boolean {
  const operation = { id, path, method: method.toUpperCase() }
  if (!isNamedLogin(operation)) return false
  const { response, content, schema } = success(place) ?? {}
  const hasToken = (value: Place, depth = 0): boolean =>
    depth <= MAX_DEPTH &&
    [...readRecordFields(value)].some(([name, field]) =>
      field.type === 'string' ? isToken(name, operation) : hasToken(field.place, depth + 1),
    )
  const headers = response?.entries('headers') ?? []
  const known = ['authorization', 'set-cookie', ...keyHeaders.map(({ name }) => name.toLowerCase())]
  const isHeader = headers.some(([name]) => known.includes(name.toLowerCase()))
  if (schema === undefined) return isHeader || content !== undefined
  // Only an example may say what it has.
  const isOpen = typeOf(schema) === 'string' || readRecordFields(schema).size === 0
  return isHeader || isOpen || hasToken(schema)
}
