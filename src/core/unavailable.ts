import type { Caller } from '../domain/keys.js'
import { readAuthorization } from '../domain/keys.js'
import { bareReply, type Reply, type ServiceRequest } from '../domain/messages.js'
import type { EpochMs } from '../domain/time.js'
import { replyHeaders, type ShownContext } from './reply-headers.js'
import { problem } from './responses.js'
import type { Spaces } from './spaces.js'
import { findRoute, splitTarget } from './target.js'

/** The reply to a request that could not be applied because the log of the replicas is unavailable. Changes nothing. */
export function unavailableReply(spaces: Spaces, request: ServiceRequest, wall: EpochMs): Reply {
  const { authorization } = request.headers
  const sent = readAuthorization(typeof authorization === 'string' ? authorization : undefined)
  const space = spaces.get(sent?.space ?? '') ?? spaces.default
  const { contract, basePath } = space.shared
  const apiKey = space.keys.get(sent?.token ?? '')
  const caller: Caller = {
    kind: 'address',
    label: 'none',
    isOpen: false,
    problem: 'missing_api_key',
    account: space.accounts.view(apiKey?.key ?? ''),
    limits: apiKey === undefined ? space.planLimits('free') : space.currentLimits(apiKey),
  }
  const route = findRoute(contract, basePath, request, splitTarget(request.target).path)
  const context: ShownContext = {
    space,
    route,
    caller,
    now: space.now(wall),
    request,
    shown: undefined,
  }
  const response = problem('log_unavailable', { headers: ['Retry-After', '1'], reason: 'unavailable' })
  return bareReply(response.status, replyHeaders(context, response), response.body)
}
