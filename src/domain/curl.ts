import type { KeyHeader } from '../contract/contract-data.js'

/** Read from the user's environment. */
export const KEY_REFERENCE = '$PETSTORE_API_KEY'

/** Headers of the connection, or computed for each request: a client sends its own. */
export const CONNECTION_HEADERS: readonly string[] = [
  ...['accept-encoding', 'authorization', 'connection', 'content-length', 'expect', 'host', 'keep-alive'],
  ...['transfer-encoding', 'upgrade'],
]

interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: Iterable<readonly [name: string, value: string]>
  readonly body: string | undefined
  readonly keyHeaders: readonly KeyHeader[]
  readonly key?: string
}

/** A curl command: one quoted line for sh, with a reference instead of the key. */
export function curlCommand({ method, url, headers, body, keyHeaders, key = KEY_REFERENCE }: CurlRequest): string {
  const parts = ['curl', '-sS']
  if (/[[\]{}]/.test(url)) parts.push('-g')
  if (method === 'HEAD') parts.push('-I')
  else if (method !== 'GET') parts.push('-X', shellWord(method))
  for (const [name, value] of headers) {
    const keyHeader = keyHeaders.find((one) => one.name.toLowerCase() === name.toLowerCase())
    parts.push(
      '-H',
      keyHeader ? `"${name}: ${keyHeader.prefix}${key}"` : shellWord(value === '' ? `${name};` : `${name}: ${value}`),
    )
  }
  if (body !== undefined) parts.push('--data-raw', shellWord(body))
  return [...parts, shellWord(url)].join(' ')
}

const PLAIN = /^[\w@%+=:,./-]+$/

export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
