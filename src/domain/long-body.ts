/** A body that is too long to be held as a text by each who reads it: it is made in pieces while it is sent. */
export interface LongBody {
  /** From its beginning, each time. */
  pieces(): Iterable<string>
}

/** So much of a body is made, and is on its way to a reader, at a time. */
export const SLICE_CHARACTERS = 64 * 1024

/** A body in slices of that length; no character is cut in two. */
export function* slicesOf(body: string | LongBody): Generator<string, undefined> {
  let rest = ''
  for (const piece of typeof body === 'string' ? [body] : body.pieces()) {
    rest += piece
    while (rest.length > SLICE_CHARACTERS) {
      const end = isHighSurrogate(rest.charCodeAt(SLICE_CHARACTERS - 1)) ? SLICE_CHARACTERS - 1 : SLICE_CHARACTERS
      yield rest.slice(0, end)
      rest = rest.slice(end)
    }
  }
  if (rest !== '') yield rest
}

/** A body as one text. */
export function textOf(body: string | LongBody): string {
  return typeof body === 'string' ? body : [...body.pieces()].join('')
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The beginning of a body, and nothing that would keep the rest of it in memory. */
export function startOf(body: string | LongBody, characters: number): string {
  if (typeof body === 'string' && body.length <= characters) return body
  let start = ''
  for (const slice of slicesOf(body)) {
    start += slice
    if (start.length >= characters) break
  }
  // V8 cuts a text by pointing into it; the detour makes a new one.
  return decoder.decode(encoder.encode(start.slice(0, characters)))
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
