/** Where both pages keep the control token: for this tab only, and gone with it. */
const KEPT_AS = 'petstore-sandbox.control-token'

/** Fallback if the browser denies storage. */
let remembered: string | null = null

/** The control token that was entered in this tab, null before that. */
export function controlToken(): string | null {
  try {
    return sessionStorage.getItem(KEPT_AS) ?? remembered
  } catch {
    return remembered
  }
}

/** Keeps the token for both pages; null forgets it, for example when the sandbox rejects it. */
export function keepControlToken(token: string | null): void {
  remembered = token
  try {
    if (token === null) sessionStorage.removeItem(KEPT_AS)
    else sessionStorage.setItem(KEPT_AS, token)
  } catch {
    // The storage is denied: the token is asked for again on the next page.
  }
}

/** Headers of every request to the control plane. */
export function controlHeaders(): Record<string, string> {
  const token = controlToken()
  return token === null ? {} : { Authorization: `Bearer ${token}` }
}
