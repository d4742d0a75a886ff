import type { Violation } from '../contract/contract.js'
import { BEARER, type KeyPlace, type KeyPlaces } from '../contract/contract-data.js'
import { Failure } from '../domain/failures.js'
import { keyChoices } from '../domain/key-places.js'
import { bodyLimit, type HandlerResult, type ServiceRequest } from '../domain/messages.js'
import { formatSize } from '../domain/numbers.js'
import { errorBody, PROBLEMS, type ProblemCode, type Reason, StoreFull } from '../domain/problems.js'
import { isBearer } from '../domain/request-headers.js'
import { ceilSeconds, type EpochMs, httpDate, SECOND_MS } from '../domain/time.js'
import type { RequestContext } from './request-context.js'
import type { Space } from './space.js'

export interface ProblemDetails {
  readonly message?: string
  readonly status?: number
  readonly headers?: readonly string[]
  readonly reason?: Reason
  readonly outside?: true
  readonly violations?: readonly Violation[]
  /** For WWW-Authenticate. Default: a bearer token of the packaged contract. */
  readonly challenge?: Challenge
}

interface Challenge {
  readonly realm: string
  /** Alternatives for the key. */
  readonly choices: readonly KeyPlaces[]
}

const PACKAGED_REALM = 'petstore'
const DEFAULT_CHALLENGE: Challenge = { realm: PACKAGED_REALM, choices: [[BEARER]] }

/** An error in the Error shape. */
export function problem(code: ProblemCode, details: ProblemDetails = {}): HandlerResult {
  const { message = PROBLEMS[code].message, status = PROBLEMS[code].status } = details
  const { headers = [], reason, outside, challenge = DEFAULT_CHALLENGE, violations } = details
  return {
    status,
    body: errorBody(code, message, status),
    problem: { code, message, ...(violations !== undefined && { violations }) },
    headers: status === 401 ? [...headers, 'WWW-Authenticate', challengesOf(code, challenge)] : headers,
    ...(reason === undefined ? {} : { reason }),
    ...(outside === undefined ? {} : { outside }),
  }
}

const NOT_STORED = 'The change could not be stored, and was not made. See the log of the sandbox for the reason.'

/** The response if a commit has failed for want of space, or to be written; undefined for other errors. */
export function storeProblem(error: unknown, { shared }: Space): HandlerResult | undefined {
  if (error instanceof StoreFull) return problem('store_full')
  if (!(error instanceof Failure) || error.code !== 'STORE_WRITE_FAILED') return undefined
  shared.warn(error.message)
  return problem('internal_error', { message: NOT_STORED })
}

/** The refusal of a body that was not read, or that the sandbox cannot decode. */
export function refusedBody({ body, headers }: ServiceRequest): HandlerResult | undefined {
  const message = () => `The body is larger than ${formatSize(bodyLimit(headers))}.`
  if (body === 'too-large') return problem('payload_too_large', { outside: true, message: message() })
  // There is room as soon as another body has arrived.
  if (body === 'no-room') return problem('overloaded', { headers: ['Retry-After', '1'], outside: true })
  if (body === undefined || body.length === 0) return undefined
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase()
  return encoding === 'identity' ? undefined : problem('unsupported_media_type', { outside: true })
}

/**
 * A challenge for each scheme. No scheme is registered for keys in other places.
 * @source RFC 9110, section 11.6.1; RFC 6750, section 3: no error where no key was sent
 */
function challengesOf(code: ProblemCode, { realm, choices }: Challenge): string {
  const schemes = new Set(choices.flat().map(schemeOf))
  // Clients that know one challenge only read the first.
  const ordered = [...schemes].sort((a, b) => Number(a === OWN_SCHEME) - Number(b === OWN_SCHEME))
  const error = (scheme: string) => (code === 'missing_api_key' || scheme === 'Basic' ? '' : ', error="invalid_token"')
  return ordered.map((scheme) => `${scheme} realm="${realm}"${error(scheme)}`).join(', ')
}

const OWN_SCHEME = 'ApiKey'

function schemeOf(place: KeyPlace): string {
  if (!('in' in place)) return isBearer(place) ? 'Bearer' : OWN_SCHEME
  return place.in === 'basic' ? 'Basic' : (place.scheme ?? OWN_SCHEME)
}

