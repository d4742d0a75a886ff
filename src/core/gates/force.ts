import type { Operation } from '../../contract/contract.js'
import type { HandlerResult } from '../../domain/messages.js'
import { type ForcedCode, readForcedCode } from '../../domain/prefer.js'
import { STORM_RETRY_AFTER_MS } from '../../domain/storm.js'
import { limitBody, problem, retryAfterHeader } from '../answers.js'
import type { Gate, RequestContext } from '../request-context.js'

/** Statuses that may be forced on every operation, documented or not. @source docs/behaviour.md, "Forcing a response" */
const ALWAYS_ALLOWED = [429, 500, 503]

/** Did the client force a response? It gets that one, and no state changes. @source RFC 7240 */
export const force: Gate = (context) => {
  const { request, route, caller } = context
  if (request.headers.prefer === undefined || route.kind !== 'operation' || caller.kind !== 'key') return undefined
  const forced = readForcedCode(String(request.headers.prefer))
  if (forced === undefined) return undefined
  const status = allowedStatus(forced, route.operation)
  if (status === undefined) return badCode(forced, route.operation)
  const answer = forcedAnswer(context, route.operation, status)
  return {
    ...answer,
    reason: 'forced',
    headers: [...(answer.headers ?? []), 'Preference-Applied', `code=${status}`],
  }
}

function allowedStatus({ code }: ForcedCode, operation: Operation): number | undefined {
  return allowedCodes(operation).find((status) => String(status) === code)
}

function allowedCodes(operation: Operation): number[] {
  return [...new Set([...operation.responses.keys(), ...ALWAYS_ALLOWED])].sort((a, b) => a - b)
}

function badCode({ code }: ForcedCode, operation: Operation): HandlerResult {
  const allowed = allowedCodes(operation).join(', ')
  const message = `Prefer: code=${JSON.stringify(code.slice(0, 20))} cannot be forced on ${operation.id}. Choose one of ${allowed}.`
  return problem('invalid_request', { message, reason: 'forced' })
}

function forcedAnswer({ space, now }: RequestContext, operation: Operation, status: number): HandlerResult {
  switch (status) {
    case 400:
      return problem('invalid_request')
    case 401:
      return problem('invalid_api_key')
    case 404:
      return problem('not_found')
    case 429:
      return {
        ...limitBody(space, 'rate_limit_exceeded', 'This refusal was forced with Prefer: code=429.'),
        headers: retryAfterHeader(space, now + STORM_RETRY_AFTER_MS, now),
        retryAt: now + STORM_RETRY_AFTER_MS,
      }
    default:
      return status < 400
        ? { status, body: operation.responses.get(status)?.example ?? '' }
        : problem('simulated_fault', { status, message: `This response was forced with Prefer: code=${status}.` })
  }
}
