import { readAuthorization } from '../core/authorization.js'
import type { Spaces } from '../core/spaces.js'
import type { ServiceRequest } from '../domain/messages.js'
import { digestOf } from '../system/digest.js'

/**
 * A request without a token that the sandbox does not know, since it may be somebody's
 * real key: it is written into no log. What stands in its place is answered in the same way.
 *
 * @returns the same request where its token is known
 */
export function withoutStrangersToken(request: ServiceRequest, spaces: Spaces): ServiceRequest {
  const { authorization } = request.headers
  if (authorization === undefined) return request
  const sent = readAuthorization(typeof authorization === 'string' ? authorization : undefined)
  const { keys, anyKey } = spaces.default
  if (sent === undefined) return withAuthorization(request, 'Other ***')
  const { token, space } = sent
  if (keys.has(token) && isOnce(request)) return request
  if (keys.has(token)) return withAuthorization(request, authorization)
  // What follows a stranger's "~" may be the rest of a key; of a space that is open, it is its name.
  const isSpace = space !== '' && spaces.get(space) !== undefined
  const stranger = token === '' ? '' : isSpace ? token : String(authorization)
  const shown = anyKey && stranger !== '' ? `stranger-${digestOf(stranger).replaceAll(/\W/g, '')}` : 'unknown'
  return withAuthorization(request, `Bearer ${token === '' ? '~' : shown}${isSpace ? `~${space}` : ''}`)
}

function isOnce({ rawHeaders }: ServiceRequest): boolean {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization').length < 2
}

function withAuthorization(request: ServiceRequest, value: string | readonly string[]): ServiceRequest {
  const { headers, rawHeaders } = request
  let isFirst = true
  const written = rawHeaders.map((item, index) => {
    if (index % 2 === 0 || rawHeaders[index - 1]?.toLowerCase() !== 'authorization') return item
    const shown = isFirst ? String(value) : 'Other ***'
    isFirst = false
    return shown
  })
  return { ...request, headers: { ...headers, authorization: value }, rawHeaders: written }
}
