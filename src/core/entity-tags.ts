import type { Operation } from '../contract/contract.js'
import type { HandlerResult, ServiceRequest } from '../domain/messages.js'
import { recordText } from '../domain/records.js'
import { hexOf } from '../system/hex.js'
import { digestOf } from '../system/runtime.js'
import type { ActionRequest } from './action-request.js'
import { checksConditions, isDocumented } from './documented-statuses.js'

const TAG_DIGITS = 16

/** The strong entity tag of a text. @source docs/spec.md, "Entity tags" */
export function tagOf(text: string): string {
  return `"${hexOf(digestOf(text)).slice(0, TAG_DIGITS)}"`
}

/**
 * What the request requires of its record.
 * @param isTagged whether clients can know tags; without them, only `*` means something
 * @source RFC 9110, section 13.2.2
 */
export function preconditionOf({ method, headers }: ServiceRequest, isTagged: boolean): ActionRequest['precondition'] {
  const sent = (name: string) => (isTagged || headers[name] === '*' ? headers[name] : undefined)
  const match = sent('if-match')
  const none = isRead(method) ? undefined : sent('if-none-match')
  if (match === undefined && none === undefined) return undefined
  return (known) => {
    const tag = known && tagOf(recordText(known))
    return (match === undefined || namesTag(match, tag)) && (none === undefined || !namesTag(none, tag, true))
  }
}

/** Whether a write has a condition; a read needs none. @source RFC 6585, section 3 */
export function hasCondition({ method, headers }: ServiceRequest): boolean {
  return isRead(method) || (headers['if-match'] ?? headers['if-none-match']) !== undefined
}

/** Conditions of a write that the operation does not check. @returns undefined without any */
export function ignoredConditions(
  { method, headers }: ServiceRequest,
  operation: Operation,
  isTagged: boolean,
): readonly string[] | undefined {
  const isOnRecord = operation.action !== undefined && !['list', 'create'].includes(operation.action.kind)
  const isChecked = isOnRecord && !operation.isMocked && checksConditions(operation)
  const ignored = ['If-Match', 'If-None-Match'].filter((name) => {
    const sent = headers[name.toLowerCase()]
    return sent !== undefined && !(isChecked && (isTagged || sent === '*'))
  })
  return isRead(method) || ignored.length === 0 ? undefined : ignored
}

/** A 304 if the client has this response. @param header the name of its entity tag */
export function revalidated(
  reply: HandlerResult,
  header: string,
  operation: Operation,
  { method, headers: { 'if-none-match': known } }: ServiceRequest,
): HandlerResult {
  const { headers = [] } = reply
  const at = headers.indexOf(header)
  if (known === undefined || !isRead(method) || at === -1 || !namesTag(known, headers[at + 1], true)) return reply
  return { status: 304, body: '', headers, ...(!isDocumented(operation, 304) && { outside: true }) }
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Whether a header names a tag. `*` names every one that there is. @source RFC 9110, section 8.8.3.2 */
function namesTag(header: string | readonly string[], tag: string | undefined, isWeak = false): boolean {
  if (tag === undefined) return false
  const list = String(header)
  const named = list.match(/(?:W\/)?"[^"]*"/g) ?? []
  return list.trim() === '*' || named.some((value) => (isWeak ? value.replace('W/', '') : value) === tag)
}
