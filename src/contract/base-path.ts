/** Paths that no request to the service has: the control plane, and the names of spaces. */
export const RESERVED_PATH = /^\/(?:__sandbox(?:\/|$)|~|%7e)/i
/** @source RFC 3986, section 3.3 */
const PATH = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})+)*$/i

/** For relative addresses. */
export const BASE = 'http://sandbox'

/** @returns the path without a trailing slash; undefined if no request can have it */
export function readBasePath(path: string): string | undefined {
  const value = path.replace(/\/+$/, '')
  const isUsable = PATH.test(value) && !RESERVED_PATH.test(value) && new URL(value, BASE).pathname === (value || '/')
  return isUsable ? value : undefined
}
