import type { Operation } from '../contract/contract.js'
import type { ForwardedLimits, HandlerResult } from '../domain/messages.js'
import { isUnlimited, NO_LIMITS, type WindowView } from '../domain/quota.js'
import { spacePath } from '../domain/space-address.js'
import { ceilSeconds, type EpochMs, httpDate, SECOND_MS } from '../domain/time.js'
import { isAllowedOrigin } from '../domain/web-origins.js'
import { utf8Length } from '../system/runtime.js'
import { pushDocumentedLimits } from './documented-limits.js'
import { shownUncharged } from './gates/charge-quota.js'
import type { RequestContext } from './request-context.js'
import type { Space } from './space.js'

/** @source docs/behaviour.md, "CORS" */
const EXPOSED = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Date',
  'Deprecation',
  'Sunset',
  'Link',
  'Allow',
  'WWW-Authenticate',
  'Preference-Applied',
  'X-Sandbox-Reason',
].join(', ')
const EXPOSED_WITH_DRAFT = `${EXPOSED}, RateLimit, RateLimit-Policy`

/** Media types that browsers show without running a script in them. Two types joined by a comma are not one of these. */
const SCRIPTLESS =
  /^(?:application\/(?:(?:[\w.+-]+\+)?json|octet-stream|pdf)|text\/(?:json|plain|csv)|(?:image|audio|video|font)\/[\w.-]+)\s*(?:;[^,]*)?$/i

type ShownContext = Pick<RequestContext, 'space' | 'route' | 'caller' | 'now' | 'request' | 'shown'>

/** @source docs/specification.md, "Rate limits" */
export function replyHeaders(context: ShownContext, response: HandlerResult): string[] {
  const { space, route, caller, now } = context
  const { basePath, reason } = space.shared
  const shown = context.shown ?? shownUncharged(space, caller, now)
  context.shown = shown
  const isLimited = !isUnlimited(caller.limits)
  const { forwarded } = response
  const ownLimits = isLimited && forwarded === undefined ? limitHeaders(shown) : []
  const headers = forwarded === undefined ? ownLimits : forwardedLimitHeaders(context, shown, forwarded)
  const isDraft = space.state.settings.rateLimitHeaders === 'draft' && isLimited
  if (isDraft && response.forwarded === undefined) pushDraftLimits(headers, context, shown, response.retryAt)
  headers.push('Date', dateHeader(now))
  // The length of a long body is unknown; a 204 has none, and a 304 that of the 200 (RFC 9110, section 8.6).
  if (typeof response.body === 'string' && response.status !== 204 && response.status !== 304)
    headers.push('Content-Length', String(response.binary?.length ?? utf8Length(response.body)))
  // Any website can open a response in the origin of the control plane, so no script in it may run.
  headers.push('X-Content-Type-Options', 'nosniff')
  const { contentType = response.body === '' ? undefined : 'application/json' } = response
  if (contentType !== undefined) {
    headers.push('Content-Type', contentType || 'text/plain')
    if (contentType !== 'application/json' && !SCRIPTLESS.test(contentType || 'text/plain'))
      headers.push('Content-Security-Policy', 'sandbox allow-forms allow-popups')
  }
  const documented = route.kind === 'operation' ? route.operation.limitHeaders : undefined
  if (documented === undefined || response.forwarded !== undefined) {
    if (response.headers !== undefined) for (const item of response.headers) headers.push(item)
  } else pushDocumentedLimits(headers, context, shown, response, documented)
  if (reason && response.reason !== undefined && response.forwarded === undefined)
    headers.push('X-Sandbox-Reason', response.reason)
  const origin = context.request.headers.origin
  const own = route.kind === 'operation' ? route.operation.exposed : undefined
  const common = isDraft ? EXPOSED_WITH_DRAFT : EXPOSED
  const exposed = own === undefined ? common : `${common}, ${own}`
  pushCorsHeaders(headers, space, typeof origin === 'string' ? origin : undefined, exposed)
  // The real service sends these itself.
  if (route.kind === 'operation' && route.operation.deprecated && response.forwarded === undefined) {
    // Not concat, which is slow here.
    for (const item of deprecation(route.operation, spacePath(context.request.space) + basePath)) headers.push(item)
  }
  return headers
}

