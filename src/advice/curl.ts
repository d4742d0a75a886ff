import type { KeyHeader } from '../contract/contract-data.js'

/** Read from the user's environment. */
export const KEY_REFERENCE = '$PETSTORE_API_KEY'

/** With or without a default: `${PETSTORE_API_KEY:-sandbox}`. */
const REFERENCE = /^\$(?:PETSTORE_API_KEY|\{PETSTORE_API_KEY:-[\w.~-]+\})$/

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
  /** What the key follows in the query: `api_key=`. */
  readonly keyQuery?: string
}

/** A curl command: one quoted line for sh, with a reference instead of the key. */
export function curlCommand(request: CurlRequest): string {
  const { method, url, headers, body, keyHeaders, key = KEY_REFERENCE, keyQuery = '' } = request
  const keyWord = REFERENCE.test(key) ? `"${key}"` : shellWord(key)
  const parts = ['curl', '-sS']
  if (/[[\]{}]/.test(url)) parts.push('-g')
  if (method === 'HEAD' && body === undefined) parts.push('-I')
  else if (method !== 'GET' || body !== undefined) parts.push('-X', shellWord(method))
  for (const [name, value] of headers) {
    const keyHeader = keyHeaders.find((header) => header.name.toLowerCase() === name.toLowerCase())
    parts.push('-H')
    if (keyHeader === undefined) parts.push(shellWord(value === '' ? `${name};` : `${name}: ${value}`))
    else if (!REFERENCE.test(key)) parts.push(shellWord(`${name}: ${keyHeader.prefix}${key}`))
    // In double quotes the shell replaces the reference, but also what a contract may have put before it.
    else if (/^[\w =-]+$/.test(name + keyHeader.prefix)) parts.push(`"${name}: ${keyHeader.prefix}${key}"`)
    else parts.push(shellWord(`${name}: ${keyHeader.prefix}`) + keyWord)
  }
  if (body !== undefined) parts.push('--data-raw', shellWord(body))
  return [...parts, withKeyQuery(url, keyQuery, keyWord, shellWord)].join(' ')
}

/** @param keyQuery `a=&b=`, for a key after each */
export function withKeyQuery(url: string, keyQuery: string, key: string, quote = (text: string) => text): string {
  const [first = '', ...rest] = keyQuery.split(/(?<==)/)
  if (first === '') return quote(url)
  return [`${url}${url.includes('?') ? '&' : '?'}${first}`, ...rest].map((text) => quote(text) + key).join('')
}

const PLAIN = /^[\w@%+=:,./-]+$/

/** A command to copy and paste. Contracts and clients choose some of its words. */
export function shellCommand(...words: readonly string[]): string {
  return words.map(shellWord).join(' ')
}

/** For sh, bash, zsh and fish. Fish reads a backslash as an escape even in single quotes, so it stands outside of them. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll(/['\\]/g, (character) => `'\\${character}'`)}'`
}
