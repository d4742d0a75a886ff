import { BEARER, type KeyHeader } from '../contract/contract-data.js'
import type { ServiceRequest } from './messages.js'
import { MASK } from './redaction.js'

export type { KeyHeader } from '../contract/contract-data.js'

export function isBearer({ name }: KeyHeader): boolean {
  return name === BEARER.name
}

/**
 * The same request with its key as a bearer token, which is all that the core reads. The raw headers keep the header
 * with the key; other headers that may hold one are masked.
 */
export function withBearer(request: ServiceRequest, keyHeaders: readonly KeyHeader[]): ServiceRequest {
  const { authorization, ...others } = request.headers
  const headers: Record<string, string | readonly string[] | undefined> = others
  const names = keyHeaders.map(({ name }) => name.toLowerCase())
  const used = names.find((name) => headers[name] !== undefined)
  const sent = used === undefined ? undefined : headers[used]
  const own = typeof sent === 'string' ? `${BEARER.prefix}${sent.trim()}` : sent
  const token = used === undefined && keyHeaders.some(isBearer) ? authorization : own
  const kept = used ?? (token === undefined ? undefined : 'authorization')
  const secret = new Set(['authorization', ...names])
  for (const name of names) if (headers[name] !== undefined) headers[name] = MASK
  return {
    ...request,
    headers: token === undefined ? headers : { ...headers, authorization: token },
    rawHeaders: request.rawHeaders.map((item, index, all) => {
      const name = index % 2 === 0 ? '' : (all[index - 1]?.toLowerCase() ?? '')
      return secret.has(name) && name !== kept ? MASK : item
    }),
  }
}
