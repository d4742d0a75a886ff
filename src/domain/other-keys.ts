import { BEARER, type OtherKey } from '../contract/contract-data.js'
import { decodePercent } from '../contract/query.js'
import type { ServiceRequest } from './messages.js'
import { MASK } from './redaction.js'

/** The same request with the key of another place, masked there, as a bearer token. */
export function withOtherKey(request: ServiceRequest, keyPlace: OtherKey): ServiceRequest {
  const { in: place, name } = keyPlace
  const { target, headers } = request
  const asBearer = (token: string, changed: Partial<ServiceRequest> = {}) => ({
    ...request,
    ...changed,
    keyPlace,
    headers: { ...headers, authorization: `${BEARER.prefix}${token}` },
  })
  const authorization = typeof headers.authorization === 'string' ? headers.authorization : undefined
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization ?? '') ?? []
  if (encoded !== undefined && (place === 'basic' || place === 'authorization')) {
    const [user = '', ...password] = decodeBase64(encoded).split(':')
    return asBearer(password.join(':') || user)
  }
  if (place === 'basic') return request
  if (place === 'authorization') {
    const [token] = /\S+$/.exec(authorization?.trim() ?? '') ?? []
    return token === undefined ? request : asBearer(token)
  }
  if (place === 'cookie') {
    const pairs = String(headers.cookie ?? '').split(/;\s*/)
    const found = pairs.find((pair) => pair.startsWith(`${name}=`))
    return found === undefined ? request : asBearer(decodePercent(found.slice(name.length + 1)))
  }
  let token: string | undefined
  const masked = replaceInQuery(target, name, (value) => {
    token = decodePercent(value)
    return MASK
  })
  return token === undefined ? request : asBearer(token, { target: masked })
}

/**
 * Puts a key where the client had its own.
 * @param target has a masked key if it was in the query @param credentials the client's Authorization header
 * @returns the target, with a header unless the key is in the query
 */
export function placeKey(
  key: string,
  { in: place, name }: OtherKey,
  target: string,
  credentials: string,
): readonly [target: string, ...header: string[]] {
  if (place === 'query') return [replaceInQuery(target, name, () => encodeURIComponent(key))]
  if (place === 'cookie') return [target, 'cookie', `${name}=${encodeURIComponent(key)}`]
  const [, encoded] = /^basic +(\S+)$/i.exec(credentials) ?? []
  if (encoded === undefined) return [target, 'authorization', credentials.replace(/\S+$/, () => key)]
  const [user = '', password = ''] = decodeBase64(encoded).split(':')
  const replaced = password === '' ? `${key}:` : `${user}:${key}`
  return [target, 'authorization', `Basic ${btoa(key.includes(':') ? key : replaced)}`]
}

function replaceInQuery(target: string, name: string, replace: (value: string) => string): string {
  return target.replace(/([?&])([^=&#]*)=([^&#]*)/g, (whole, mark: string, own: string, value: string) =>
    decodePercent(own) === name ? `${mark}${own}=${replace(value)}` : whole,
  )
}

function decodeBase64(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}
