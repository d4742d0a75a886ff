import type { Operation, Violation } from '../../contract/contract.js'
import type { HandlerResult, ServiceRequest } from '../../domain/messages.js'
import { operationMessage } from '../../domain/problems.js'
import { documentedError } from '../documented-error.js'
import type { Gate } from '../request-context.js'
import { encodedBody, problem, unreadBody } from '../responses.js'

/** Does the request match the contract? Prism checks those that it mocks. */
export const checkContract: Gate = (context) => {
  const { route, request, handler } = context
  if (route.kind !== 'operation' || handler === undefined) return undefined
  const { operation, captured } = route
  const path = operation.readPath(captured)
  if (path.violations.length > 0)
    return documentedError(operation, 404) ?? problem('not_found', undocumented(operation, 404))
  if (operation.takesBody) {
    const refusal = refuseBody(request)
    if (refusal !== undefined) return refusal
  }
  const query = operation.readQuery(context.query)
  const body = operation.takesBody ? operation.readBody(bytesOf(request)) : undefined
  context.readings = { path, query, body }
  if (query.violations.length === 0 && (body === undefined || body.violations.length === 0)) return undefined
  return violationsResponse(operation, [...query.violations, ...(body?.violations ?? [])])
}

/** The request is at fault, so the contract need not document the status. */
export function undocumented({ responses, ranges }: Operation, status: number): { readonly outside?: true } {
  return responses.has(status) || ranges?.includes(Math.floor(status / 100)) ? {} : { outside: true }
}

/** @source docs/behaviour.md, "an invalid `limit` or `status`" */
function violationsResponse(operation: Operation, violations: readonly Violation[]): HandlerResult {
  const messages = violations.map(({ message }) => message)
  const message = operationMessage(operation.id, messages)
  return (
    documentedError(operation, 400, message) ?? problem('invalid_request', { message, ...undocumented(operation, 400) })
  )
}

function bytesOf({ body }: ServiceRequest): Uint8Array | undefined {
  return body instanceof Uint8Array && body.length > 0 ? body : undefined
}

/** @source docs/behaviour.md, "Request bodies" */
function refuseBody(request: ServiceRequest): HandlerResult | undefined {
  const unread = unreadBody(request) ?? encodedBody(request)
  if (unread !== undefined) return unread
  if (bytesOf(request) === undefined) return undefined
  if (isJson(String(request.headers['content-type'] ?? ''))) return undefined
  return problem('unsupported_media_type', { outside: true })
}

/** `application/json`, with no charset but UTF-8. @source RFC 8259, section 8.1 */
function isJson(contentType: string): boolean {
  // The usual form.
  if (contentType === 'application/json') return true
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';')
  if (mediaType.trim() !== 'application/json') return false
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=')
    return name.trim() !== 'charset' || /^"?utf-?8"?$/.test(value.trim())
  })
}
