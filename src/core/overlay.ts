import type { Operation } from '../contract/contract.js'
import type { EngineResponse } from '../contract/engine.js'
import type { ResourceAction } from '../contract/resource-data.js'
import { findUnsendable, hasNoBody } from '../contract/sendable.js'
import type { ForwardedLimits, HandlerResult, ServiceRequest } from '../domain/messages.js'
import { StoreFull } from '../domain/problems.js'
import { InvalidRecord } from '../domain/records.js'
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
import {
  addressOfOne,
  copyOriginal,
  isDecidedHere,
  mergedList,
  namedBy,
  overlayRecords,
  parentRecords,
} from './overlay-records.js'
import type { RealServiceRules } from './real-service.js'
import type { RequestContext } from './request-context.js'
import { problem } from './responses.js'
import { engineRequest } from './target.js'

/**
 * Decides who responds: reads go to the real service, except for records kept here; writes as `--upstream-writes` says. A
 * write to a record of the service begins with a read of it. @source docs/real-service.md, "In front of the real service"
 */
export function overlay(
  context: RequestContext,
  { action, method, isMocked }: Operation,
  { writes }: RealServiceRules,
): HandlerResult | Forward | undefined {
  if (isMocked) return undefined
  const isRead = method === 'GET' || method === 'HEAD'
  const lookup = action === undefined ? 'unknown' : lookupFor(context, action)
  if (lookup === undefined) return isRead || writes === 'local' ? undefined : forwardOrRefuse(context, writes)
  if (isRead || writes !== 'local') return isRead ? forwardRequest(context) : forwardOrRefuse(context, writes)
  if (lookup === 'unknown') return problem('forbidden', { message: UNWRITTEN, reason: 'upstream' })
  return { ...forwardRequest(context), method: 'GET', target: lookup, body: undefined }
}

function forwardOrRefuse(context: RequestContext, writes: RealServiceRules['writes']): HandlerResult | Forward {
  if (writes === 'forward') return forwardRequest(context)
  return problem('forbidden', { message: UNWRITTEN, reason: 'upstream' })
}

/**
 * Address of the record of the real service that must be read before the request; undefined if the sandbox has all
 * records it needs.
 */
function lookupFor(context: RequestContext, action: ResourceAction): string | undefined {
  const records = overlayRecords(context, action.resource)
  if (records === undefined) return 'unknown'
  const parents = parentRecords(context, action)
  if (parents.some(({ isRemoved }) => isRemoved)) return undefined
  if (action.kind === 'list') return 'unknown'
  const named = namedBy(context, action, records.resource)
  if (named.id !== undefined)
    return isDecidedHere(records, named) ? undefined : (addressOfOne(context, action.resource, named) ?? 'unknown')
  const parent = parents.findLast(({ isHere }) => !isHere)
  return parent && addressOfOne(context, parent.resource, parent)
}

const UNWRITTEN =
  'Writes to the service behind this sandbox are not allowed. To forward them, start the sandbox with --upstream-writes forward.'

function forwardRequest({ position, request, path, query, caller, space }: RequestContext): Forward {
  const { authorization } = request.headers
  const isOwn = caller.kind === 'key' && caller.isStranger
  return {
    kind: 'forward',
    position,
    method: request.method === 'HEAD' ? 'GET' : request.method,
    target: path.slice(space.shared.basePath.length) + (query === '' ? '' : `?${query}`),
    headers: headersSentOn(request.rawHeaders, space.shared.contract.keyHeaders),
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
  const { action, method } = route.operation
  const isLookup = method !== 'GET' && method !== 'HEAD' && realService.writes === 'local'
  if (action !== undefined && (isLookup || outcome.status === 404)) {
    const result = isLookup ? writeHere(context, action, outcome) : listHere(context, action)
    if (result !== undefined) return result
  }
  if (outcome.body.length <= MAX_READ_BODY) reserveIds(context, route.operation, outcome.body)
  if (!isLookup)
    context.drift = realService.violationsOf({
      operation: route.operation,
      captured: route.captured,
      request: engineRequest(context.request, space.shared.basePath),
      response,
    })
  const { headers } = response
  const wait = readRetryAfter(headers['retry-after'], headers.date, wall)
  const contentType = headers['content-type']
  // The real service uses the wall clock; the clock of the space may have been moved.
  const shift = now - wall
  return {
    status: outcome.status,
    ...(hasNoBody(outcome.status) ? { body: '' } : bodyOf(context, route.operation, outcome)),
    headers: movedRetryAfter(headersPassedOn(outcome.headers), shift),
    forwarded: forwardedLimits(headers, shift),
    ...(contentType === undefined ? {} : { contentType }),
    ...(wait === undefined || outcome.status < 400 ? {} : { retryAt: now + wait }),
    reason: 'upstream',
  }
}

function bodyOf(
  context: RequestContext,
  { action }: Operation,
  { status, body, binary }: UpstreamResponse,
): Pick<HandlerResult, 'body' | 'binary'> {
  const isMerged = action?.kind === 'list' && status === 200 && body.length <= MAX_READ_BODY
  const merged = isMerged ? mergedList(context, action, body) : undefined
  return merged === undefined ? { body, binary } : { body: merged }
}

function openWriteWarning({ method, target }: ServiceRequest): string {
  return `${method} ${redactAddress(target)}: the client disconnected before the real service responded. The service may have carried out the request.`
}

/** Carries out a write on a record, or below a parent, that the real service has. */
function writeHere(
  context: RequestContext,
  action: ResourceAction,
  { status, body }: UpstreamResponse,
): HandlerResult | undefined {
  const { handler, readings } = context
  const records = overlayRecords(context, action.resource)
  if (status < 200 || status > 299 || handler === undefined || readings === undefined || records === undefined)
    return undefined
  const named = namedBy(context, action, records.resource)
  try {
    if (named.id !== undefined && !isDecidedHere(records, named) && !copyOriginal(context, records, named, body))
      return problem('upstream_invalid', {
        message: 'The service behind this sandbox did not send the requested record.',
      })
  } catch (error) {
    if (error instanceof StoreFull) return problem('store_full')
    if (error instanceof InvalidRecord) return problem('upstream_invalid', { message: error.message })
    throw error
  }
  return handler(context, readings)
}

/** The list below a parent that only the sandbox has. */
function listHere(context: RequestContext, action: ResourceAction): HandlerResult | undefined {
  const { handler, readings } = context
  if (action.kind !== 'list' || handler === undefined || readings === undefined) return undefined
  return parentRecords(context, action).some(({ isHere }) => isHere) ? handler(context, readings) : undefined
}

const LONG_ID = /:\s*(\d{16})(?!\d)/g

/** Records added here must not get ids of the real service. */
function reserveIds(context: RequestContext, { action }: Operation, body: string): void {
  for (const [, digits] of body.matchAll(LONG_ID)) {
    const id = Number(digits)
    if (id >= FIRST_LOCAL_ID && Number.isSafeInteger(id))
      overlayRecords(context, action?.resource)?.own.reserveIdsTo(id)
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
