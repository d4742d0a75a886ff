/** A key as a command refers to it: its reader has it in the environment. */
export const KEY_REFERENCE = '$PETSTORE_API_KEY'

interface CurlRequest {
  readonly method: string
  readonly url: string
  readonly headers: Iterable<readonly [name: string, value: string]>
  readonly body: string | undefined
  /** What stands for the key, as sh writes it. */
  readonly key?: string
}

/**
 * A request as a curl command, one line for sh. All of it is quoted, since it may
 * come from others; in place of what authorizes it stands a reference to the key.
 */
export function curlCommand({ method, url, headers, body, key = KEY_REFERENCE }: CurlRequest): string {
  const parts = ['curl', '-sS']
  // Brackets would be ranges to curl.
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

/** A text as one word of sh. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
