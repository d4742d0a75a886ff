/** Headers of the connection, not of what is sent over it. @source RFC 9110, section 7.6.1 */
const HOP_BY_HOP = 'connection|keep-alive|proxy-[a-z-]+|te|trailer|transfer-encoding|upgrade|http2-settings'
/**
 * Those of a request that are not sent on: of the connection; keys; what was said to the sandbox; what would make an
 * answer that is not whole; and what a browser adds for the origin of the sandbox.
 */
const NOT_SENT_ON = new RegExp(
  `^(?:${HOP_BY_HOP}|host|content-length|expect|authorization|prefer|accept-encoding|if-[a-z-]+|range|cookie2?|origin|referer|sec-[a-z-]+|access-control-[a-z-]+|via|x-sandbox-reason)$`,
  'i',
)
/** Those of an answer that are not passed on: of the connection or its origin, and what the sandbox says itself. */
const NOT_PASSED_ON = new RegExp(
  `^(?:${HOP_BY_HOP}|content-length|content-encoding|content-type|date|set-cookie2?|access-control-[a-z-]+|strict-transport-security|alt-svc|clear-site-data|nel|report-to|reporting-endpoints|public-key-pins|x-ratelimit-(?:limit|remaining|reset)|x-sandbox-reason|preference-applied)$`,
  'i',
)

/** What is known of a header by its name alone. */
interface HeaderKind {
  /** Its name in lower case. */
  readonly key: string
  readonly isSentOn: boolean
  readonly isPassedOn: boolean
}

/** Services and clients send the same few names again and again. */
const kinds = new Map<string, HeaderKind>()
const MOST_KINDS = 200

/** What is known of a header by its name, however that is written. */
export function headerKind(name: string): HeaderKind {
  const known = kinds.get(name)
  if (known !== undefined) return known
  const key = name.toLowerCase()
  const kind = { key, isSentOn: !NOT_SENT_ON.test(key), isPassedOn: !NOT_PASSED_ON.test(key) }
  if (kinds.size >= MOST_KINDS) kinds.clear()
  kinds.set(name, kind)
  return kind
}

/** The headers of a request that are sent on: a flat list. */
export function headersSentOn(headers: readonly string[]): readonly string[] {
  return those(headers, ({ isSentOn }) => isSentOn)
}

/** The headers of an answer that are passed on: a flat list. */
export function headersPassedOn(headers: readonly string[]): readonly string[] {
  return those(headers, ({ isPassedOn }) => isPassedOn)
}

/** Also without those that Connection names. */
function those(headers: readonly string[], isKept: (kind: HeaderKind) => boolean): readonly string[] {
  const kept: string[] = []
  const named: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const value = headers[i + 1] ?? ''
    const kind = headerKind(name)
    if (isKept(kind)) kept.push(name, value)
    else if (kind.key === 'connection') for (const one of value.split(',')) named.push(one.trim().toLowerCase())
  }
  if (named.every((name) => USUAL_OPTIONS.includes(name))) return kept
  return kept.filter((_item, place) => !named.includes(headerKind(kept[place - (place % 2)] ?? '').key))
}

/** What Connection says of most: no header that is kept. */
const USUAL_OPTIONS = ['close', 'keep-alive']
