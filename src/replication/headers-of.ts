import type { ServiceRequest } from '../domain/messages.js'

/** Of these, Node keeps the first that came. */
const ONCE: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
])

/** Makes the headers of a request of its raw ones, as node:http does. @source Node.js, message.headers */
export function headersOf(rawHeaders: readonly string[]): ServiceRequest['headers'] {
  const headers: Record<string, string | string[]> = {}
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    const value = rawHeaders[i + 1] ?? ''
    if (name === '__proto__') continue
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined
    if (name === 'set-cookie') headers[name] = [...(Array.isArray(before) ? before : []), value]
    else if (before === undefined) headers[name] = value
    else if (!ONCE.has(name)) headers[name] = `${before}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  return headers
}
