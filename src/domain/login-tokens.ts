/** Header and payload of a JWT without a signature. @source RFC 7519, section 6 */
const JWT_START = `${encoded({ alg: 'none', typ: 'JWT' })}.`

/** `sandbox-login-3-1772370000`; with a space, `sandbox-login-3-1772370000-checkout`. */
const TOKEN = /^sandbox-login-([1-9]\d{0,14})-(\d{1,12})(?:-([\w.-]+))?$/

/** @param expiresAt seconds since 1970 */
export function loginToken(n: number, space: string, expiresAt: number): string {
  return `sandbox-login-${n}-${expiresAt}${space === '' ? '' : `-${space}`}`
}

/** @param expiresAt seconds since 1970 */
export function loginJwt(n: number, space: string, expiresAt: number): string {
  return `${JWT_START}${encoded({ sub: 'sandbox', n, ...(space !== '' && { space }), exp: expiresAt })}.`
}

export interface Login {
  readonly n: number
  readonly space: string
  /** Seconds since 1970. */
  readonly expiresAt: number
}

/** The login that a token is of, if the form is that of one. */
export function readLogin(token: string): Login | undefined {
  const [, number, expiresAt, space = ''] = TOKEN.exec(token) ?? []
  if (number !== undefined) return { n: Number(number), space, expiresAt: Number(expiresAt) }
  if (!token.startsWith(JWT_START) || !token.endsWith('.')) return undefined
  try {
    const text = token.slice(JWT_START.length, -1).replaceAll('-', '+').replaceAll('_', '/')
    const { sub, n, space: of = '', exp }: Readonly<Record<string, unknown>> = Object(JSON.parse(atob(text)))
    return sub === 'sandbox' && Number.isSafeInteger(n)
      ? { n: Number(n), space: String(of), expiresAt: Number(exp) }
      : undefined
  } catch {
    return undefined
  }
}

function encoded(part: object): string {
  return btoa(JSON.stringify(part)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
