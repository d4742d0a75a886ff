/** @source RFC 9110, section 5.6.2: token */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Longer lists are ignored. */
const LONGEST_LIST = 4096

/**
 * Allows our headers and all requested ones, since unknown headers have no effect. Listed by name, because `*` does not
 * cover Authorization. @source Fetch standard, CORS-preflight fetch
 */
export function allowedHeaders(own: readonly string[], asked: string | undefined): string {
  if (asked === undefined || asked.length > LONGEST_LIST) return own.join(', ')
  const known = new Set(own.map((name) => name.toLowerCase()))
  const others = asked.split(',').map((name) => name.trim())
  return [...own, ...others.filter((name) => NAME.test(name) && !known.has(name.toLowerCase()))].join(', ')
}
