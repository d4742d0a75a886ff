import { shellWord } from '../../advice/curl.js'
import { fixRefusal } from '../../advice/fixes.js'
import type { BuiltRequest } from '../../client/build-request.js'
import { readBody, type ServiceResponse } from '../../client/exchange.js'
import type { NoResponseError } from '../../client/no-response.js'
import { findHeader, type SendResult, toSeconds } from '../../client/send.js'
import { SANDBOX, type Target } from '../../client/target.js'
import { CONTROL_PATH } from '../../control/path.js'
import { ALWAYS_REFUSED, splitKey } from '../../domain/keys.js'
import { redactAddress } from '../../domain/redaction.js'
import type { DurationMs } from '../../domain/time.js'
import { controlCommand } from '../control/find-sandbox.js'
import { type CliIo, EXIT, EXIT_NO_RESPONSE } from '../io.js'

export interface CallFailure {
  readonly code: string
  readonly status?: number
  readonly title: string
  readonly detail?: string
  readonly operation: string
  readonly method: string
  readonly url: string
  readonly attempts: number
  readonly retryAfter?: number
  readonly exit: number
  readonly hint?: string
  readonly body?: unknown
}

/** A status above 599 counts as a server error. @source RFC 9110, section 15; docs/cli.md, "Exit codes" */
export function exitCodeForStatus(status: number): number {
  const digit = Math.floor(status / 100)
  return digit === 2 ? EXIT.ok : Math.min(digit, 5)
}

export function responseFailure(
  { operation, method }: BuiltRequest,
  url: string,
  { response, attempts, retryAt }: SendResult,
  exit: number,
  hint: string | undefined,
): CallFailure {
  const read = readBody(response)
  const error: { readonly code?: unknown; readonly message?: unknown } = read.kind === 'json' ? Object(read.value) : {}
  return {
    code: typeof error.code === 'string' && error.code !== '' ? error.code : `http_${response.status}`,
    status: response.status,
    title: response.statusText,
    ...(typeof error.message === 'string' ? { detail: error.message } : {}),
    operation: operation.id,
    method,
    url,
    attempts,
    ...(retryAt === undefined ? {} : { retryAfter: toSeconds(retryAt.in) }),
    exit,
    ...(hint === undefined ? {} : { hint }),
    ...(read.kind === 'empty' ? {} : { body: read.kind === 'json' ? read.value : read.text }),
  }
}

export function noResponseFailure(
  { operation, method }: BuiltRequest,
  url: string,
  error: NoResponseError,
): CallFailure {
  return {
    code: 'no_response',
    title: error.failure,
    detail: error.message,
    operation: operation.id,
    method,
    url,
    attempts: error.attempts,
    exit: EXIT_NO_RESPONSE,
    hint: [error.hint, FLAG_HINTS[error.failure]].join(' ').trimEnd(),
  }
}

const DROPPED = 'Only GET is retried automatically; --retry-unsafe retries others too.'
const FLAG_HINTS: Readonly<Record<string, string>> = {
  TIMEOUT: 'Give it more time with --timeout.',
  TOO_LARGE: 'Allow more with --max-body.',
  ECONNRESET: DROPPED,
  EPIPE: DROPPED,
  UND_ERR_SOCKET: DROPPED,
}

/** What ends a refusal by a sandbox. */
interface ResponseFix {
  readonly command: string | undefined
  /** Why waiting does not help. */
  readonly permanent: string | undefined
}

export function responseHint(
  { response, retryAt, waitTooLong }: SendResult,
  { command, permanent }: ResponseFix,
): string | undefined {
  if (permanent !== undefined) return permanent
  const reason = findHeader(response, 'x-sandbox-reason')
  const simulated = reason === undefined ? '' : ` Simulated by the sandbox (${reason}).`
  if (retryAt !== undefined) {
    const limit = waitTooLong ? ', which is longer than --retry-max-wait allows' : ''
    const at = new Date(retryAt.at)
    const until = Number.isNaN(at.getTime()) ? '' : ` (at ${at.toISOString().slice(0, 19)}Z)`
    const or = command === undefined ? '' : `, or run: ${command}`
    return `Try again in ${toSeconds(retryAt.in)} s${until}${limit}${or}.${simulated}`
  }
  if (response.status === 401) return `Give an API key with --api-key-file or in PETSTORE_API_KEY.${simulated}`
  if (response.status >= 300 && response.status < 400) {
    const location = findHeader(response, 'location')
    const to = location === undefined ? '' : ` (to ${redactAddress(location)})`
    return `Redirects are not followed${to}. Is the base address right?`
  }
  return `${simulated}${command === undefined ? '' : ` To end it, run: ${command}.`}`.trim() || undefined
}

/** @param wait how long the client would have to wait */
export function responseFix(
  response: ServiceResponse,
  wait: DurationMs | undefined,
  { name, baseUrl, apiKey = '' }: Pick<Target, 'name' | 'baseUrl' | 'apiKey'>,
  io: CliIo,
): ResponseFix {
  const { key, space } = splitKey(apiKey)
  const isAlwaysRefused = ALWAYS_REFUSED.includes(key)
  // The key itself may be secret.
  const fix = fixRefusal({ reason: findHeader(response, 'x-sandbox-reason'), isAlwaysRefused, wait })
  const permanent = fix?.isPermanent ? fix.fix : undefined
  // A space with other characters would need quotes.
  if (fix?.command === undefined || name !== SANDBOX || !/^[\w.-]*$/.test(space))
    return { command: undefined, permanent }
  const control = controlCommand(new URL(baseUrl).origin + CONTROL_PATH, io)
  return { command: `${control}${space === '' ? '' : ` --space ${shellWord(space)}`} ${fix.command}`, permanent }
}
