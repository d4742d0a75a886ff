import { BEARER, type OtherKey } from '../contract/contract-data.js'
import { decodePercent } from '../contract/query.js'
import type { ServiceRequest } from './messages.js'
import { MASK } from './redaction.js'

/** The same request with the key of another place, masked there, as a bearer token. */
export function withOtherKey(request: ServiceRequest, { in: place, name }: OtherKey): ServiceRequest {
  const { target, headers } = request
  const asBearer = (token: string, changed: Partial<ServiceRequest> = {}) => ({
    ...request,
    ...changed,
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
  const masked = target.replace(/([?&])([^=&#]*)=([^&#]*)/g, (whole, mark: string, own: string, value: string) => {
    if (decodePercent(own) !== name) return whole
    token = decodePercent(value)
    return `${mark}${own}=${MASK}`
  })
  return token === undefined ? request : asBearer(token, { target: masked })
}

function decodeBase64(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}
