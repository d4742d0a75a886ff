import {
  bareReply,
  bodyText,
  type EndedExchange,
  type Reply,
  type ResponseOutcome,
  type ServiceRequest,
  SLICE_CHARACTERS,
} from '../domain/messages.js'
import { errorBody, PROBLEMS } from '../domain/problems.js'
import { allowedHeaders, type KeyHeader } from '../domain/request-headers.js'
import { type EpochMs, httpDate } from '../domain/time.js'
import { type AllowedOrigins, isAllowedOrigin } from '../domain/web-origins.js'
import { utf8Length } from '../system/runtime.js'

const NO_SNIFF = ['X-Content-Type-Options', 'nosniff']

/**
 * Redirects a browser that opens the bare address.
 *
 * @param dashboard path of the dashboard
 * @returns undefined for any other request
 */
export function redirectBrowser(request: ServiceRequest, dashboard: string, now: EpochMs): Reply | undefined {
  if (request.target !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined
  if (!String(request.headers.accept ?? '').includes('text/html')) return undefined
  const headers = [...NO_SNIFF, 'Date', httpDate(now), 'Location', dashboard, 'Content-Length', '0', 'Vary', 'Accept']
  return bareReply(302, headers)
}

const OWN_HEADERS = ['Content-Type', 'Prefer']
const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const PREFLIGHT_MAX_AGE_S = 600

/**
 * Responds to a CORS preflight, which needs no key and is not charged, faulted, delayed or logged. The response to a
 * forbidden origin allows nothing.
 * @returns undefined for any other request
 */
export function answerPreflight(
  request: ServiceRequest,
  cors: AllowedOrigins,
  now: EpochMs,
  onRefused: (origin: string) => void,
  keyHeaders: readonly KeyHeader[],
): Reply | undefined {
  if (request.method !== 'OPTIONS') return undefined
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': asked } = request.headers
  if (typeof origin !== 'string' || method === undefined) return undefined
  const headers = [...NO_SNIFF, 'Date', httpDate(now)]
  if (!isAllowedOrigin(cors, origin)) {
    onRefused(origin)
    return bareReply(204, [...headers, 'Vary', 'Origin'])
  }
  headers.push('Access-Control-Allow-Origin', cors === '*' ? '*' : origin)
  if (cors !== '*') headers.push('Access-Control-Allow-Credentials', 'true')
  headers.push('Access-Control-Allow-Methods', ALLOWED_METHODS)
  const requested = typeof asked === 'string' ? asked : undefined
  headers.push(
    'Access-Control-Allow-Headers',
    allowedHeaders([...keyHeaders.map(({ name }) => name), ...OWN_HEADERS], requested),
  )
  headers.push('Access-Control-Max-Age', String(PREFLIGHT_MAX_AGE_S))
  headers.push('Vary', 'Origin, Access-Control-Request-Headers')
  // Sent by a public page that calls a loopback address. @source Private Network Access
  if (request.headers['access-control-request-private-network'] === 'true') {
    headers.push('Access-Control-Allow-Private-Network', 'true')
  }
  return bareReply(204, headers)
}

/** Bounds the log against requests with ever new origins. */
const MAX_WARNINGS = 20
const MAX_ORIGIN_LENGTH = 200

/** Warns once per refused origin: the browser's own message does not name the sandbox. */
export function refusedOriginWarner(cors: AllowedOrigins, warn: (message: string) => void): (origin: string) => void {
  const known = new Set<string>()
  const allowed = cors.length === 0 ? 'CORS is off' : `--cors allows ${[cors].flat().join(', ')} only`
  return (origin) => {
    if (known.size >= MAX_WARNINGS || known.has(origin)) return
    known.add(origin)
    const last = known.size === MAX_WARNINGS ? ' Further origins are not reported.' : ''
    const name = JSON.stringify(origin.slice(0, MAX_ORIGIN_LENGTH))
    warn(`Refused a web page of ${name}: ${allowed}. Add the origin to --cors to allow it.${last}`)
  }
}

const COMMON = /^(?:Date|Vary|X-Content-Type-Options|X-RateLimit-\w+|Access-Control-[\w-]+)$/

const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/

/** A 500 in place of a reply that must not or cannot be sent. Keeps the common headers. */
export function failedReply(reply: Reply, message: string = PROBLEMS.internal_error.message): Reply {
  const { status } = PROBLEMS.internal_error
  const body = errorBody('internal_error', message, status)
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(utf8Length(body))]
  for (let i = 0; i < reply.headers.length; i += 2) {
    const [name = '', value = ''] = reply.headers.slice(i, i + 2)
    if (COMMON.test(name) && SENDABLE.test(value)) headers.push(name, value)
  }
  return { ...reply, status, headers, body, binary: undefined, fault: undefined, isReplacement: true }
}

/** Sent in slices. */
export function isLong({ body }: Reply): boolean {
  return typeof body !== 'string' || body.length > SLICE_CHARACTERS
}

export function withoutHeader(headers: readonly string[], name: string): string[] {
  return headers.filter((_, index) => headers[index - (index % 2)] !== name)
}

/** Monotonic milliseconds. */
export interface ReplyTimes {
  readonly arrivedAt: number
  /** Without the current wait. */
  waitedMs: number
  waitsSince: number | undefined
  /** Start of sending, if the response was not sent at once. */
  beganAt: number | undefined
}

export function replyTimes(arrivedAt: number): ReplyTimes {
  return { arrivedAt, waitedMs: 0, waitsSince: undefined, beganAt: undefined }
}

interface ReplyEnd {
  readonly how: ResponseOutcome
  readonly times: ReplyTimes
  readonly now: number
  readonly isAnswered: boolean
  readonly connection: number
}

/** @returns undefined for a reply without an exchange */
export function endedExchange(
  { exchange, status, body, isReplacement }: Reply,
  { how, times, now, isAnswered, connection }: ReplyEnd,
): EndedExchange | undefined {
  if (exchange === undefined) return undefined
  const { space, id, position } = exchange
  const { arrivedAt, waitedMs, waitsSince, beganAt } = times
  const ended: EndedExchange = {
    space,
    id,
    position,
    how,
    durationMs: now - arrivedAt,
    waitingMs: waitsSince === undefined ? waitedMs : waitedMs + now - waitsSince,
    bodyMs: beganAt === undefined ? 0 : now - beganAt,
    connection,
  }
  if (isAnswered && isReplacement === undefined) return ended
  return {
    ...ended,
    ...(isAnswered ? {} : { isUnanswered: true }),
    ...(isReplacement === undefined ? {} : { instead: { status, body: bodyText(body) } }),
  }
}
