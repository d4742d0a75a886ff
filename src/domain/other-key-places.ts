import type { OtherKey } from '../contract/contract-data.js'
import { decodePercent } from '../contract/query.js'
import type { ServiceRequest } from './messages.js'

// For contracts whose key is in the query, in a cookie, in HTTP Basic, or bare in the Authorization header.

/** Undefined if the request has no key there. */
export function readOtherKey(
  { target, headers }: Pick<ServiceRequest, 'target' | 'headers'>,
  place: OtherKey,
): string | undefined {
  const { name } = place
  const authorization = typeof headers.authorization === 'string' ? headers.authorization.trim() : ''
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization) ?? []
  switch (place.in) {
    case 'basic': {
      const [, user, password] = /^([^:]*):(.*)$/s.exec(decodeBase64(encoded ?? '')) ?? []
      return password || user || undefined
    }
    case 'authorization':
      return encoded === undefined
        ? authorization.split(/\s+/).at(-1) || undefined
        : readOtherKey({ target, headers }, { ...place, in: 'basic' })
    case 'cookie': {
      const pairs = String(headers.cookie ?? '').split(/;\s*/)
      const found = pairs.find((pair) => pair.startsWith(`${name}=`))
      return found === undefined ? undefined : decodePercent(found.slice(name.length + 1))
    }
    case 'query': {
      let key: string | undefined
      replaceInQuery(target, name, (value) => {
        key = decodePercent(value)
        return value
      })
      return key
    }
  }
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
  if (encoded === undefined) return [target, 'authorization', [...credentials.split(/\s+/).slice(0, -1), key].join(' ')]
  const [user = '', password = ''] = decodeBase64(encoded).split(':')
  return [target, 'authorization', basicCredentials(password === '' || key.includes(':') ? key : `${user}:${key}`)]
}

/** @param key a user without a password, or both */
export function basicCredentials(key: string): string {
  return `Basic ${btoa(key.includes(':') ? key : `${key}:`)}`
}

export function replaceInQuery(target: string, name: string, replace: (value: string) => string): string {
  const start = target.indexOf('?') + 1
  if (start === 0) return target
  const pairs = target.slice(start).split('&')
  const replaced = pairs.map((pair) => {
    const equals = pair.indexOf('=')
    const isIt = equals !== -1 && decodePercent(pair.slice(0, equals)) === name
    return isIt ? pair.slice(0, equals + 1) + replace(pair.slice(equals + 1)) : pair
  })
  return target.slice(0, start) + replaced.join('&')
}

function decodeBase64(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}
