import type { ServiceRequest } from './messages.js'

/** What browsers ask every website for by themselves. */
const UNASKED =
  /^\/(?:favicon\.ico|apple-touch-icon[\w-]*\.png|\.well-known\/(?:appspecific\/com\.chrome\.devtools\.json|change-password|traffic-advice))(?:\?|$)/

/**
 * Whether a browser has sent this of its own accord: for an icon, for its
 * devtools, or for a page that was typed into the address bar. No client of the
 * service is behind it, so it is nobody's misconduct and costs no quota.
 *
 * What carries an API key was sent by a client: browsers have none to send.
 */
export function isBrowsersOwn({ method, target, headers }: ServiceRequest): boolean {
  if (headers.authorization !== undefined || method !== 'GET') return false
  return UNASKED.test(target) || isNavigation(headers)
}

/** Old browsers, and all of them without TLS beyond loopback, do not say what they fetch for. */
function isNavigation(headers: ServiceRequest['headers']): boolean {
  const mode = headers['sec-fetch-mode']
  if (mode !== undefined) return mode === 'navigate'
  return String(headers.accept ?? '').startsWith('text/html')
}
