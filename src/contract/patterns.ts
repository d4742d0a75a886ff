export interface Pattern {
  /** The number of instructions, which bounds the time for a character. Default: 0 */
  readonly size?: number
  test(text: string): boolean
}

/** The anchors of Ruby and Python in the words of JavaScript. */
export function withAnchors(pattern: string): string {
  return pattern.replace(/\\(?:([AzZ])|.)/gs, (whole, anchor?: string) =>
    anchor === undefined ? whole : anchor === 'A' ? '^' : '$',
  )
}

export function nativePattern(pattern: string): Pattern | undefined {
  const [whole = '', inline = ''] = /^\(\?([ims]+)\)/.exec(pattern) ?? []
  for (const flags of ['u', ''])
    try {
      return new RegExp(withAnchors(pattern.slice(whole.length)), flags + inline)
    } catch {
      // Some patterns are valid only without the flag, such as [\w-.].
    }
  return undefined
}
