import { LOG_BODY_CHARACTERS } from './exchange-log.js'
import type { ServiceRequest } from './message.js'

/** What of a request may be kept in the log. */
const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key'])
/** One bit for each length of a secret's name, as most names can be told by that. */
const SECRET_LENGTHS = [...SECRET_HEADERS].reduce((bits, { length }) => bits | (1 << length), 0)
const AUTHORIZATION_LENGTH = 'authorization'.length

/**
 * The request's headers as the log may keep them: nothing in them can be a
 * secret of somebody's. A token is shown by its label.
 *
 * @param known the caller's key is one of the sandbox's own, which is no secret
 */
export function loggedHeaders(request: ServiceRequest, known: boolean, label: string): readonly string[] {
  const { rawHeaders } = request
  if (!hasSecrets(rawHeaders, known)) return rawHeaders
  return rawHeaders.map((item, index) => {
    if (index % 2 === 0) return item
    const name = rawHeaders[index - 1]?.toLowerCase() ?? ''
    if (name === 'authorization') return `Bearer ${label}`
    return SECRET_HEADERS.has(name) ? '***' : item
  })
}

/** Anything but one Authorization with a key of our own; a second one was not looked at. */
function hasSecrets(rawHeaders: readonly string[], known: boolean): boolean {
  let authorizations = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if ((SECRET_LENGTHS & (1 << name.length)) === 0 || !SECRET_HEADERS.has(name.toLowerCase())) continue
    if (!known || name.length !== AUTHORIZATION_LENGTH || ++authorizations > 1) return true
  }
  return false
}

const decoder = new TextDecoder()

/** The request's body as the log keeps it. */
export function loggedBody({ body }: ServiceRequest): string {
  if (body === undefined) return ''
  if (body === 'too-large') return '(larger than 1 MiB, not kept)'
  return decoder.decode(body.length > LOG_BODY_CHARACTERS ? body.subarray(0, LOG_BODY_CHARACTERS) : body)
}