function limitHeaders({ limit, remaining, resetAt }: Omit<WindowView, 'window'>): string[] {
  return [
    'X-RateLimit-Limit',
    String(limit),
    'X-RateLimit-Remaining',
    String(remaining),
    'X-RateLimit-Reset',
    String(ceilSeconds(resetAt)),
  ]
}

/** The largest integer of a structured field. @source RFC 9651, section 3.3.1 */
const MAX_FIELD_INTEGER = 999_999_999_999_999

/** @source docs/behaviour.md, "Rate limits by the standards" */
function pushDraftLimits(
  headers: string[],
  { caller, now }: ShownContext,
  { window, remaining, resetAt }: WindowView,
  retryAt: EpochMs | undefined,
): void {
  const { perMinute, perDay } = caller.limits
  const policies = [
    perMinute === NO_LIMITS.perMinute ? [] : `"minute";q=${fieldInteger(perMinute)};w=60`,
    perDay === NO_LIMITS.perDay ? [] : `"day";q=${fieldInteger(perDay)};w=86400`,
  ]
  headers.push('RateLimit-Policy', policies.flat().join(', '))
  // Retry-After must not be earlier than the reset here (section 6), as it is in a storm.
  if (retryAt !== undefined && retryAt < resetAt) return
  headers.push('RateLimit', `"${window}";r=${fieldInteger(remaining)};t=${ceilSeconds(resetAt - now)}`)
}

function fieldInteger(value: number): number {
  return Math.min(value, MAX_FIELD_INTEGER)
}

/** The limits of the real service, or the sandbox's own if fewer requests remain there. */
function forwardedLimitHeaders(context: ShownContext, shown: WindowView, theirs: ForwardedLimits): string[] {
  const isAsked = context.space.state.settings.rateLimit
  if (isAsked && shown.remaining < (theirs.shown?.remaining ?? Number.POSITIVE_INFINITY)) return limitHeaders(shown)
  if (theirs.shown !== undefined) context.shown = { ...shown, ...theirs.shown }
  return [
    ...(theirs.limit === undefined ? [] : ['X-RateLimit-Limit', theirs.limit]),
    ...(theirs.remaining === undefined ? [] : ['X-RateLimit-Remaining', theirs.remaining]),
    ...(theirs.reset === undefined ? [] : ['X-RateLimit-Reset', theirs.reset]),
  ]
}

/** Cached for the last base path: otherwise getPet, which is deprecated, takes 12 % more processor time. */
const deprecations = new WeakMap<Operation, { readonly basePath: string; readonly headers: readonly string[] }>()

function deprecation(operation: Operation, basePath: string): readonly string[] {
  const known = deprecations.get(operation)
  if (known?.basePath === basePath) return known.headers
  const { deprecatedSince, sunsetAt, successor } = operation
  const headers = deprecationHeaders(deprecatedSince, sunsetAt, successor && basePath + successor)
  deprecations.set(operation, { basePath, headers })
  return headers
}

function pushCorsHeaders(headers: string[], space: Space, origin: string | undefined, exposed: string): void {
  const { cors } = space.shared
  if (cors === '*') headers.push('Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', exposed)
  else if (cors.length > 0) {
    headers.push('Vary', 'Origin')
    if (origin === undefined || !isAllowedOrigin(cors, origin)) return
    headers.push('Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Credentials', 'true')
    headers.push('Access-Control-Expose-Headers', exposed)
  }
}

let dateSecond = -1
let dateText = ''

/** Formatted once per second: otherwise listPets takes 8 % more processor time. @source RFC 9110, section 6.6.1 */
function dateHeader(now: EpochMs): string {
  const second = Math.floor(now / SECOND_MS)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = httpDate(second * SECOND_MS)
  }
  return dateText
}

/** The headers of a deprecated operation, as a flat list; undefined parts are omitted. @source RFC 9745: Deprecation; RFC 8594: Sunset; RFC 5829: successor-version */
export function deprecationHeaders(
  since: EpochMs | undefined,
  sunsetAt: EpochMs | undefined,
  successor: string | undefined,
): readonly string[] {
  return [
    ...(since === undefined ? [] : ['Deprecation', `@${Math.floor(since / SECOND_MS)}`]),
    ...(sunsetAt === undefined ? [] : ['Sunset', httpDate(sunsetAt)]),
    ...(successor === undefined ? [] : ['Link', `<${successor}>; rel="successor-version"`]),
  ]
}
