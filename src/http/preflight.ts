import { type EpochMs, httpDate } from '../domain/time.js'
import type { Reply, ServiceRequest } from '../space/message.js'

/** Authorization must be named: a `*` does not cover it. @source Fetch standard, CORS-preflight fetch */
const ALLOWED_HEADERS = 'Authorization, Content-Type, Prefer'
const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REMEMBERED_FOR_SECONDS = 600

/**
 * Answers a CORS preflight: without key, quota, fault, delay or log.
 *
 * One of an origin that is not allowed is answered without permission.
 *
 * @returns undefined where the request is no preflight
 */
export function answerPreflight(
  request: ServiceRequest,
  cors: '*' | readonly string[],
  now: EpochMs,
): Reply | undefined {
  if (request.method !== 'OPTIONS') return undefined
  const { origin, 'access-control-request-method': method } = request.headers
  if (typeof origin !== 'string' || method === undefined) return undefined
  const date = ['Date', httpDate(now)]
  if (cors !== '*' && !cors.includes(origin)) return reply([...date, 'Vary', 'Origin'])
  const headers = [
    ...date,
    'Access-Control-Allow-Origin',
    cors === '*' ? '*' : origin,
    'Access-Control-Allow-Methods',
    ALLOWED_METHODS,
    'Access-Control-Allow-Headers',
    ALLOWED_HEADERS,
    'Access-Control-Max-Age',
    String(REMEMBERED_FOR_SECONDS),
    'Vary',
    'Origin',
  ]
  // A public page that asks for a loopback address. @source Private Network Access
  if (request.headers['access-control-request-private-network'] === 'true') {
    headers.push('Access-Control-Allow-Private-Network', 'true')
  }
  return reply(headers)
}

function reply(headers: string[]): Reply {
  return { status: 204, headers, body: '', binary: undefined, delayMs: 0, dueAt: 0, fault: undefined }
}
