import type { KeyHeader } from '../contract/contract-data.js'
import { redactHeader } from '../domain/redaction.js'

export type Header = readonly [name: string, value: string]

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Reads `Name: value`. @returns undefined if it is not a valid header */
export function readHeader(text: string): Header | undefined {
  const colon = text.indexOf(':')
  const name = text.slice(0, colon)
  const value = text.slice(colon + 1).trim()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no header may hold them
  const isValid = colon > 0 && NAME.test(name) && !/[\u0000-\u0008\u000a-\u001f\u007f]|[^\u0000-\u00ff]/.test(value)
  return isValid ? [name, value] : undefined
}

export function requestHeaders({
  keys,
  contentType,
  given,
  userAgent,
}: {
  readonly keys: readonly Header[]
  /** Undefined without a body. */
  readonly contentType: string | undefined
  readonly given: readonly Header[]
  readonly userAgent?: string
}): readonly Header[] {
  const own: readonly (readonly [string, string | undefined])[] = [
    ['Accept', 'application/json'],
    ...keys,
    ['Content-Type', contentType],
    ['User-Agent', userAgent],
  ]
  const replaced = new Set(given.map(([name]) => name.toLowerCase()))
  const kept = own.flatMap(([name, value]): readonly Header[] =>
    value === undefined || replaced.has(name.toLowerCase()) ? [] : [[name, value]],
  )
  return [...kept, ...given]
}

/** Headers by name in lower case, repeated ones joined. @source RFC 9110, section 5.3 */
export function joinedHeaders(headers: readonly Header[]): Readonly<Record<string, string>> {
  const joined = new Map<string, string>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    const before = joined.get(key)
    joined.set(key, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(joined)
}

export function masked(headers: readonly Header[], keyHeaders: readonly KeyHeader[], key?: string): readonly Header[] {
  return headers.map(([name, value]) => [name, redactHeader(name, value, keyHeaders, key)])
}
