import { redactAddress } from '../domain/redaction.js'
import { type Header, KEY_REFERENCE, masked } from './headers.js'

/** A request with its address, as it would go out. */
export interface ShownRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly Header[]
  readonly body: Uint8Array | undefined
}

const PLAIN = /^[\w@%+=:,./-]+$/

/** The request as a curl command, one line for sh. The key stays in the environment. */
export function toCurl({ method, url, headers, body }: ShownRequest): string {
  const parts = ['curl', '-sS']
  // Brackets would be ranges to curl.
  if (/[[\]{}]/.test(url)) parts.push('-g')
  if (method === 'HEAD') parts.push('-I')
  else if (method !== 'GET') parts.push('-X', quote(method))
  for (const [name, value] of masked(headers, KEY_REFERENCE)) {
    parts.push(
      '-H',
      value.includes(KEY_REFERENCE) ? `"${name}: ${value}"` : quote(value === '' ? `${name};` : `${name}: ${value}`),
    )
  }
  if (body !== undefined) parts.push('--data-raw', quote(Buffer.from(body).toString('utf8')))
  return [...parts, quote(redactAddress(url))].join(' ')
}

/** As it would be sent, except for the key. */
export function toHttpText({ method, url, headers, body }: ShownRequest): string {
  const lines = [
    `${method} ${redactAddress(url)}`,
    ...masked(headers, KEY_REFERENCE).map(([name, value]) => `${name}: ${value}`),
  ]
  return body === undefined ? lines.join('\n') : [...lines, '', Buffer.from(body).toString('utf8')].join('\n')
}

function quote(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
