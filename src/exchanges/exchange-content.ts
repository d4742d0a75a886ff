import type { ServiceRequest } from '../domain/messages.js'
import { isSecretName, mayHoldAddress, redactHeader, redactQuery } from '../domain/redaction.js'
import { LOG_BODY_CHARACTERS } from './exchange-log.js'

/**
 * The request's headers, safe to log: nothing in them can be a
 * real secret. A token is replaced by its label.
 *
 * @param open the caller's key is its own label, which is no secret
 */
export function loggedHeaders(request: ServiceRequest, open: boolean, label: string): readonly string[] {
  const { rawHeaders } = request
  if (!mayHoldSecrets(request, open)) return rawHeaders
  return rawHeaders.map((item, index) =>
    index % 2 === 0 ? item : redactHeader(rawHeaders[index - 1] ?? '', item, label),
  )
}

/** Anything but one Authorization with an open key; a second one was not looked at. */
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

/** The request's body as the log keeps it. */
export function loggedBody({ body, headers }: ServiceRequest): string {
  if (body === undefined) return ''
  if (body === 'too-large') return '(larger than 1 MiB, not kept)'
  if (body === 'no-room') return '(no room for it, not kept)'
  const text = decoder.decode(body.length > LOG_BODY_CHARACTERS ? body.subarray(0, LOG_BODY_CHARACTERS) : body)
  const type = headers['content-type']
  return typeof type === 'string' && FORM.test(type) ? redactQuery(text) : text
}

const FORM = /^application\/x-www-form-urlencoded/i
