import type { FailureCode } from '../domain/failures.js'
import { type DurationMs, formatDuration } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { TooLargeError } from './bounded-body.js'
import { isTimeout } from './deadline.js'
import { TooManyInterimError } from './interim.js'
import { proxyRefusal } from './proxies.js'

interface Meaning {
  /** What happened, in a few words. */
  readonly short: string
  readonly hint: string
}

const UNTRUSTED: Meaning = {
  short: 'the certificate is not trusted',
  hint: 'If your own authority signed it, set NODE_EXTRA_CA_CERTS.',
}
const DROPPED: Meaning = {
  short: 'the connection was dropped',
  hint: 'The request may still have arrived.',
}
const UNREACHABLE: Meaning = {
  short: 'it cannot be reached over the network',
  hint: 'Check the network, the VPN and the proxy.',
}
const BROKEN: Meaning = {
  short: 'the response is not valid HTTP',
  hint: 'Should it be https, or is there a proxy in between?',
}

/** What an error code of a failed connection means to the user. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ECONNREFUSED: {
    short: 'nothing is listening there',
    hint: 'Start a sandbox with "petstore-sandbox serve", or name another instance with --target or --base-url.',
  },
  ENOTFOUND: { short: 'no such host', hint: 'Check the host in the base address.' },
  EAI_AGAIN: { short: 'its name cannot be resolved right now', hint: 'Check the network and its DNS.' },
  ETIMEDOUT: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ECONNRESET: DROPPED,
  EPIPE: DROPPED,
  UND_ERR_SOCKET: DROPPED,
  UND_ERR_CONNECT_TIMEOUT: UNREACHABLE,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: {
    short: 'its certificate has expired',
    hint: 'Check the date of this machine; if it is right, tell the owner of the server.',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: { short: 'its certificate is for another host', hint: 'Check the base address.' },
  EPROTO: { short: 'it does not speak TLS', hint: 'Should it be http?' },
  ERR_SSL_WRONG_VERSION_NUMBER: { short: 'it does not speak TLS', hint: 'Should it be http?' },
}

function refused(status: string, proxy: string): Meaning {
  if (status !== '407')
    return {
      short: `the proxy answered ${status}`,
      hint: `Ask whoever runs the proxy of ${proxy}, or except the host with NO_PROXY.`,
    }
  const example = 'http://user:password@proxy.example:3128'
  return { short: 'the proxy wants to know who asks', hint: `Put user and password into ${proxy}, as in ${example}.` }
}

/** There was nobody to connect to. */
const UNCONNECTED_CODES = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]
const DROPPED_CODES = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

/** There was no answer, or not a complete one, or not in time. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  readonly code = 'NO_ANSWER' satisfies FailureCode
  /** The failure's own code: ECONNREFUSED, TIMEOUT … */
  readonly failure: string
  readonly short: string
  readonly hint: string
  readonly attempts: number

  private constructor(
    { failure, short, hint }: Meaning & { readonly failure: string },
    where: string,
    attempts: number,
    cause: unknown,
  ) {
    super(`No answer from ${where}: ${short} (${failure})`, { cause })
    this.failure = failure
    this.short = short
    this.hint = hint
    this.attempts = attempts
  }

  /** Its certificate was signed by nobody that is known here. */
  get isUntrusted(): boolean {
    return this.short === UNTRUSTED.short
  }

  /** @throws errors that are not connection failures, as those are our own bugs */
  static from(error: unknown, { url, timeout, attempts, proxy }: Asked): NoAnswerError {
    const meant = meaningOf(error, timeout, proxy)
    if (meant === undefined) throw error
    const { origin } = new URL(url)
    return new NoAnswerError(meant, proxy === undefined ? origin : `${origin} (${proxy} is set)`, attempts, error)
  }
}

/** What was asked, and got no answer. */
export interface Asked {
  readonly url: string
  readonly timeout: DurationMs
  /** How often, this time among them. */
  readonly attempts: number
  /** The variable that names a proxy for it. */
  readonly proxy: string | undefined
}

/** Whether an open connection was dropped: the request may have been received. */
export function isDropped(error: unknown): boolean {
  return DROPPED_CODES.includes(codeOf(error) ?? '') && !isOutOfTurn(error)
}

/** Whether it was sent a 100 or a 101 that nobody had asked for, which undici calls a failure of the connection. */
function isOutOfTurn(error: unknown): boolean {
  return codeOf(error) === 'UND_ERR_SOCKET' && /^bad (?:response|upgrade)$/.test(messageOf(error))
}

function meaningOf(
  error: unknown,
  timeout: DurationMs,
  proxy: string | undefined,
): (Meaning & { readonly failure: string }) | undefined {
  if (isTimeout(error)) {
    const short = `it took longer than ${formatDuration(timeout)}`
    return { failure: 'TIMEOUT', short, hint: 'Is it busy, or is there something in between that holds it up?' }
  }
  if (error instanceof TooLargeError) {
    return {
      failure: 'TOO_LARGE',
      short: error.message,
      hint: 'Is it the service that answers there?',
    }
  }
  if (error instanceof TooManyInterimError) return { failure: 'MALFORMED', ...BROKEN, short: error.message }
  const code = codeOf(error)
  if (proxy !== undefined) {
    const status = proxyRefusal(error)
    if (status !== undefined) return { failure: `PROXY_${status}`, ...refused(status, proxy) }
    // Whoever asks a proxy connects to nobody else.
    if (UNCONNECTED_CODES.includes(code ?? ''))
      return { failure: String(code), short: 'the proxy cannot be reached', hint: `Check the address in ${proxy}.` }
  }
  if (isOutOfTurn(error)) return { failure: 'MALFORMED', ...BROKEN }
  // undici gives it no code, or the parser's own.
  if (error instanceof Error && error.name === 'HTTPParserError') return { failure: code ?? 'MALFORMED', ...BROKEN }
  if (code === undefined) return undefined
  const meaning = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined
  if (meaning !== undefined) return { failure: code, ...meaning }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return { failure: code, ...BROKEN }
  // undici's parser takes it for granted that a status has no leading zero.
  if (code === 'ERR_ASSERTION') return { failure: 'MALFORMED', ...BROKEN }
  if (/CERT|TLS|SSL/.test(code)) return { failure: code, ...UNTRUSTED }
  const isOfNode = error instanceof Error && 'syscall' in error
  if (!isOfNode && !/^UND_ERR_(?:PRX|HEADERS|BODY|RES|ABORTED|CLOSED|DESTROYED|INFO)/.test(code)) return undefined
  return {
    failure: code,
    short: messageOf(error),
    hint: 'Run it again with --debug to see more.',
  }
}

/** If several addresses fail at once (IPv6, IPv4), the code of the first counts. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  return codeOf(error.cause)
}
