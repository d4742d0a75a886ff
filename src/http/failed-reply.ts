import type { Reply } from '../domain/messages.js'
import { errorBody, PROBLEMS } from '../domain/problems.js'
import { utf8Length } from '../system/utf8.js'

/** Headers that every answer of the service has, whatever else is wrong with this one. */
const COMMON = /^(?:Date|Vary|X-RateLimit-\w+|Access-Control-[\w-]+)$/

/** What may stand in a header. @source RFC 9110, section 5.5: field-content, obs-text, and what Node lets pass */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/

/** What is sent instead of a reply that must not, or cannot, be sent: a 500 with the headers that every answer has. */
export function failedReply(reply: Reply, message: string = PROBLEMS.internal_error.message): Reply {
  const { status } = PROBLEMS.internal_error
  const body = errorBody('internal_error', message, status)
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(utf8Length(body))]
  for (let i = 0; i < reply.headers.length; i += 2) {
    const [name = '', value = ''] = reply.headers.slice(i, i + 2)
    if (COMMON.test(name) && SENDABLE.test(value)) headers.push(name, value)
  }
  return { ...reply, status, headers, body, binary: undefined, fault: undefined }
}
