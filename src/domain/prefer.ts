/** The preference that forces an answer, with the value as sent. */
export interface ForcedCode {
  readonly code: string
}

/** Commas separate preferences, except inside quotes. */
const PREFERENCES = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g
const PREFERENCE = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/

/**
 * Finds `code=429` among the preferences of a Prefer header; others are ignored,
 * and of a repeated one the first counts.
 *
 * @source RFC 7240, section 2
 */
export function readForcedCode(prefer: string): ForcedCode | undefined {
  for (const [preference] of prefer.matchAll(PREFERENCES)) {
    const match = PREFERENCE.exec(preference)
    if (match?.[1]?.toLowerCase() === 'code') return { code: match[2] ?? match[3] ?? '' }
  }
  return undefined
}
