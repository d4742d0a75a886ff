import { MASK, redactHeader } from '../domain/redaction.js'

export type Header = readonly [name: string, value: string]

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Reads `Name: value`. @returns undefined if that is not a valid header */
export function readHeader(text: string): Header | undefined {
  const colon = text.indexOf(':')
  const name = text.slice(0, colon)
  const value = text.slice(colon + 1).trim()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no header may hold them
  return colon > 0 && NAME.test(name) && !/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/.test(value)
    ? [name, value]
    : undefined
}

/** The headers of a request. Given ones replace our own. */
export function requestHeaders({
  apiKey,
  hasBody,
  given,
  userAgent,
}: {
  readonly apiKey: string | undefined
  readonly hasBody: boolean
  readonly given: readonly Header[]
  readonly userAgent?: string
}): readonly Header[] {
  const own: Header[] = [['Accept', 'application/json']]
  if (apiKey !== undefined) own.push(['Authorization', `Bearer ${apiKey}`])
  if (hasBody) own.push(['Content-Type', 'application/json'])
  if (userAgent !== undefined) own.push(['User-Agent', userAgent])
  const replaced = new Set(given.map(([name]) => name.toLowerCase()))
  return [...own.filter(([name]) => !replaced.has(name.toLowerCase())), ...given]
}

/** Headers by their name in lower case, those of one name joined. @source RFC 9110, section 5.3 */
export function joinedHeaders(headers: readonly Header[]): Readonly<Record<string, string>> {
  const together = new Map<string, string>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    const before = together.get(key)
    together.set(key, before === undefined ? value : `${before}, ${value}`)
  }
  // Each becomes an own field, whatever it is called.
  return Object.fromEntries(together)
}

/** The headers with secrets masked. */
export function masked(headers: readonly Header[], bearer: string = MASK): readonly Header[] {
  return headers.map(([name, value]) => [name, redactHeader(name, value, bearer)])
}
