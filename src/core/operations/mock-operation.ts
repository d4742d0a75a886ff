import type { Operation } from '../../contract/contract.js'
import type { EngineAnswer, EngineRefusal, EngineRequest } from '../../contract/engine.js'
import { findUnsendable, hasNoBody } from '../../contract/sendable.js'
import type { HandlerResult } from '../../domain/messages.js'
import { messageOf } from '../../system/message-of.js'
import { encodedBody, problem, unreadBody } from '../answers.js'
import type { RequestContext } from '../request-context.js'

/** Headers of a mocked answer that would not be true of what is sent, are the connection's own, or are said by the sandbox itself. */
const NOT_TAKEN_OVER =
  /^(content-length|content-encoding|transfer-encoding|trailer|te|upgrade|connection|keep-alive|proxy-connection|date|content-type|x-ratelimit-.*|x-sandbox-reason|preference-applied|deprecation|sunset|access-control-.*)$/i

/**
 * Has Prism answer an operation without a handler.
 *
 * @param forced a documented status to answer with, whatever the request is
 * @source docs/behaviour.md, "A fuller contract"
 */
export async function mockOperation(
  context: RequestContext,
  operation: Operation,
  forced?: number,
): Promise<HandlerResult> {
  const { engine, warn } = context.space.shared
  const unread = forced === undefined ? (unreadBody(context.request) ?? encodedBody(context.request)) : undefined
  if (unread !== undefined) return unread
  try {
    const request = mockRequest(context)
    const answer = await engine.mock(forced === undefined ? request : { ...request, forced })
    if ('violations' in answer) return refused(operation, answer)
    const unsendable = findUnsendable(answer)
    if (unsendable === undefined) return taken(answer)
    warn(`The mocked answer of ${operation.id} cannot be sent: ${unsendable}`)
    return problem('internal_error')
  } catch (error) {
    warn(`Prism could not answer ${operation.id}: ${messageOf(error)}`)
    return problem('internal_error')
  }
}

/** The request is at fault, so the contract need not document the status. */
function refused(operation: Operation, { of, violations }: EngineRefusal): HandlerResult {
  const message = `${operation.id}: ${violations.join('; ')}.`
  switch (of) {
    case 'path':
      return problem('not_found', { outside: true })
    case 'media-type':
      return problem('unsupported_media_type', { message, outside: true })
    case 'request':
      return problem('invalid_request', { message, outside: true })
  }
}

/** A request in Prism's terms. */
export function mockRequest({ request, query, path, space }: RequestContext): EngineRequest {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers[name] = String(value)
  const body = request.body instanceof Uint8Array ? new TextDecoder().decode(request.body) : ''
  const method = request.method === 'HEAD' ? 'GET' : request.method
  return { method, path: path.slice(space.shared.basePath.length), query, headers, body }
}

function taken({ status, headers, body }: EngineAnswer): HandlerResult {
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  const others = Object.entries(headers).filter(([name]) => !NOT_TAKEN_OVER.test(name))
  return {
    status,
    body: hasNoBody(status) ? '' : body,
    headers: others.flat(),
    ...(contentType === undefined ? {} : { contentType }),
  }
}
