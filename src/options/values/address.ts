import { BASE_ADDRESS_FORM, readBaseAddress } from '../../domain/base-address.js'
import { NAME, NAME_FORM } from '../../domain/keys.js'
import { REDIS_ADDRESS_FORM, readRedisAddress } from '../../domain/redis-address.js'
import { type ParseResult, patternSchema, textSchema } from './reading.js'

const HOST_FORM = 'must be an IP address or a host name, without scheme and port'
const HOST_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/

/** IPv6 addresses may be in brackets, as in URLs. */
export function readHost(text: string): ParseResult<string> {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (isIPv4(bare) || isIPv6(bare)) return { value: bare }
  // Only digits and dots is a mistyped address: 127.0.0.1.1
  return HOST_NAME.test(text) && !/^[\d.]+$/.test(text) ? { value: text } : { problem: HOST_FORM }
}

export function isLoopback(host: string): boolean {
  return host === '::1' || host.toLowerCase() === 'localhost' || (isIPv4(host) && host.startsWith('127.'))
}

function isIPv4(text: string): boolean {
  return /^[\d.]+$/.test(text) && URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text
}

function isIPv6(text: string): boolean {
  // A zone may follow: fe80::1%eth0
  const [, address] = /^([\da-f:.]+)(?:%[\w.-]+)?$/i.exec(text) ?? []
  return URL.canParse(`http://[${address}]`)
}

/** Without a trailing slash. */
export const baseUrlSchema = textSchema(BASE_ADDRESS_FORM, readBaseAddress)

export const hostSchema = textSchema(HOST_FORM, readHost)

const TOKEN_FORM = 'must consist of letters, digits and . _ ~ - + /, with = only at the end'

/** @source RFC 6750, section 2.1: b64token */
export const tokenSchema = patternSchema(/^[A-Za-z0-9._~+/-]+=*$/, TOKEN_FORM)

/** Kept as text: it may have a password, which only the Redis client reads. */
export const redisAddressSchema = textSchema(REDIS_ADDRESS_FORM, (text) => {
  const address = readRedisAddress(text)
  return 'problem' in address ? address : { value: text }
})

const GROUP_FORM = `must be the name of a group: ${NAME_FORM}`

export const groupSchema = patternSchema(NAME, GROUP_FORM)
