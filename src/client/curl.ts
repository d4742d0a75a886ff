import { curlCommand, KEY_REFERENCE } from '../domain/curl.js'
import { redactAddress } from '../domain/redaction.js'
import type { ClientRequest } from './exchange.js'
import { masked } from './headers.js'

/** The request as a curl command; the key stays in the environment. @param fallback a key that is not a secret */
export function toCurl({ url, headers, body, ...request }: ClientRequest, fallback?: string): string {
  const text = body && Buffer.from(body).toString('utf8')
  const key = fallback === undefined ? {} : { key: `\${${KEY_REFERENCE.slice(1)}:-${fallback}}` }
  return curlCommand({ ...request, url: redactAddress(url), headers: masked(headers), body: text, ...key })
}

export function toHttpText({ method, url, headers, body }: ClientRequest): string {
  const lines = masked(headers, KEY_REFERENCE).map(([name, value]) => `${name}: ${value}`)
  const text = body === undefined ? [] : ['', Buffer.from(body).toString('utf8')]
  return [`${method} ${redactAddress(url)}`, ...lines, ...text].join('\n')
}
