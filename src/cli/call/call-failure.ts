import type { BuiltRequest } from '../../client/build-request.js'
import type { ServiceAnswer } from '../../client/exchange.js'
import type { NoAnswerError } from '../../client/no-answer.js'
import { readBody } from '../../client/read-body.js'
import { headerOf, type Sent, secondsOf } from '../../client/send.js'
import type { Target } from '../../client/target.js'
import { redactAddress } from '../../domain/redaction.js'
import { EXIT_NO_ANSWER } from '../control/errors.js'
import { EXIT } from '../exit-codes.js'
import { cureOf } from './cure.js'

/** Why a call failed, for people and for programs. */
export interface CallFailure {
  readonly code: string
  readonly status?: number
  readonly title: string
  readonly detail?: string
  readonly operation: string
  readonly method: string
  readonly url: string
  readonly attempts: number
  /** Seconds. */
  readonly retryAfter?: number
  readonly exit: number
  readonly hint?: string
  /** As it was answered. */
  readonly body?: unknown
}

/** Where an answer breaks the contract. @source docs/cli.md, "Exit codes" */
export const EXIT_BREACH = 6
const HTTP_CLASS = 100
/** What a status beyond the known classes is taken for, too. @source RFC 9110, section 15 */
const SERVER_ERROR = 5

/** The last status decides the exit code. */
export function exitOfStatus(status: number): number {
  const ofClass = Math.floor(status / HTTP_CLASS)
  return ofClass === 2 ? EXIT.ok : Math.min(ofClass, SERVER_ERROR)
}

export function failureOfAnswer(
  { operation, method }: BuiltRequest,
  url: string,
  sent: Sent,
  exit: number,
  target: Pick<Target, 'name' | 'apiKey'>,
): CallFailure {
  const hint = hintOf(sent, target)
  const { answer, attempts, comeBack } = sent
  const read = readBody(answer)
  const told: { readonly code?: unknown; readonly message?: unknown } = read.kind === 'json' ? Object(read.value) : {}
  return {
    code: typeof told.code === 'string' && told.code !== '' ? told.code : `http_${answer.status}`,
    status: answer.status,
    title: answer.statusText,
    ...(typeof told.message === 'string' ? { detail: told.message } : {}),
    operation: operation.id,
    method,
    url: redactAddress(url),
    attempts,
    ...(comeBack === undefined ? {} : { retryAfter: secondsOf(comeBack.in) }),
    exit,
    ...(hint === undefined ? {} : { hint }),
    ...(read.kind === 'json' ? { body: read.value } : read.kind === 'text' ? { body: read.text } : {}),
  }
}

export function failureOfNoAnswer({ operation, method }: BuiltRequest, url: string, error: NoAnswerError): CallFailure {
  return {
    code: 'no_answer',
    title: error.failure,
    detail: error.message,
    operation: operation.id,
    method,
    url: redactAddress(url),
    attempts: error.attempts,
    exit: EXIT_NO_ANSWER,
    hint: [error.hint, FLAGS_THAT_HELP[error.failure]].join(' ').trimEnd(),
  }
}

const DROPPED = 'Only GET is retried automatically; --retry-unsafe retries others too.'
const FLAGS_THAT_HELP: Readonly<Record<string, string>> = {
  TIMEOUT: 'Give it more time with --timeout.',
  TOO_LARGE: 'Allow more with --max-body.',
  ECONNRESET: DROPPED,
  EPIPE: DROPPED,
  UND_ERR_SOCKET: DROPPED,
}

function hintOf({ answer, comeBack, waitTooLong }: Sent, target: Pick<Target, 'name' | 'apiKey'>): string | undefined {
  const reason = madeUp(answer)
  const cure = cureOf(answer, comeBack?.in, target)
  if (comeBack !== undefined) {
    const limit = waitTooLong ? ', which is longer than --retry-max-wait allows' : ''
    const at = new Date(comeBack.at)
    const until = Number.isNaN(at.getTime()) ? '' : ` (at ${at.toISOString().slice(0, 19)}Z)`
    const or = cure === undefined ? '' : `, or run: ${cure}`
    return `Try again in ${secondsOf(comeBack.in)} s${until}${limit}${or}.${reason}`
  }
  if (answer.status === 401) return `Give an API key with --api-key-file or in PETSTORE_API_KEY.${reason}`
  if (answer.status >= 300 && answer.status < 400) {
    return `Redirects are not followed${locationOf(answer)}. Is the base address right?`
  }
  const words = `${reason}${cure === undefined ? '' : ` To end it, run: ${cure}.`}`.trim()
  return words === '' ? undefined : words
}

/** Says so when a sandbox made the response up, so that nobody hunts for its cause. */
function madeUp(answer: ServiceAnswer): string {
  const reason = headerOf(answer, 'x-sandbox-reason')
  return reason === undefined ? '' : ` Simulated by the sandbox (${reason}).`
}

function locationOf(answer: ServiceAnswer): string {
  const location = headerOf(answer, 'location')
  return location === undefined ? '' : ` (to ${redactAddress(location)})`
}
