import type { Operation } from '../../contract/contract.js'
import { essenceOf, isInRange } from '../../contract/media-types.js'
import type { HandlerResult, ServiceRequest } from '../../domain/messages.js'
import { operationMessage } from '../../domain/problems.js'
import type { Gate, RequestContext } from '../request-context.js'
import { problem, refusedBody } from '../responses.js'
import type { Space } from '../space.js'

/** Does the request match the contract? */
export const checkContract: Gate = (context) => {
  const { route, request, space } = context
  if (route.kind !== 'operation' || isForwarded(context)) return undefined
  const { operation, captured } = route
  const path = operation.readPath(captured)
  if (path.violations.length > 0 && !isValidated(operation, space)) return problem('not_found')
  if (operation.takesBody) {
    const refusal = refuseBody(request, operation)
    if (refusal !== undefined) return refusal
  }
  const query = operation.readQuery(context.query)
  const body = operation.takesBody ? operation.readBody(bytesOf(request), typeOf(request)) : undefined
  context.readings = { path, query, body }
  const inHeaders = operation.checkHeaders(request.headers)
  const lists = [path.violations, query.violations, inHeaders, body?.violations ?? NONE]
  if (lists.every(({ length }) => length === 0)) return undefined
  const violations = lists.flat()
  return problem('invalid_request', {
    message: operationMessage(
      operation.id,
      violations.map(({ message }) => message),
    ),
    violations,
  })
}

const NONE: readonly [] = []

/** Whether an own contract documents the error of an invalid path. */
function isValidated({ responses }: Operation, { shared }: Space): boolean {
  return shared.contract.isPackaged !== true && (responses.has(400) || responses.has(422))
}

/** The real service checks such requests. */
function isForwarded({ handler, space }: RequestContext): boolean {
  return handler === undefined && space.shared.upstream !== undefined
}

function typeOf({ headers }: ServiceRequest): string | undefined {
  const type = headers['content-type']
  return typeof type === 'string' ? type : undefined
}

function bytesOf({ body }: ServiceRequest): Uint8Array | undefined {
  return body instanceof Uint8Array && body.length > 0 ? body : undefined
}

/** @source docs/behaviour.md, "Request bodies" */
function refuseBody(request: ServiceRequest, { body }: Operation): HandlerResult | undefined {
  const refused = refusedBody(request)
  if (refused !== undefined) return refused
  const type = typeOf(request) ?? ''
  const mediaTypes = body?.mediaTypes ?? []
  if (bytesOf(request) === undefined || type === mediaTypes[0]) return undefined
  const isKnown = mediaTypes.some((range) => isInRange(essenceOf(range), essenceOf(type)))
  if (isKnown && (!/json/i.test(type) || isUtf8(type))) return undefined
  const own = mediaTypes.length === 1 && mediaTypes[0] === 'application/json'
  const message = `Send the body as Content-Type: ${mediaTypes.join(' or ')}, without a Content-Encoding.`
  return problem('unsupported_media_type', { outside: true, ...(!own && { message }) })
}

/** @source RFC 8259, section 8.1: JSON has no other charset */
function isUtf8(contentType: string): boolean {
  return contentType
    .toLowerCase()
    .split(';')
    .every((parameter) => {
      const [name = '', value = ''] = parameter.split('=')
      return name.trim() !== 'charset' || /^"?utf-?8"?$/.test(value.trim())
    })
}
