export type QueryPair = readonly [name: string, value: string]

/** `+` and `%20` are spaces, an invalid percent sign stays. */
export function readPairs(search: string): readonly QueryPair[] {
  const pairs: QueryPair[] = []
  for (const part of search.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = equals === -1 ? part : part.slice(0, equals)
    const value = equals === -1 ? '' : part.slice(equals + 1)
    pairs.push([decodeForm(name), decodeForm(value)])
  }
  return pairs
}

function decodeForm(text: string): string {
  return decodePercent(text.includes('+') ? text.replaceAll('+', ' ') : text)
}

/** Text with an invalid encoding stays unchanged. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
