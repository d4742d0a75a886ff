import type { FailureCode } from '../domain/failures.js'
import { type DurationMs, formatDuration } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { UndecodableError } from './decompress.js'
import { proxyRefusal } from './dispatcher.js'
import { isTimeout, TooLargeError } from './limits.js'

type Meaning = readonly [short: string, hint: string]

const UNTRUSTED: Meaning = [
  'the certificate is not trusted',
  'If your own authority signed it, set NODE_EXTRA_CA_CERTS.',
]
const DROPPED: Meaning = ['the connection was dropped', 'The request may still have arrived.']
const UNREACHABLE: Meaning = ['it cannot be reached over the network', 'Check the network, the VPN and the proxy.']
const MALFORMED: Meaning = ['the response is not valid HTTP', 'Should it be https, or is there a proxy in between?']
const NO_TLS: Meaning = ['it does not speak TLS', 'Should it be http?']

const MEANINGS: Readonly<Record<string, Meaning>> = {
  ECONNREFUSED: [
    'connection refused',
    'Start a sandbox with "npx petstore-sandbox serve", or name another instance with --target or --base-url.',
  ],
  ENOTFOUND: ['no such host', 'Check the host in the base address.'],
  EAI_AGAIN: ['its name cannot be resolved right now', 'Check the network and its DNS.'],
  ETIMEDOUT: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  UND_ERR_CONNECT_TIMEOUT: UNREACHABLE,
  ECONNRESET: DROPPED,
  EPIPE: DROPPED,
  UND_ERR_SOCKET: DROPPED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: [
    'its certificate has expired',
    'Check the date of this machine; if it is right, contact the owner of the server.',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for another host', 'Check the base address.'],
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: MALFORMED,
}

/** Codes of OpenSSL and Node. */
const NO_TRUST = /CERT|TLS|SSL/
const UNCONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']

interface AttemptContext {
  readonly url: string
  readonly timeout: DurationMs
  readonly proxy: string | undefined
}

export class NoResponseError extends Error {
  override readonly name = 'NoResponseError'
  readonly code = 'NO_RESPONSE' satisfies FailureCode
  /** The failure's own code: ECONNREFUSED, TIMEOUT … */
  readonly failure: string
  readonly short: string
  readonly hint: string
  attempts = 1

  private constructor(failure: string, [short, hint]: Meaning, where: string, cause: unknown) {
    super(`No response from ${where}: ${short} (${failure})`, { cause })
    this.failure = failure
    this.short = short
    this.hint = hint
  }

  get isUntrusted(): boolean {
    return this.short === UNTRUSTED[0]
  }

  /** @throws errors that are not connection failures, as those are our own bugs */
  static from(error: unknown, { url, timeout, proxy }: AttemptContext): NoResponseError {
    const found = meaningOf(error, timeout, proxy)
    if (found === undefined) throw error
    const { origin } = new URL(url)
    const where = proxy === undefined ? origin : `${origin} (${proxy} is set)`
    return new NoResponseError(found.failure, found.meaning, where, error)
  }
}

export function isDropped(error: unknown): boolean {
  return MEANINGS[codeOf(error) ?? ''] === DROPPED && !isUnexpectedInterim(error)
}

/** Whether no connection was made, so that the request cannot have arrived. */
export function isUnsent(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  return UNCONNECTED.includes(code) || MEANINGS[code] === NO_TLS || NO_TRUST.test(code)
}

/** An unexpected 100 or 101, which undici reports as a socket error. */
function isUnexpectedInterim(error: unknown): boolean {
  return codeOf(error) === 'UND_ERR_SOCKET' && /^bad (?:response|upgrade)$/.test(messageOf(error))
}

function meaningOf(
  error: unknown,
  timeout: DurationMs,
  proxy: string | undefined,
): { readonly failure: string; readonly meaning: Meaning } | undefined {
  const as = (failure: string, ...meaning: Meaning) => ({ failure, meaning })
  const code = codeOf(error)
  if (isTimeout(error))
    return as('TIMEOUT', `it took longer than ${formatDuration(timeout)}`, 'Is it busy, or does a proxy delay it?')
  if (error instanceof TooLargeError) return as('TOO_LARGE', messageOf(error), 'Is this the address of the service?')
  if (error instanceof UndecodableError)
    return as('UNDECODABLE', messageOf(error), 'The request may have been carried out all the same.')
  const refusal = proxy === undefined ? undefined : proxyRefusal(error)
  if (refusal === '407') {
    const hint = `Put user and password into ${proxy}, as in http://user:password@proxy.example:3128.`
    return as('PROXY_407', 'the proxy requires authentication', hint)
  }
  if (refusal !== undefined)
    return as(
      `PROXY_${refusal}`,
      `the proxy responded with ${refusal}`,
      `Check ${proxy}, or exclude the host with NO_PROXY.`,
    )
  if (proxy !== undefined && code !== undefined && UNCONNECTED.includes(code))
    return as(code, 'the proxy cannot be reached', `Check the address in ${proxy}.`)
  // undici's parser has its own codes or none, and asserts that a status has no leading zero.
  if (isUnexpectedInterim(error) || code === 'ERR_ASSERTION') return as('MALFORMED', ...MALFORMED)
  if (error instanceof Error && error.name === 'HTTPParserError') return as(code ?? 'MALFORMED', ...MALFORMED)
  if (code === undefined) return undefined
  const known = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined
  if (known !== undefined) return as(code, ...known)
  if (NO_TRUST.test(code)) return as(code, ...UNTRUSTED)
  const isNetwork = error instanceof Error && 'syscall' in error
  if (!isNetwork && !/^UND_ERR_(?:PRX|HEADERS|BODY|RES|ABORTED|CLOSED|DESTROYED|INFO)/.test(code)) return undefined
  return as(code, messageOf(error), 'Run it again with --debug to see more.')
}

/** If several addresses fail at once (IPv6, IPv4), the code of the first one. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  return codeOf(error instanceof AggregateError ? error.errors[0] : error.cause)
}
