import type { Reply, ServiceRequest } from '../space/message.js'

/** Authorization must be named: a `*` does not cover it. @source Fetch standard, CORS-preflight fetch */
const ALLOWED_HEADERS = 'Authorization, Content-Type, Prefer'
const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REMEMBERED_FOR_SECONDS = 600

/**
 * Answers a CORS preflight: without key, quota, fault, delay or log.
 *
 * @returns undefined where the request is no preflight, or its origin is not allowed
 */
export function answerPreflight(request: ServiceRequest, cors: '*' | readonly string[]): Reply | undefined {
  if (request.method !== 'OPTIONS') return undefined
  const { origin, 'access-control-request-method': method } = request.headers
  if (typeof origin !== 'string' || method === undefined) return undefined
  if (cors !== '*' && !cors.includes(origin)) return undefined
  const headers = [
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
  return { status: 204, headers, body: '', delayMs: 0, fault: undefined }
}