/** What the contract asks of a request: in its name, and with the alternatives for the key that it names. */
export function challengeFor({ space, route }: Pick<RequestContext, 'space' | 'route'>): Challenge {
  const { contract } = space.shared
  const all = keyChoices(contract, route.kind === 'operation' ? route.operation.keys : undefined)
  const choices = contract.isStandIn ? all.filter((places) => places.some((place) => 'in' in place)) : all
  return { realm: contract.isPackaged ? PACKAGED_REALM : contract.title.replaceAll(/[^ !#-[\]-~]/g, '?'), choices }
}

/** Retry-After in the configured form, rounded up. */
export function retryAfterHeader(space: Space, until: EpochMs, now: EpochMs): readonly string[] {
  switch (space.state.settings.retryAfter) {
    case 'seconds':
      return ['Retry-After', String(ceilSeconds(until - now))]
    case 'http-date':
      return ['Retry-After', httpDate(ceilSeconds(until) * SECOND_MS)]
    case 'none':
      return []
  }
}

/** A hint for the developer. Texts of contracts may have characters that no header can. */
export function noteHeader(note: string): readonly string[] {
  return ['X-Sandbox-Note', note.replaceAll(/[^ -~]/g, '?')]
}

/** A refusal in the configured form, with a wait until an instant. @param sentence names the exceeded limit */
export function refuseUntil(
  { space, now, caller, route }: Pick<RequestContext, 'space' | 'now' | 'caller' | 'route'>,
  until: EpochMs,
  sentence: string,
  reason: Reason,
  code: ProblemCode = 'rate_limit_exceeded',
  status = 429,
): HandlerResult {
  const headers = retryAfterHeader(space, until, now)
  const isTemporary = caller.kind !== 'key' || caller.apiKey.always === undefined
  const message = isTemporary && headers.length > 0 ? `${sentence} Wait for the time in Retry-After.` : sentence
  // The contract documents the body of a 401.
  const hasLimitBody = status === 429 || (status === 403 && space.state.settings.limitBody === 'problem')
  const refusal = hasLimitBody
    ? { ...limitBody(space, code, message, reason, status), headers }
    : problem(code, { status, message, headers, challenge: challengeFor({ space, route }) })
  return { ...refusal, retryAt: until, reason }
}

type RefusalBody = Pick<HandlerResult, 'status' | 'body' | 'contentType' | 'problem'>

/** @source docs/behaviour.md, "429 bodies" */
export function limitBody(space: Space, code: ProblemCode, message: string, reason: Reason, status = 429): RefusalBody {
  switch (space.state.settings.limitBody) {
    case 'error':
      return { status, body: errorBody(code, message, status), problem: { code, message } }
    case 'empty':
      return { status, body: '' }
    case 'text':
      return { status, body: `${message}\n`, contentType: 'text/plain; charset=utf-8' }
    case 'html':
      return {
        status,
        body: `<!doctype html>\n<title>429 Too Many Requests</title>\n<h1>Too Many Requests</h1>\n<p>${message}</p>\n`,
        contentType: 'text/html; charset=utf-8',
      }
    case 'problem':
      return problemDetails(code, message, status, reason)
  }
}

/** @source docs/behaviour.md, "Rate limits by the standards" */
const PROBLEM_TYPES = 'https://iana.org/assignments/http-problem-types#'
const TYPES_BY_REASON: { readonly [Name in Reason]?: readonly [type: string, title: string, policy?: string] } = {
  'quota-minute': ['quota-exceeded', 'Quota exceeded', 'minute'],
  'quota-day': ['quota-exceeded', 'Quota exceeded', 'day'],
  ban: ['abnormal-usage-detected', 'Abnormal usage detected'],
  storm: ['temporary-reduced-capacity', 'Capacity temporarily reduced'],
}

/** With the fields of an Error too, so that its clients are not affected. @source RFC 9457, section 3 */
function problemDetails(code: ProblemCode, message: string, status: number, reason: Reason): RefusalBody {
  const [type, title, policy] = TYPES_BY_REASON[reason] ?? []
  const body = {
    type: type === undefined ? 'about:blank' : PROBLEM_TYPES + type,
    title: title ?? 'Too Many Requests',
    status,
    detail: message,
    code,
    message,
    'violated-policies': policy && [policy],
  }
  return { status, body: JSON.stringify(body), contentType: 'application/problem+json' }
}
