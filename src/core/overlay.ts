import type { Operation } from '../contract/contract.js'
import type { EngineAnswer } from '../contract/engine.js'
import type { Int64 } from '../contract/int64.js'
import { parseShallowJson, stringifyJson } from '../contract/json.js'
import { findUnsendable, hasNoBody } from '../contract/sendable.js'
import { headerKind, headersPassedOn, headersSentOn } from '../domain/forwarded-headers.js'
import type { ForwardedLimits, HandlerResult, ServiceRequest } from '../domain/messages.js'
import { petText } from '../domain/pet-text.js'
import type { Pet, PetStatus } from '../domain/pets.js'
import { redactAddress } from '../domain/redaction.js'
import { readHttpDate, readRetryAfter } from '../domain/retry-after.js'
import { type DurationMs, httpDate, SECOND_MS } from '../domain/time.js'
import type { Forward, UpstreamAnswer, UpstreamOutcome } from '../domain/upstream.js'
import { readLimits } from '../drift/rate-limits.js'
import { problem } from './answers.js'
import { engineRequest } from './plain-request.js'
import type { RealServiceRules } from './real-service.js'
import type { RequestContext } from './request-context.js'

/** What is done with a request that the gates let through, where there is a real service behind the sandbox. */
export type Overlaid =
  /** The sandbox carries it out. */
  { readonly kind: 'local' } | { readonly kind: 'refused'; readonly answer: HandlerResult } | Forward

/**
 * Decides where a request is answered: reads by the real service, but for animals that were added here;
 * writes as `--upstream-writes` says.
 *
 * @source docs/real-service.md, "In front of the real service"
 */
export function overlaid(context: RequestContext, operation: Operation, realService: RealServiceRules): Overlaid {
  if (operation.isMocked) return { kind: 'local' }
  if (operation.method !== 'GET' && operation.method !== 'HEAD' && realService.writes !== 'forward') {
    const isKept = realService.writes === 'local' && operation.id === 'createPet'
    return isKept
      ? { kind: 'local' }
      : { kind: 'refused', answer: problem('forbidden', { message: UNWRITTEN, reason: 'upstream' }) }
  }
  return isLocalItem(context, operation) ? { kind: 'local' } : forwardOf(context)
}

const UNWRITTEN =
  'The service behind this sandbox is not written to. Start it with --upstream-writes forward to have writes sent on.'

function isLocalItem({ space, readings }: RequestContext, { id }: Operation): boolean {
  if (id !== 'getPet' || readings === undefined) return false
  const [petId] = Object.values(readings.path.values)
  return space.pets.has(petId as Int64)
}

function forwardOf({ position, request, path, query, caller, space }: RequestContext): Forward {
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

/** Makes the answer of a request that was sent on, and notes how it drifts from the contract. */
export function forwardedAnswer(
  context: RequestContext,
  outcome: UpstreamOutcome,
  realService: RealServiceRules,
): HandlerResult {
  if (outcome.kind === 'left') {
    if (outcome.isOpen) context.space.shared.warn(openWrite(context.request))
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
    const message = `The answer of the service behind this sandbox cannot be passed on: ${unsendable}.`
    return problem('upstream_invalid', { message, reason: 'upstream' })
  }
  space.drift.answered(outcome.status, now)
  context.drift = realService.breachesOf({
    operation: route.operation,
    captured: route.captured,
    request: engineRequest(context.request, space.shared.basePath),
    answer,
  })
  const { headers } = answer
  const wait = readRetryAfter(headers['retry-after'], headers.date, wall)
  const contentType = headers['content-type']
  // Its clock is that of the wall; the space's may have been moved.
  const shift = now - wall
  return {
    status: outcome.status,
    ...(hasNoBody(outcome.status) ? { body: '' } : bodyOf(context, route.operation, outcome)),
    headers: movedRetryAfter(headersPassedOn(outcome.headers), shift),
    forwarded: limitsOf(headers, shift),
    ...(contentType === undefined ? {} : { contentType }),
    ...(wait === undefined || outcome.status < 400 ? {} : { retryAt: now + wait }),
    reason: 'upstream',
  }
}

/** Its client is not there to be told. */
function openWrite({ method, target }: ServiceRequest): string {
  return `${method} ${redactAddress(target)}: the client left before the real service had answered. It may have been carried out there all the same.`
}

/** Lists show what was added here first. */
function bodyOf(
  { space, readings }: RequestContext,
  { id }: Operation,
  { status, body, binary }: UpstreamAnswer,
): Pick<HandlerResult, 'body' | 'binary'> {
  const plain = { body, binary }
  if (id !== 'listPets' || status !== 200 || space.pets.size === 0 || readings === undefined) return plain
  const { limit = Number.POSITIVE_INFINITY, status: wanted } = readings.query.values as {
    limit?: Int64
    status?: PetStatus
  }
  const most = Number(limit)
  const own = ownPets(space.pets.newest(space.pets.size), wanted, space.shared.order).slice(0, most)
  const theirs = own.length === 0 ? undefined : listIn(body)
  if (theirs === undefined) return plain
  const others = theirs.slice(0, Math.max(0, most - own.length)).map((item) => stringifyJson(item))
  return { body: `[${[...own.map(petText), ...others].join(',')}]` }
}

function ownPets(newestFirst: readonly Pet[], wanted: PetStatus | undefined, order: string): readonly Pet[] {
  const own = wanted === undefined ? newestFirst : newestFirst.filter(({ status }) => status === wanted)
  return order === 'newest' ? own : own.toReversed()
}

/** @returns undefined for what is no list: it is passed on as it is */
function listIn(body: string): readonly unknown[] | undefined {
  try {
    const value = parseShallowJson(body)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function engineAnswer({ status, headers: list, body }: UpstreamAnswer): EngineAnswer {
  // Each name is its own field, whatever it is.
  const headers: Record<string, string> = Object.create(null)
  for (let i = 0; i < list.length; i += 2) {
    const { key } = headerKind(list[i] ?? '')
    const value = list[i + 1] ?? ''
    const before = headers[key]
    headers[key] = before === undefined ? value : `${before}, ${value}`
  }
  return { status, headers, body }
}

function limitsOf(headers: EngineAnswer['headers'], shift: DurationMs): ForwardedLimits {
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

/** A date to come back at, by the clock that Date is of. */
function movedRetryAfter(headers: readonly string[], shift: DurationMs): readonly string[] {
  if (shift === 0) return headers
  return headers.map((item, place) => {
    if (place % 2 === 0 || !/^retry-after$/i.test(headers[place - 1] ?? '')) return item
    const date = readHttpDate(item)
    return date === undefined ? item : httpDate(date + shift)
  })
}
