import { textOf } from '../domain/long-body.js'
import type { HandlerResult } from '../domain/messages.js'
import { mockRequest } from './operations/mock-operation.js'
import { replyHeaders } from './reply-headers.js'
import type { RequestContext } from './request-context.js'

/**
 * Finds how a response breaks the contract, if it does.
 *
 * Responses made up by a switch may break it, and about requests outside the
 * contract it says nothing, so both pass.
 */
export async function breachOfContract(context: RequestContext, answer: HandlerResult): Promise<string | undefined> {
  const { space, route, request } = context
  if (route.kind !== 'operation' || answer.outside || answer.reason !== undefined || answer.status >= 500)
    return undefined
  const headers: Record<string, string> = {}
  const list = replyHeaders(context, answer)
  for (let i = 0; i < list.length; i += 2) headers[String(list[i]).toLowerCase()] = String(list[i + 1])
  const violations = await space.shared.engine.check(mockRequest(context), {
    status: answer.status,
    headers,
    body: textOf(answer.body),
  })
  if (violations.length === 0) return undefined
  return `The answer ${answer.status} to ${request.method} ${route.operation.path} breaks the contract: ${violations.join('; ')}`
}
