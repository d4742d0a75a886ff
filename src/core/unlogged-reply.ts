import type { Caller } from '../domain/keys.js'
import { readAuthorization } from '../domain/keys.js'
import { bareReply, type HandlerResult, type Reply, type ServiceRequest } from '../domain/messages.js'
import type { EpochMs } from '../domain/time.js'
import { replyHeaders } from './reply-headers.js'
import type { Spaces } from './spaces.js'
import { findRoute, splitTarget } from './target.js'

/** The reply to a request that reaches no space: it is not charged, judged or logged. */
export function unloggedReply(spaces: Spaces, request: ServiceRequest, wall: EpochMs, response: HandlerResult): Reply {
  const { authorization } = request.headers
  const sent = readAuthorization(typeof authorization === 'string' ? authorization : undefined)
  const space = spaces.get(request.space ?? sent?.space ?? '') ?? spaces.default
  const { contract, basePath } = space.shared
  const apiKey = space.keys.get(sent?.token ?? '')
  const caller: Caller = {
    kind: 'address',
    label: 'none',
    isPublic: false,
    problem: 'missing_api_key',
    account: { kind: 'key', name: apiKey?.key ?? '' },
    limits: space.currentLimits(apiKey),
  }
  const route = findRoute(contract, basePath, request, splitTarget(request.target).path)
  const headers = replyHeaders({ space, route, caller, now: space.now(wall), request, shown: undefined }, response)
  return bareReply(response.status, headers, response.body)
}
