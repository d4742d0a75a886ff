export const SPACE_MEMBER = 'sandbox-space'

/**
 * The value of `sandbox-space` in a `baggage` header, percent-decoded and without properties. Different values are joined
 * by a comma, which no name contains. Other members may be malformed. Undefined without the member.
 *
 * @source W3C Baggage, section 3.3: baggage-string
 */
export function readSpace(header: unknown): string | undefined {
  if (typeof header !== 'string' || !header.includes(SPACE_MEMBER)) return undefined
  const values = header.split(',').flatMap((member) => {
    const [, value] = /^[ \t]*sandbox-space[ \t]*=([^;]*)/.exec(member) ?? []
    return value === undefined ? [] : [decoded(value.trim())]
  })
  return values.length === 0 ? undefined : [...new Set(values)].join()
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
