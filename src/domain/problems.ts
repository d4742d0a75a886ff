import { excerpt } from '../contract/excerpt.js'
import { formatSize } from './numbers.js'

export interface Problem {
  readonly status: number
  readonly message: string
}

/** All errors with their usual status; switches and faults may change it. @source docs/errors.md, "From the service and the control plane" */
export const PROBLEMS = {
  invalid_request: { status: 400, message: 'The request breaks the contract.' },
  missing_api_key: { status: 401, message: 'No API key was sent. Send one as: Authorization: Bearer <API_KEY>.' },
  invalid_api_key: { status: 401, message: 'The API key is not valid.' },
  not_found: { status: 404, message: 'The requested resource could not be found.' },
  operation_removed: { status: 404, message: 'This operation has been removed.' },
  method_not_allowed: { status: 405, message: 'This path does not support this method.' },
  unsupported_media_type: {
    status: 415,
    message: 'Send the body as Content-Type: application/json, without a Content-Encoding.',
  },
  payload_too_large: { status: 413, message: 'The body is too large.' },
  precondition_failed: { status: 412, message: 'The record is not the one that If-Match or If-None-Match asks for.' },
  rate_limit_exceeded: { status: 429, message: 'The rate limit is used up. Wait for the time in Retry-After.' },
  api_key_banned: {
    status: 429,
    message: 'The API key is banned temporarily. Requests that ignore a Retry-After cause a ban.',
  },
  simulated_fault: { status: 500, message: 'This failure was injected by the sandbox.' },
  internal_error: { status: 500, message: 'An internal error occurred. See the log of the sandbox for the reason.' },
  overloaded: {
    status: 503,
    message: 'Request bodies in progress use up 64 MiB. Retry the request.',
  },
  store_full: {
    status: 507,
    message: 'The store is full. Remove records, reset the sandbox, or start it with a larger --max-store.',
  },
  log_unavailable: {
    status: 503,
    message: 'The shared log of the replicas cannot be reached. Retry the request later.',
  },
  upstream_read_only: {
    status: 403,
    message:
      'This sandbox sends no writes to the service behind it. To allow them, start it with --upstream-writes forward.',
  },
  origin_refused: {
    status: 403,
    message:
      'Websites may not use the real service behind this sandbox: it only accepts web pages from this machine, and a loopback Host. Allow another origin with --cors.',
  },
  upstream_unreachable: { status: 502, message: 'The service behind this sandbox cannot be reached.' },
  upstream_invalid: { status: 502, message: 'The service behind this sandbox sent an invalid response.' },
  upstream_busy: { status: 503, message: 'Too many requests are waiting for the service behind this sandbox.' },
  upstream_timeout: { status: 504, message: 'The service behind this sandbox took too long.' },
  too_many_spaces: { status: 503, message: 'No more spaces can be opened.' },
  bad_request: { status: 400, message: 'This is not a well-formed HTTP/1.1 request.' },
  request_timeout: { status: 408, message: 'The request took too long to arrive.' },
  headers_too_large: { status: 431, message: 'The header fields are larger than the server accepts.' },
  forbidden: { status: 403, message: 'The control plane refuses this caller.' },
  conflict: { status: 409, message: 'The current state does not allow this.' },
} as const satisfies Record<string, Problem>

export type ProblemCode = keyof typeof PROBLEMS

/** For messages with many quoted values, each shortened already. */
const LONGEST_MESSAGE = 8000

/** JSON text. @source docs/specification.md, "Error" */
export function errorBody(code: ProblemCode, message: string, status: number): string {
  return `{"code":"${code}","message":${JSON.stringify(excerpt(message, LONGEST_MESSAGE))},"status":${status}}`
}

/** Why the sandbox replaced a response; `upstream`: by the real service, `mock`: by Prism. @source docs/behaviour.md, "X-Sandbox-Reason" */
export const REASONS = [
  'quota-minute',
  'quota-day',
  'ban',
  'storm',
  'forced',
  'fault',
  'sunset',
  'brownout',
  'unavailable',
  'upstream',
  'mock',
  'replay',
] as const
export type Reason = (typeof REASONS)[number]

/** `listPets: limit must be …`. */
export function operationMessage(operation: string, faults: readonly string[]): string {
  return `${operation}: ${faults.join('; ')}.`
}

export function withoutOperation(operation: string | null | undefined, message: string): string {
  const said = `${operation}: `
  return message.startsWith(said) ? message.slice(said.length) : message
}

/** The log cannot be reached, or this replica is not a member of its group. */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable'
}

export class StoreFull extends Error {
  override readonly name = 'StoreFull'

  constructor(what: string, limit: number) {
    super(
      `${what} is full (--max-store ${formatSize(limit)}). Remove records, reset the sandbox, or start it with a larger --max-store.`,
    )
  }
}
