/** Read from the user's environment. */
export const KEY_REFERENCE = '$PETSTORE_API_KEY'

interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: Iterable<readonly [name: string, value: string]>
  readonly body: string | undefined
  readonly key?: string
}

/** A curl command: one quoted line for sh, with a reference instead of the key. */
export function curlCommand({ method, url, headers, body, key = KEY_REFERENCE }: CurlRequest): string {
  const parts = ['curl', '-sS']
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

export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
