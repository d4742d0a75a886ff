export const BASE_ADDRESS_FORM = 'must be an http or https address such as https://staging.example/v1'
/** As URL writes them: 127.0.0.0/8, also as IPv6, and ::1. A name like 127.example does not match. */
const LOOPBACK_ADDRESS = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/

/** Keeps the path, without a trailing slash. @returns otherwise the problem: "must be …" */
export function readBaseAddress(text: string): { readonly value: string } | { readonly problem: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return { problem: BASE_ADDRESS_FORM }
  if (url.username !== '' || url.password !== '') return { problem: `${BASE_ADDRESS_FORM}, without user and password` }
  if (/[?#]/.test(text)) return { problem: `${BASE_ADDRESS_FORM}, without query and fragment` }
  return { value: url.origin + url.pathname.replace(/\/+$/, '') }
}

export function basePathIn(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, '')
}

/** An address for messages: without password and query. */
export function shownAddress(text: string): string {
  return JSON.stringify(text.replace(/\/\/[^/]*@/, '//…@').replace(/[?#].*$/s, '?…'))
}

export function isSameOrigin(a: string, b: string): boolean {
  return new URL(a).origin === new URL(b).origin
}

/**
 * The service of a running sandbox. Applications are configured with the same variable, and it may name production: it
 * counts only for the path.
 * @param given PETSTORE_BASE_URL
 */
export function serviceAt(controlUrl: string, given: string | undefined, basePath: string): string {
  const service = readBaseAddress(given ?? '')
  if ('value' in service && isSameOrigin(service.value, controlUrl)) return service.value
  return new URL(controlUrl).origin + basePath
}

/** Whether an address is on this machine. `.localhost` is reserved: RFC 6761, 6.3 */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address)
  return hostname === 'localhost' || hostname.endsWith('.localhost') || LOOPBACK_ADDRESS.test(hostname)
}
