import { LOG_BODY_CHARACTERS } from './exchange-log.js'
import type { ServiceRequest } from './message.js'

/** What of a request may be kept in the log. */
const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key'])

/**
 * The request's headers as the log may keep them: nothing in them can be a
 * secret of somebody's. A token is shown by its label.
 *
 * @param known the caller's key is one of the sandbox's own, which is no secret
 */
export function loggedHeaders(request: ServiceRequest, known: boolean, label: string): readonly string[] {
  const { headers, rawHeaders } = request
  const hasOthers =
    headers.cookie !== undefined || headers['proxy-authorization'] !== undefined || headers['x-api-key'] !== undefined
  if (!hasOthers && (known || headers.authorization === undefined)) return rawHeaders
  return rawHeaders.map((item, index) => {
    if (index % 2 === 0) return item
    const name = rawHeaders[index - 1]?.toLowerCase() ?? ''
    if (!SECRET_HEADERS.has(name) || (known && name === 'authorization')) return item
    return name === 'authorization' ? `Bearer ${label}` : '***'
  })
}

const decoder = new TextDecoder()

/** The request's body as the log keeps it. */
export function loggedBody({ body }: ServiceRequest): string {
  if (body === undefined) return ''
  if (body === 'too-large') return '(larger than 1 MiB, not kept)'
  return decoder.decode(body.length > LOG_BODY_CHARACTERS ? body.subarray(0, LOG_BODY_CHARACTERS) : body)
}
