import { isSpaceName } from '../domain/space-name.js'

/** An API key as sent, taken apart: `sandbox-pro~checkout` is the key `sandbox-pro` in the space `checkout`. */
export interface SentKey {
  /** Empty if what was sent cannot be a key. */
  readonly token: string
  /** Empty for the default space. */
  readonly space: string
}

/** Separates a key from its space; no key contains it. */
const SPACE_MARK = '~'

const NO_KEY: SentKey = { token: '', space: '' }

/**
 * Reads the Authorization header.
 *
 * @returns undefined if no bearer token was sent at all (another scheme counts as none)
 * @source RFC 6750, section 2.1; RFC 9110, section 11.1: the scheme is case-insensitive
 */
export function readAuthorization(header: string | undefined): SentKey | undefined {
  if (header === undefined) return undefined
  const token = bearerToken(header.trim())
  if (token === '') return undefined
  const mark = token.indexOf(SPACE_MARK)
  if (mark === -1) return { token, space: '' }
  const space = token.slice(mark + 1)
  return isSpaceName(space) ? { token: token.slice(0, mark), space } : NO_KEY
}

/** How nearly every client writes it; a regular expression handles the others. */
const USUAL_START = 'Bearer '

/** @returns '' if there is none */
function bearerToken(header: string): string {
  if (header.startsWith(USUAL_START) && header[USUAL_START.length] !== ' ') return header.slice(USUAL_START.length)
  const [, token = ''] = /^bearer(?: +(.*))?$/i.exec(header) ?? []
  return token
}
