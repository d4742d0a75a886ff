import type { Reply, ServiceRequest } from '../domain/messages.js'
import { type EpochMs, httpDate } from '../domain/time.js'
import { outsideReply } from './outside-reply.js'

/**
 * Redirects a browser that opens the bare address to the dashboard. This is not a call
 * to the service, so it is neither charged nor logged.
 *
 * @param dashboard path of the dashboard
 * @returns undefined where the request is anything else
 */
export function redirectBrowser(request: ServiceRequest, dashboard: string, now: EpochMs): Reply | undefined {
  if (request.target !== '/' || (request.method !== 'GET' && request.method !== 'HEAD')) return undefined
  if (!String(request.headers.accept ?? '').includes('text/html')) return undefined
  const headers = ['Date', httpDate(now), 'Location', dashboard, 'Content-Length', '0', 'Vary', 'Accept']
  return outsideReply(302, headers)
}
