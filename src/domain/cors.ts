/** What a header can be called. @source RFC 9110, section 5.6.2: token */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** More than any client asks for; what is longer is not repeated. */
const LONGEST_LIST = 4096

/**
 * The headers that a preflight allows: our own, and whatever else it asks for,
 * since an unknown header changes no answer (tracing adds `traceparent`, a
 * client `X-Request-Id`).
 *
 * They are named one by one: a `*` does not cover Authorization, and means
 * nothing to older browsers.
 *
 * @param asked Access-Control-Request-Headers
 * @source Fetch standard, CORS-preflight fetch
 */
export function allowedHeaders(own: readonly string[], asked: string | undefined): string {
  if (asked === undefined || asked.length > LONGEST_LIST) return own.join(', ')
  const known = new Set(own.map((name) => name.toLowerCase()))
  const others = asked.split(',').map((name) => name.trim())
  return [...own, ...others.filter((name) => NAME.test(name) && !known.has(name.toLowerCase()))].join(', ')
}
