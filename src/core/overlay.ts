import type { Operation } from '../contract/contract.js'
import { isNode } from '../contract/document.js'
import type { EngineResponse } from '../contract/engine.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import type { ResourceAction } from '../contract/resource-data.js'
import { findUnsendable, hasNoBody } from '../contract/sendable.js'
import type { Collection } from '../domain/collection.js'
import type { ForwardedLimits, HandlerResult, ServiceRequest } from '../domain/messages.js'
import { redactAddress } from '../domain/redaction.js'
import { type DurationMs, httpDate, readHttpDate, readRetryAfter, SECOND_MS } from '../domain/time.js'
import {
  FIRST_LOCAL_ID,
  type Forward,
  headerKind,
  headersPassedOn,
  headersSentOn,
  MAX_READ_BODY,
  type UpstreamOutcome,
  type UpstreamResponse,
} from '../domain/upstream.js'
import { readLimits } from '../drift/headers.js'
import type { RealServiceRules } from './real-service.js'
import type { RequestContext } from './request-context.js'
import { filtersOf } from './resource-actions.js'
import { problem } from './responses.js'
import { engineRequest } from './target.js'

/**
 * Decides who answers: reads go to the real service, except for records added here; writes as `--upstream-writes` says.
 * @source docs/real-service.md, "In front of the real service"
 */
export function overlay(
  context: RequestContext,
  { action, method, isMocked }: Operation,
  { writes }: RealServiceRules,
): HandlerResult | Forward | undefined {
  if (isMocked) return undefined
  if (method !== 'GET' && method !== 'HEAD' && writes !== 'forward')
    return writes === 'local' && action?.kind === 'create'
      ? undefined
      : problem('forbidden', { message: UNWRITTEN, reason: 'upstream' })
  const [id] = action?.kind === 'get' ? Object.values(context.readings?.path.values ?? {}).reverse() : []
  return id !== undefined && recordsOf(context, action)?.get([], id) !== undefined ? undefined : forwardRequest(context)
}

/** The records that requests add to the resource of an operation; undefined if none can, or if they have parents. */
function recordsOf({ space }: RequestContext, action: ResourceAction | undefined): Collection | undefined {
  const { resources } = space.shared.contract
  const resource = resources.find(({ name }) => name === action?.resource)
  const isOpen = resource?.parents.length === 0 && resource.isFixed === undefined
  return isOpen && action?.pathFilters === undefined ? space.records.get(action?.resource ?? '') : undefined
}

const UNWRITTEN =
  'The service behind this sandbox is not written to. Start it with --upstream-writes forward to have writes sent on.'

function forwardRequest({ position, request, path, query, caller, space }: RequestContext): Forward {
  const { authorization } = request.headers
  const isOwn = caller.kind === 'key' && caller.isStranger
  return {
    kind: 'forward',
    position,
    method: request.method === 'HEAD' ? 'GET' : request.method,
    target: path.slice(space.shared.basePath.length) + (query === '' ? '' : `?${query}`),
    headers: headersSentOn(request.rawHeaders),
    authorization: isOwn ? String(authorization) : undefined,
    body: request.body instanceof Uint8Array ? request.body : undefined,
    via: String(request.headers.via ?? ''),
  }
}

/** Makes the reply of a forwarded request, and records how it drifts from the contract. */
export function forwardedResponse(
  context: RequestContext,
  outcome: UpstreamOutcome,
  realService: RealServiceRules,
): HandlerResult {
  if (outcome.kind === 'left') {
    if (outcome.isOpen) context.space.shared.warn(openWriteWarning(context.request))
    return problem('upstream_unreachable', { reason: 'upstream' })
  }
  if (outcome.kind === 'failure') {
    context.space.drift.missed(outcome.problem, context.now)
    return problem(outcome.problem, { message: outcome.message, reason: 'upstream' })
  }
  const { route, space, now, wall } = context
  if (route.kind !== 'operation') return problem('not_found')
  const response = engineResponse(outcome)
  const unsendable = findUnsendable(response)
  if (unsendable !== undefined) {
    space.drift.missed('upstream_invalid', now)
    const message = `The response of the service behind this sandbox cannot be relayed: ${unsendable}.`
    return problem('upstream_invalid', { message, reason: 'upstream' })
  }
  space.drift.answered(outcome.status, now)
  if (outcome.body.length <= MAX_READ_BODY) reserveIds(context, route.operation, outcome.body)
  context.drift = realService.violationsOf({
    operation: route.operation,
    captured: route.captured,
    request: engineRequest(context.request, space.shared.basePath),
    response,
  })
  const { headers } = response
  const wait = readRetryAfter(headers['retry-after'], headers.date, wall)
  const contentType = headers['content-type']
  // The real service goes by the wall clock; the space's may have been moved.
  const shift = now - wall
  return {
    status: outcome.status,
    ...(hasNoBody(outcome.status) ? { body: '' } : mergeLists(context, route.operation, outcome)),
    headers: movedRetryAfter(headersPassedOn(outcome.headers), shift),
    forwarded: forwardedLimits(headers, shift),
    ...(contentType === undefined ? {} : { contentType }),
    ...(wait === undefined || outcome.status < 400 ? {} : { retryAt: now + wait }),
    reason: 'upstream',
  }
}

