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

const PART_NAME = /^content-disposition:[^\n]*[\s;]name="([^"]*)"/im

/** The fields of a form; files are texts. @source RFC 7578: multipart/form-data */
export function formPairs(text: string, contentType: string): readonly QueryPair[] {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(contentType) ?? []
  const boundary = quoted ?? bare
  if (boundary === undefined) return readPairs(text)
  return text
    .split(`--${boundary}`)
    .slice(1, -1)
    .flatMap((part) => {
      const [head = '', ...body] = part.split('\r\n\r\n')
      const [, name] = PART_NAME.exec(head) ?? []
      return name === undefined ? [] : [[name, body.join('\r\n\r\n').replace(/\r\n$/, '')] as const]
    })
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
