export interface Pattern {
  test(text: string): boolean
}

/** For ajv, which keeps one pattern for each text, and requires `code` only for validators that are written to a file. */
export function asRegExp(find: (pattern: string) => Pattern | undefined) {
  const compile = (pattern: string) => {
    const found = find(pattern)
    return { test: (text: string) => found?.test(text) ?? true, toString: () => `/${pattern}/` }
  }
  return Object.assign(compile, { code: 'pattern' })
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