function openWriteWarning({ method, target }: ServiceRequest): string {
  return `${method} ${redactAddress(target)}: the client left before the real service had answered. It may have been carried out there all the same.`
}

function mergeLists(
  context: RequestContext,
  { action }: Operation,
  { status, body, binary }: UpstreamResponse,
): Pick<HandlerResult, 'body' | 'binary'> {
  const plain = { body, binary }
  const { readings, space } = context
  const records = recordsOf(context, action)
  if (action?.kind !== 'list' || action.envelope !== undefined || records === undefined || readings === undefined)
    return plain
  if (status !== 200 || records.size === 0 || body.length > MAX_READ_BODY) return plain
  const query = readings.query.values
  const limit = Number(query[action.query?.limit ?? ''] ?? Number.POSITIVE_INFINITY)
  const places = records.places([], filtersOf({ action, path: {}, query }))
  const own = (space.shared.order === 'newest' ? places.toReversed() : places)
    .slice(0, limit)
    .map((place) => records.at(place))
  const theirs = own.length === 0 ? undefined : listIn(body)
  if (theirs === undefined) return plain
  // A record kept here replaces theirs with the same id, as in a get.
  const others = theirs
    .filter((item) => records.get([], isNode(item) ? item[records.idProperty] : undefined) === undefined)
    .slice(0, Math.max(0, limit - own.length))
  return { body: stringifyJson([...own, ...others]) }
}

/** An id of 16 digits, the length of local ids. */
const LONG_ID = /"id"\s*:\s*(\d{16})(?!\d)/g

/** Records added here must not get ids of the real service. */
function reserveIds(context: RequestContext, { action }: Operation, body: string): void {
  for (const [, digits] of body.matchAll(LONG_ID)) {
    const id = Number(digits)
    if (id >= FIRST_LOCAL_ID && Number.isSafeInteger(id)) recordsOf(context, action)?.reserveIdsTo(id)
  }
}

function listIn(body: string): readonly unknown[] | undefined {
  try {
    const value = parseShallowJson(body)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function engineResponse({ status, headers: list, body }: UpstreamResponse): EngineResponse {
  // Names may be `__proto__`.
  const headers: Record<string, string> = Object.create(null)
  for (let i = 0; i < list.length; i += 2) {
    const { key } = headerKind(list[i] ?? '')
    const value = list[i + 1] ?? ''
    const before = headers[key]
    headers[key] = before === undefined ? value : `${before}, ${value}`
  }
  return { status, headers, body }
}

function forwardedLimits(headers: EngineResponse['headers'], shift: DurationMs): ForwardedLimits {
  const { limit, remaining, reset } = readLimits(headers)
  return {
    limit: headers['x-ratelimit-limit'],
    remaining: headers['x-ratelimit-remaining'],
    reset: reset === undefined ? headers['x-ratelimit-reset'] : String(reset + Math.round(shift / SECOND_MS)),
    ...(limit === undefined || remaining === undefined || reset === undefined
      ? {}
      : { shown: { limit, remaining, resetAt: reset * SECOND_MS + shift } }),
  }
}

function movedRetryAfter(headers: readonly string[], shift: DurationMs): readonly string[] {
  if (shift === 0) return headers
  return headers.map((item, place) => {
    if (place % 2 === 0 || !/^retry-after$/i.test(headers[place - 1] ?? '')) return item
    const date = readHttpDate(item)
    return date === undefined ? item : httpDate(date + shift)
  })
}
