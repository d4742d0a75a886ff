import { textOf } from '../domain/long-body.js'
import type { Answer } from '../domain/messages.js'
import { mockRequest } from './operations/mock-operation.js'
import { replyHeaders } from './reply-headers.js'
import type { Visit } from './request-context.js'

/**
 * Says how an answer breaks the contract, or undefined.
 *
 * Answers that a switch made up may break it, and of requests outside the
 * contract it says nothing; both pass.
 */
export async function breachOfContract(visit: Visit, answer: Answer): Promise<string | undefined> {
  const { world, route, request } = visit
  if (route.kind !== 'operation' || answer.outside || answer.reason !== undefined || answer.status >= 500)
    return undefined
  const headers: Record<string, string> = {}
  const list = replyHeaders(visit, answer)
  for (let i = 0; i < list.length; i += 2) headers[String(list[i]).toLowerCase()] = String(list[i + 1])
  const violations = await world.surroundings.engine.check(mockRequest(visit), {
    status: answer.status,
    headers,
    body: textOf(answer.body),
  })
  if (violations.length === 0) return undefined
  return `The answer ${answer.status} to ${request.method} ${route.operation.path} breaks the contract: ${violations.join('; ')}`
}
