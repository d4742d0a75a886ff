import type { FaultName } from '../domain/faults.js'
import type { ResponseEnd, ServiceRequest } from '../domain/messages.js'
import type { Reason } from '../domain/problems.js'
import { isSecretName, mayHoldAddress, redactHeader, redactQuery } from '../domain/redaction.js'
import type { KeyHeader } from '../domain/request-headers.js'
import type { EpochMs } from '../domain/time.js'

/** One logged request. It never contains a real secret: an unknown token is only `unknown`. */
export interface ExchangeRecord {
  readonly id: number
  /** Of the command of its request. */
  readonly position: number
  readonly at: EpochMs
  readonly arrivedAt: EpochMs
  /** Empty for the default space. */
  readonly space: string
  /** Label of a known key, `unknown`, or `none` without a key. */
  readonly key: string
  readonly sender?: string | undefined
  readonly method: string
  readonly path: string
  readonly query: string
  readonly operation: string | undefined
  /** Undefined if the client got no status: by a fault, or because it left. */
  readonly status: number | undefined
  readonly reason: Reason | undefined
  readonly fault?: FaultName | undefined
  readonly rule?: string | undefined
  /** Undefined while it is under way. */
  readonly how: ResponseEnd | undefined
  /** From its arrival to its end, real time; 0 while it is under way. */
  readonly durationMs: number
  readonly waitingMs: number
  readonly bodyMs: number
  readonly remaining: number
  readonly drift?: readonly string[] | undefined
  /** Flat lists. */
  readonly requestHeaders: readonly string[]
  readonly requestBody: string
  readonly responseHeaders: readonly string[]
  readonly responseBody: string
}

/** Characters of a body that the log keeps. @source docs/control-api.md, "The log" */
export const LOG_BODY_CHARACTERS = 64 * 1024

/** A token is replaced by its label. @param open the caller's key is not a secret */
export function loggedHeaders(
  request: ServiceRequest,
  open: boolean,
  label: string,
  keyHeaders: readonly KeyHeader[],
): readonly string[] {
  const { rawHeaders } = request
  if (!mayHoldSecrets(request, open)) return rawHeaders
  return rawHeaders.map((item, index) =>
    index % 2 === 0 ? item : redactHeader(rawHeaders[index - 1] ?? '', item, keyHeaders, label),
  )
}

/** Also if Authorization is repeated, or its key is secret. */
function mayHoldSecrets({ headers, rawHeaders }: ServiceRequest, open: boolean): boolean {
  let names = 0
  for (const name in headers) {
    names++
    const value = headers[name]
    if (name === 'authorization' ? !open : isSecretName(name) || typeof value !== 'string' || mayHoldAddress(value))
      return true
  }
  return names * 2 !== rawHeaders.length
}

const decoder = new TextDecoder()

export function loggedBody({ body, headers }: ServiceRequest): string {
  if (body === undefined) return ''
  if (body === 'too-large') return '(larger than 1 MiB, not kept)'
  if (body === 'no-room') return '(no room for it, not kept)'
  const text = decoder.decode(body.length > LOG_BODY_CHARACTERS ? body.subarray(0, LOG_BODY_CHARACTERS) : body)
  const type = headers['content-type']
  return typeof type === 'string' && FORM.test(type) ? redactQuery(text) : text
}

const FORM = /^application\/x-www-form-urlencoded/i
