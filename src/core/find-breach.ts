import type { ContractEngine } from '../contract/engine.js'
import { textOf } from '../domain/long-body.js'
import type { Reply, ServiceRequest } from '../domain/messages.js'
import { engineRequest } from './engine-request.js'

/** Finds how a reply breaks the contract, if it does. */
export async function findBreach(
  engine: ContractEngine,
  request: ServiceRequest,
  basePath: string,
  reply: Reply,
): Promise<string | undefined> {
  const headers: Record<string, string> = {}
  for (let i = 0; i < reply.headers.length; i += 2)
    headers[String(reply.headers[i]).toLowerCase()] = String(reply.headers[i + 1])
  const asked = engineRequest(request, basePath)
  const violations = await engine.check(asked, { status: reply.status, headers, body: textOf(reply.body) })
  if (violations.length === 0) return undefined
  return `The answer ${reply.status} to ${request.method} ${asked.path} breaks the contract: ${violations.join('; ')}`
}
