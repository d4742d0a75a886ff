import type { Operation } from '../../contract/contract.js'
import type { EngineResponse } from '../../contract/engine.js'
import { findUnsendable, hasNoBody } from '../../contract/sendable.js'
import type { HandlerResult } from '../../domain/messages.js'
import type { RequestContext } from '../request-context.js'
import { encodedBody, problem, unreadBody } from '../responses.js'

/** Headers that would be wrong, belong to the connection, or are set by the sandbox. */
const NOT_TAKEN_OVER =
  /^(content-length|content-encoding|transfer-encoding|trailer|te|upgrade|connection|keep-alive|proxy-connection|date|content-type|x-content-type-options|x-ratelimit-.*|x-sandbox-reason|preference-applied|deprecation|sunset|access-control-.*)$/i

/** @source docs/spec.md, "Resources" */
export function mockedOperation(context: RequestContext, operation: Operation): HandlerResult {
  return unreadBody(context.request) ?? encodedBody(context.request) ?? mockedResponse(context, operation)
}

/** Prism was called before the machine applies the request. */
export function mockedResponse({ mock, space }: RequestContext, operation: Operation): HandlerResult {
  // The caller has logged why.
  if (mock === undefined) return problem('internal_error')
  const unsendable = findUnsendable(mock)
  if (unsendable === undefined) return taken(mock)
  space.shared.warn(`The mocked response of ${operation.id} cannot be sent: ${unsendable}`)
  return problem('internal_error')
}

function taken({ status, headers, body }: EngineResponse): HandlerResult {
  const contentType = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  const others = Object.entries(headers).filter(([name]) => !NOT_TAKEN_OVER.test(name))
  return {
    status,
    body: hasNoBody(status) ? '' : body,
    headers: others.flat(),
    reason: 'mock',
    ...(contentType === undefined && body === '' ? {} : { contentType: contentType ?? 'text/plain' }),
  }
}
