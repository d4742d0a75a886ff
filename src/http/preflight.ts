import { allowedHeaders } from '../domain/cors.js'
import type { Reply, ServiceRequest } from '../domain/messages.js'
import { type EpochMs, httpDate } from '../domain/time.js'
import { outsideReply } from './outside-reply.js'

const OWN_HEADERS = ['Authorization', 'Content-Type', 'Prefer']
const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REMEMBERED_FOR_SECONDS = 600

/**
 * Answers a CORS preflight, which needs no key and is neither charged, faulted, delayed nor logged.
 *
 * An origin that is not allowed gets a response that grants nothing.
 *
 * @param onRefused hears of each origin that is refused
 * @returns undefined where the request is no preflight
 */
export function answerPreflight(
  request: ServiceRequest,
  cors: '*' | readonly string[],
  now: EpochMs,
  onRefused: (origin: string) => void,
): Reply | undefined {
  if (request.method !== 'OPTIONS') return undefined
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': asked } = request.headers
  if (typeof origin !== 'string' || method === undefined) return undefined
  const date = ['Date', httpDate(now)]
  if (cors !== '*' && !cors.includes(origin)) {
    onRefused(origin)
    return reply([...date, 'Vary', 'Origin'])
  }
  const headers = [
    ...date,
    'Access-Control-Allow-Origin',
    cors === '*' ? '*' : origin,
    'Access-Control-Allow-Methods',
    ALLOWED_METHODS,
    'Access-Control-Allow-Headers',
    allowedHeaders(OWN_HEADERS, typeof asked === 'string' ? asked : undefined),
    'Access-Control-Max-Age',
    String(REMEMBERED_FOR_SECONDS),
    'Vary',
    'Origin, Access-Control-Request-Headers',
  ]
  // A public page that asks for a loopback address. @source Private Network Access
  if (request.headers['access-control-request-private-network'] === 'true') {
    headers.push('Access-Control-Allow-Private-Network', 'true')
  }
  return reply(headers)
}

/** Origins that are told of; whoever asks under ever new names is not to fill the log. */
const MOST_TOLD = 20
const LONGEST_ORIGIN = 200

/** Tells of each origin that is refused, once: the browser's own words do not say that it was the sandbox. */
export function refusalTeller(
  cors: '*' | readonly string[],
  warn: (message: string) => void,
): (origin: string) => void {
  const told = new Set<string>()
  const allowed = cors.length === 0 ? 'CORS is off' : `--cors allows ${[cors].flat().join(', ')} only`
  return (origin) => {
    if (told.size >= MOST_TOLD || told.has(origin)) return
    told.add(origin)
    const last = told.size === MOST_TOLD ? ' Further origins are not told of.' : ''
    const name = JSON.stringify(origin.slice(0, LONGEST_ORIGIN))
    warn(`A web page of ${name} was refused: ${allowed}. Name it in --cors to let it call the service.${last}`)
  }
}

function reply(headers: string[]): Reply {
  return outsideReply(204, headers)
}
