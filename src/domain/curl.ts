/** The key, from the environment of the reader. */
export const KEY_REFERENCE = '$PETSTORE_API_KEY'

interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: Iterable<readonly [name: string, value: string]>
  readonly body: string | undefined
  /** Replaces the key, in sh syntax. */
  readonly key?: string
}

/** A request as a curl command: one line for sh, quoted, with a reference to the key instead of the key. */
export function curlCommand({ method, url, headers, body, key = KEY_REFERENCE }: CurlRequest): string {
  const parts = ['curl', '-sS']
  // curl expands brackets as ranges.
  if (/[[\]{}]/.test(url)) parts.push('-g')
  if (method === 'HEAD') parts.push('-I')
  else if (method !== 'GET') parts.push('-X', shellWord(method))
  for (const [name, value] of headers) {
    const isKey = name.toLowerCase() === 'authorization'
    parts.push('-H', isKey ? `"${name}: Bearer ${key}"` : shellWord(value === '' ? `${name};` : `${name}: ${value}`))
  }
  if (body !== undefined) parts.push('--data-raw', shellWord(body))
  return [...parts, shellWord(url)].join(' ')
}

const PLAIN = /^[\w@%+=:,./-]+$/

/** Quotes a text as one word for sh. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
