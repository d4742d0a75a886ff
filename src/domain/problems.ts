import { excerpt } from '../contract/excerpt.js'

/** An error with its usual status (switches and faults may choose another). */
export interface Problem {
  readonly status: number
  readonly message: string
}

/**
 * Every error of the sandbox: its code, its usual status
 * and what to do about it. A 500 never exposes an internal message.
 *
 * @source docs/behaviour.md, "error codes"
 */
export const PROBLEMS = {
  invalid_request: { status: 400, message: 'The request breaks the contract.' },
  missing_api_key: {
    status: 401,
    message: 'No API key was sent. Send one as: Authorization: Bearer <API_KEY>.',
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is not valid.',
  },
  not_found: {
    status: 404,
    message: 'The requested resource could not be found.',
  },
  operation_removed: {
    status: 404,
    message: 'This operation has been removed.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This path does not support this method. See the Allow header.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'Send the body as Content-Type: application/json, without a Content-Encoding.',
  },
  payload_too_large: {
    status: 413,
    message: 'The body is larger than 1 MiB (1048576 bytes).',
  },
  rate_limit_exceeded: {
    status: 429,
    message: 'The rate limit is used up. Wait for the time in Retry-After.',
  },
  api_key_banned: {
    status: 429,
    message: 'The API key is banned temporarily: it kept sending requests without waiting.',
  },
  simulated_fault: {
    status: 500,
    message: 'The sandbox was asked to fail here.',
  },
  internal_error: {
    status: 500,
    message: 'The sandbox could not do this. Its log says why.',
  },
  overloaded: {
    status: 503,
    message: 'So many request bodies are under way (64 MiB in all) that there was no room for this one. Send it again.',
  },
  store_full: {
    status: 507,
    message: 'The store is full. Remove pets, reset the sandbox, or start it with a larger --max-store.',
  },
  log_unavailable: {
    status: 503,
    message: 'The log that the replicas of this sandbox share cannot be reached. Send it again in a moment.',
  },
  upstream_unreachable: { status: 502, message: 'The service behind this sandbox cannot be reached.' },
  upstream_invalid: { status: 502, message: 'The service behind this sandbox gave an answer that cannot be used.' },
  upstream_timeout: { status: 504, message: 'The service behind this sandbox took too long.' },
  too_many_spaces: { status: 503, message: 'No more spaces can be opened.' },
  bad_request: {
    status: 400,
    message: 'This is not a well-formed HTTP/1.1 request.',
  },
  request_timeout: {
    status: 408,
    message: 'The request took too long to arrive.',
  },
  headers_too_large: {
    status: 431,
    message: 'The header fields are larger than the server accepts.',
  },
  forbidden: {
    status: 403,
    message: 'The control plane does not answer this caller.',
  },
  conflict: {
    status: 409,
    message: 'This cannot be done in the present state.',
  },
} as const satisfies Record<string, Problem>

export type ProblemCode = keyof typeof PROBLEMS

/** What a message quotes is cut where it is quoted; this is for a message of many quotes. */
const LONGEST_MESSAGE = 8000

/** The Error body of the service as JSON text. @source docs/specification.md, "Error" */
export function errorBody(code: ProblemCode, message: string, status: number): string {
  return `{"code":"${code}","message":${JSON.stringify(excerpt(message, LONGEST_MESSAGE))},"status":${status}}`
}
