const EXAMPLE = 'https://staging.example/v1'

/**
 * Reads a base address. Its path is kept, a slash at its end is not.
 *
 * @returns the address, or how it must be: "must be …"
 */
export function readBaseAddress(text: string): { readonly baseUrl: string } | { readonly problem: string } {
  const form = `must be an http or https address such as ${EXAMPLE}`
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return { problem: form }
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { problem: form }
  if (hasCredentials(url)) return { problem: `${form}, without user and password` }
  if (/[?#]/.test(text)) return { problem: `${form}, without query and fragment` }
  return { baseUrl: url.origin + url.pathname.replace(/\/+$/, '') }
}

/** The path of a base address: `/v1`, empty if it has none. */
export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, '')
}

/** An intended address, safe to show: without a password or query. */
export function shownAddress(text: string): string {
  return JSON.stringify(text.replace(/\/\/[^/]*@/, '//…@').replace(/[?#].*$/s, '?…'))
}

export function isSameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin
}

/** The loopback addresses as URL writes them: all of 127.0.0.0/8, also as IPv6, and ::1. A name like 127.example is none. */
const LOOPBACK_ADDRESS = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/

/** Whether what is sent to an address stays on this machine. `.localhost` is reserved: RFC 6761, 6.3 */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address)
  return hostname === 'localhost' || hostname.endsWith('.localhost') || LOOPBACK_ADDRESS.test(hostname)
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== '' || password !== ''
}
