import type { Contract, Operation } from '../../contract/contract.js'
import type { MockRequest } from '../../contract/engine.js'
import { type HandlerResult, isPublic } from '../../domain/messages.js'
import { STORM_RETRY_AFTER_MS } from '../../domain/storm.js'
import { mockedResponse } from '../operations/mocked-response.js'
import type { Gate, RequestContext } from '../request-context.js'
import { challengeFor, limitBody, problem, retryAfterHeader } from '../responses.js'

/** @source docs/behaviour.md, "Forcing a response" */
const ALWAYS_ALLOWED = [429, 500, 503]

/** Did the client force a response? No state changes. @source RFC 7240 */
export const applyPreference: Gate = (context) => {
  const { request, route, caller, space } = context
  if (request.headers.prefer === undefined || route.kind !== 'operation') return undefined
  if (caller.kind !== 'key' && !isPublic(route)) return undefined
  const forced = readPreferences(String(request.headers.prefer)).get('code')
  const { example } = context.mock ?? {}
  if (forced === undefined)
    return example === undefined ? undefined : asForced(mockedResponse(context, route.operation), `example=${example}`)
  const status = allowedStatus(forced, route.operation)
  if (status === undefined) return badCode(forced, route.operation)
  const response = isDocumentedElsewhere(space.shared.contract, route.operation, status)
    ? mockedResponse(context, route.operation)
    : forcedResponse(context, route.operation, status)
  return asForced(response, `code=${status}${example === undefined ? '' : `, example=${example}`}`)
}

/** The forced status, and the example, if Prism has to make the response. */
export function forcedMock(
  contract: Contract,
  operation: Operation,
  prefer: string | undefined,
): Pick<MockRequest, 'status' | 'example'> | undefined {
  if (prefer === undefined) return undefined
  const preferences = readPreferences(prefer)
  const [forced, example] = [preferences.get('code'), preferences.get('example')]
  if (forced === undefined) return example === undefined ? undefined : { example }
  const status = allowedStatus(forced, operation)
  return status !== undefined && isDocumentedElsewhere(contract, operation, status) ? { status, example } : undefined
}

function asForced(response: HandlerResult, preference: string): HandlerResult {
  return {
    ...response,
    reason: 'forced',
    headers: [...(response.headers ?? []), 'Preference-Applied', preference],
  }
}

/** Responses whose form settings decide. */
const OURS = [401, 429]

/** Whether a contract given with --spec describes the response. */
function isDocumentedElsewhere(contract: Contract, operation: Operation, status: number): boolean {
  const isDocumented = operation.responses.has(status) || isInRange(operation, status)
  return contract.isPackaged !== true && isDocumented && !OURS.includes(status)
}

function isInRange({ ranges }: Operation, status: number): boolean {
  return ranges?.includes(Math.floor(status / 100)) === true
}

function allowedStatus(code: string, operation: Operation): number | undefined {
  const status = /^\d{3}$/.test(code) ? Number(code) : 0
  return isInRange(operation, status) ? status : allowedCodes(operation).find((allowed) => String(allowed) === code)
}

function allowedCodes(operation: Operation): number[] {
  return [...new Set([...operation.responses.keys(), ...ALWAYS_ALLOWED])].sort((a, b) => a - b)
}

function badCode(code: string, operation: Operation): HandlerResult {
  const ranges = (operation.ranges ?? []).map((digit) => `${digit}XX`)
  const allowed = [...allowedCodes(operation), ...ranges].join(', ')
  const message = `Prefer: code=${JSON.stringify(code.slice(0, 20))} cannot be forced on ${operation.id}. Choose one of ${allowed}.`
  return problem('invalid_request', { message, reason: 'forced' })
}

function forcedResponse(context: RequestContext, operation: Operation, status: number): HandlerResult {
  const { space, now } = context
  switch (status) {
    case 400:
      return problem('invalid_request')
    case 401:
      return problem('invalid_api_key', { challenge: challengeFor(context) })
    case 404:
      return problem('not_found')
    case 429:
      return {
        ...limitBody(space, 'rate_limit_exceeded', 'This refusal was forced with Prefer: code=429.', 'forced'),
        headers: retryAfterHeader(space, now + STORM_RETRY_AFTER_MS, now),
        retryAt: now + STORM_RETRY_AFTER_MS,
      }
    default:
      return status < 400
        ? { status, body: operation.responses.get(status)?.example ?? '' }
        : problem('simulated_fault', { status, message: `This response was forced with Prefer: code=${status}.` })
  }
}

/** Commas separate preferences, except inside quotes. */
const PREFERENCES = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g
const PREFERENCE = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/

/** `code` and `429` of `code=429`; the first of each name counts. @source RFC 7240, section 2 */
export function readPreferences(prefer: string): ReadonlyMap<string, string> {
  const preferences = new Map<string, string>()
  for (const [preference] of prefer.matchAll(PREFERENCES)) {
    const [, name = '', quoted, plain = ''] = PREFERENCE.exec(preference) ?? []
    if (!preferences.has(name.toLowerCase())) preferences.set(name.toLowerCase(), quoted ?? plain)
  }
  return preferences
}
