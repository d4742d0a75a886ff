import { findUnsendable, hasNoBody } from '../contract/sendable.js'
import type { ForwardedLimits, HandlerResult, ServiceRequest } from '../domain/messages.js'
import { redactAddress } from '../domain/redaction.js'
import { headerInList } from '../domain/request-headers.js'
import { spacePath } from '../domain/space-address.js'
import { type DurationMs, httpDate, readHttpDate, readRetryAfter, SECOND_MS } from '../domain/time.js'
import { headersPassedOn, headersSentOn, type UpstreamOutcome, type UpstreamRequest } from '../domain/upstream.js'
import { readLimits } from '../drift/headers.js'
import type { RequestContext } from './request-context.js'
import { problem } from './responses.js'

/** The request to the real service. @source docs/real-service.md, "Forwarding" */
export function forwardRequest({ request, path, query, caller, space }: RequestContext): UpstreamRequest {
  const { authorization } = request.headers
  const isStranger = caller.kind === 'key' && caller.isStranger
  // Of a public operation, such as a login of OAuth, for which no key counts.
  const basic = caller.kind === 'address' ? headerInList(request.rawHeaders, 'authorization') : undefined
  const isBasic = basic !== undefined && /^basic /i.test(basic)
  return {
    method: request.method === 'HEAD' ? 'GET' : request.method,
    target: path.slice(space.shared.basePath.length) + (query === '' ? '' : `?${query}`),
    headers: [
      ...headersSentOn(request.rawHeaders, space.shared.contract.keyHeaders),
      ...(isBasic ? ['authorization', basic] : []),
    ],
    isKnown: caller.kind === 'key' && !isStranger,
    authorization: isStranger ? String(authorization) : undefined,
    keyPlace: request.keyPlace,
    credentials: request.keyPlace && headerInList(request.rawHeaders, 'authorization'),
    body: request.body instanceof Uint8Array ? request.body : undefined,
    via: String(request.headers.via ?? ''),
  }
}

export function forwardedResponse(context: RequestContext, outcome: UpstreamOutcome): HandlerResult {
  const { space, request, now, wall } = context
  if (outcome.kind === 'left') {
    if (outcome.isOpen) space.shared.warn(openWriteWarning(request))
    return problem('upstream_unreachable', { reason: 'upstream' })
  }
  if (outcome.kind === 'failure') return problem(outcome.problem, { message: outcome.message, reason: 'upstream' })
  const { status, body, binary } = outcome
  const headers = joinedHeaders(outcome.headers)
  const unsendable = findUnsendable({ status, headers })
  if (unsendable !== undefined) {
    const message = `The response of the service behind this sandbox cannot be relayed: ${unsendable}.`
    return problem('upstream_invalid', { message, reason: 'upstream' })
  }
  const wait = readRetryAfter(headers['retry-after'], headers.date, wall)
  const contentType = headers['content-type']
  // The real service uses the wall clock; the clock of the space may have been moved.
  const shift = now - wall
  return {
    status,
    ...(hasNoBody(status) ? { body: '' } : { body, binary }),
    headers: movedLocation(movedRetryAfter(headersPassedOn(outcome.headers), shift), context),
    forwarded: forwardedLimits(headers, shift),
    ...(contentType === undefined && body === '' ? {} : { contentType: contentType ?? 'text/plain' }),
    ...(wait === undefined || status < 400 ? {} : { retryAt: now + wait }),
    reason: 'upstream',
  }
}

function openWriteWarning({ method, target }: ServiceRequest): string {
  return `${method} ${redactAddress(target)}: the client disconnected before the real service responded. The service may have carried out the request.`
}

/** Lower-case names; repeated ones are joined. */
function joinedHeaders(list: readonly string[]): Readonly<Record<string, string>> {
  // Names may be `__proto__`.
  const headers: Record<string, string> = Object.create(null)
  for (let i = 0; i < list.length; i += 2) {
    const key = (list[i] ?? '').toLowerCase()
    const value = list[i + 1] ?? ''
    const before = headers[key]
    headers[key] = before === undefined ? value : `${before}, ${value}`
  }
  return headers
}

function forwardedLimits(headers: Readonly<Record<string, string>>, shift: DurationMs): ForwardedLimits {
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

/** A Location below the real service's base address, in the space that the request's address named. */
function movedLocation(headers: readonly string[], { request, space: { shared } }: RequestContext): readonly string[] {
  const { space } = request
  const base = shared.upstream?.baseUrl.replace(/\/+$/, '')
  if (space === undefined || base === undefined) return headers
  return headers.map((item, place) => {
    if (place % 2 === 0 || !/^location$/i.test(headers[place - 1] ?? '') || !URL.canParse(item, base)) return item
    const { href } = new URL(item, base)
    return href.startsWith(`${base}/`) ? spacePath(space) + shared.basePath + href.slice(base.length) : item
  })
}

function movedRetryAfter(headers: readonly string[], shift: DurationMs): readonly string[] {
  if (shift === 0) return headers
  return headers.map((item, place) => {
    if (place % 2 === 0 || !/^retry-after$/i.test(headers[place - 1] ?? '')) return item
    const date = readHttpDate(item)
    return date === undefined ? item : httpDate(date + shift)
  })
}
