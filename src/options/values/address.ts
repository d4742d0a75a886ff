import { isIPv4, isIPv6 } from 'node:net'
import { type ParseResult, textSchema } from './reading.js'

const HOST_FORM = 'must be an IP address or a host name, without scheme and port'
const HOST_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/

/** Reads a host to listen on. IPv6 addresses may be in brackets, as in URLs. */
export function readHost(text: string): ParseResult<string> {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (isIPv4(bare) || isIPv6(bare)) return { value: bare }
  // Only digits and dots means a mistyped address: 127.0.0.1.1
  return HOST_NAME.test(text) && !/^[\d.]+$/.test(text) ? { value: text } : { problem: HOST_FORM }
}

/** Whether only this machine can reach a host. */
export function isLoopback(host: string): boolean {
  return host === '::1' || host.toLowerCase() === 'localhost' || (isIPv4(host) && host.startsWith('127.'))
}

const BASE_URL_FORM = 'must be an http or https address such as https://staging.example/v1'

/** A base address, without a slash at its end. */
export const baseUrlSchema = textSchema<string>(BASE_URL_FORM, (text) => {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) return { problem: BASE_URL_FORM }
  const { origin, pathname, username, password } = new URL(text)
  if (username !== '' || password !== '') return { problem: `${BASE_URL_FORM}, without user and password` }
  if (/[?#]/.test(text)) return { problem: `${BASE_URL_FORM}, without query and fragment` }
  return { value: origin + pathname.replace(/\/+$/, '') }
})

export const hostSchema = textSchema(HOST_FORM, readHost)

const TOKEN_FORM = 'must consist of letters, digits and . _ ~ - + /, with = only at the end'

/** The control plane's bearer token. @source RFC 6750, section 2.1: b64token */
export const tokenSchema = textSchema<string>(TOKEN_FORM, (text) =>
  /^[A-Za-z0-9._~+/-]+=*$/.test(text) ? { value: text } : { problem: TOKEN_FORM },
)
