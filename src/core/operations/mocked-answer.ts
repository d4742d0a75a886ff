import type { Operation } from '../../contract/contract.js'
import type { EngineAnswer, EngineRefusal } from '../../contract/engine.js'
import { findUnsendable, hasNoBody } from '../../contract/sendable.js'
import type { HandlerResult } from '../../domain/messages.js'
import { operationMessage } from '../../domain/operation-message.js'
import { encodedBody, problem, unreadBody } from '../answers.js'
import type { RequestContext } from '../request-context.js'

/** Headers of a mocked answer that would not be true of what is sent, are the connection's own, or are said by the sandbox itself. */
const NOT_TAKEN_OVER =
  /^(content-length|content-encoding|transfer-encoding|trailer|te|upgrade|connection|keep-alive|proxy-connection|date|content-type|x-ratelimit-.*|x-sandbox-reason|preference-applied|deprecation|sunset|access-control-.*)$/i

/**
 * Answers an operation without a handler with what Prism said to it.
 *
 * @source docs/spec.md, "A fuller contract"
 */
export function mockedOperation(context: RequestContext, operation: Operation): HandlerResult {
  return unreadBody(context.request) ?? encodedBody(context.request) ?? mockedAnswer(context, operation)
}

/** What Prism said to a request, which was asked before it was applied. */
export function mockedAnswer({ mock, space }: RequestContext, operation: Operation): HandlerResult {
  // Whoever asked has told why there is none.
  if (mock === undefined) return problem('internal_error')
  if ('violations' in mock) return refused(operation, mock)
  const unsendable = findUnsendable(mock)
  if (unsendable === undefined) return taken(mock)
  space.shared.warn(`The mocked answer of ${operation.id} cannot be sent: ${unsendable}`)
  return problem('internal_error')
}

/** The request is at fault, so the contract need not document the status. */
function refused(operation: Operation, { of, violations }: EngineRefusal): HandlerResult {
  const message = operationMessage(operation.id, violations)
  switch (of) {
    case 'path':
      return problem('not_found', { outside: true })
    case 'media-type':
      return problem('unsupported_media_type', { message, outside: true })
    case 'request':
      return problem('invalid_request', { message, outside: true })
  }
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
