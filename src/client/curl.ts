import { curlCommand, KEY_REFERENCE } from '../domain/curl.js'
import { redactAddress } from '../domain/redaction.js'
import { type Header, masked } from './headers.js'

/** A request with its address, as it would go out. */
export interface ShownRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly Header[]
  readonly body: Uint8Array | undefined
}

/**
 * The request as a curl command. The key stays in the environment.
 *
 * @param fallback the key where the environment has none; only one that is no secret
 */
export function toCurl({ url, headers, body, ...request }: ShownRequest, fallback?: string): string {
  const text = body && Buffer.from(body).toString('utf8')
  const key = fallback === undefined ? {} : { key: `\${${KEY_REFERENCE.slice(1)}:-${fallback}}` }
  return curlCommand({ ...request, url: redactAddress(url), headers: masked(headers), body: text, ...key })
}

/** As it would be sent, except for the key. */
export function toHttpText({ method, url, headers, body }: ShownRequest): string {
  const lines = [
    `${method} ${redactAddress(url)}`,
    ...masked(headers, KEY_REFERENCE).map(([name, value]) => `${name}: ${value}`),
  ]
  return body === undefined ? lines.join('\n') : [...lines, '', Buffer.from(body).toString('utf8')].join('\n')
}
