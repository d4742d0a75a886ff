import type { Operation } from '../contract/contract.js'
import type { EngineAnswer } from '../contract/engine.js'
import type { Int64 } from '../contract/int64.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import { findUnsendable, hasNoBody } from '../contract/sendable.js'
import type { ForwardedLimits, HandlerResult, ServiceRequest } from '../domain/messages.js'
import { type Pet, type PetStatus, petText } from '../domain/pets.js'
import { redactAddress } from '../domain/redaction.js'
import { type DurationMs, httpDate, readHttpDate, readRetryAfter, SECOND_MS } from '../domain/time.js'
import {
  FIRST_LOCAL_ID,
  type Forward,
  headerKind,
  headersPassedOn,
  headersSentOn,
  MAX_READ_BODY,
  type UpstreamAnswer,
  type UpstreamOutcome,
} from '../domain/upstream.js'
import { readLimits } from '../drift/headers.js'
import { problem } from './answers.js'
import type { RealServiceRules } from './real-service.js'
import type { RequestContext } from './request-context.js'
import { engineRequest } from './target.js'

/**
 * Decides who responds: reads go to the real service, except for pets added here; writes as `--upstream-writes` says.
 * @source docs/real-service.md, "In front of the real service"
 */
export function overlay(
  context: RequestContext,
  { id, method, isMocked }: Operation,
  { writes }: RealServiceRules,
): HandlerResult | Forward | undefined {
  if (isMocked) return undefined
  if (method !== 'GET' && method !== 'HEAD' && writes !== 'forward')
    return writes === 'local' && id === 'createPet'
      ? undefined
      : problem('forbidden', { message: UNWRITTEN, reason: 'upstream' })
  const { space, readings } = context
  const [petId] = id === 'getPet' && readings !== undefined ? Object.values(readings.path.values) : []
  return petId !== undefined && space.pets.has(petId as Int64) ? undefined : forwardRequest(context)
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
export function forwardedAnswer(
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
  const answer = engineAnswer(outcome)
  const unsendable = findUnsendable(answer)
  if (unsendable !== undefined) {
    space.drift.missed('upstream_invalid', now)
    const message = `The response of the service behind this sandbox cannot be relayed: ${unsendable}.`
    return problem('upstream_invalid', { message, reason: 'upstream' })
  }
  space.drift.answered(outcome.status, now)
  if (outcome.body.length <= MAX_READ_BODY) reserveIds(context, outcome.body)
  context.drift = realService.breachesOf({
    operation: route.operation,
    captured: route.captured,
    request: engineRequest(context.request, space.shared.basePath),
    answer,
  })
  const { headers } = answer
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
  { space, readings }: RequestContext,
  { id }: Operation,
  { status, body, binary }: UpstreamAnswer,
): Pick<HandlerResult, 'body' | 'binary'> {
  const plain = { body, binary }
  if (
    id !== 'listPets' ||
    status !== 200 ||
    space.pets.size === 0 ||
    readings === undefined ||
    body.length > MAX_READ_BODY
  )
    return plain
  const { limit = Number.POSITIVE_INFINITY, status: wanted } = readings.query.values as {
    limit?: Int64
    status?: PetStatus
  }
  const most = Number(limit)
  const own = ownPets(space.pets.newest(space.pets.size), wanted, space.shared.order).slice(0, most)
  const theirs = own.length === 0 ? undefined : listIn(body)
  if (theirs === undefined) return plain
  // A pet kept here replaces theirs with the same id, as in getPet.
  const others = theirs
    .filter((item) => !space.pets.has(idIn(item) as Int64))
    .slice(0, Math.max(0, most - own.length))
    .map((item) => stringifyJson(item))
  return { body: `[${[...own.map(petText), ...others].join(',')}]` }
}

function idIn(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'id' in item ? item.id : undefined
}

/** An id of 16 digits, the length of local ids. */
const LONG_ID = /"id"\s*:\s*(\d{16})(?!\d)/g

/** Pets added here must not get ids of the real service. */
function reserveIds({ space }: RequestContext, body: string): void {
  for (const [, digits] of body.matchAll(LONG_ID)) {
    const id = Number(digits)
    if (id >= FIRST_LOCAL_ID && Number.isSafeInteger(id)) space.reserveIdsTo(id)
  }
}

function ownPets(newestFirst: readonly Pet[], wanted: PetStatus | undefined, order: string): readonly Pet[] {
  const own = wanted === undefined ? newestFirst : newestFirst.filter(({ status }) => status === wanted)
  return order === 'newest' ? own : own.toReversed()
}

function listIn(body: string): readonly unknown[] | undefined {
  try {
    const value = parseShallowJson(body)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function engineAnswer({ status, headers: list, body }: UpstreamAnswer): EngineAnswer {
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

function forwardedLimits(headers: EngineAnswer['headers'], shift: DurationMs): ForwardedLimits {
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
