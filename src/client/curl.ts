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

/** The request as a curl command. The key stays in the environment. */
export function toCurl({ url, headers, body, ...request }: ShownRequest): string {
  const text = body && Buffer.from(body).toString('utf8')
  return curlCommand({ ...request, url: redactAddress(url), headers: masked(headers), body: text })
}

/** As it would be sent, except for the key. */
export function toHttpText({ method, url, headers, body }: ShownRequest): string {
  const lines = [
    `${method} ${redactAddress(url)}`,
    ...masked(headers, KEY_REFERENCE).map(([name, value]) => `${name}: ${value}`),
  ]
  return body === undefined ? lines.join('\n') : [...lines, '', Buffer.from(body).toString('utf8')].join('\n')
}
