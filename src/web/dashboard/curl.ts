import { curlCommand } from '../../domain/curl.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { addressOf } from './exchange-filter.js'

/** Headers that curl sets by itself, or that belonged to one connection. */
export const OWN_HEADERS = new Set([
  'authorization',
  'host',
  'connection',
  'content-length',
  'accept-encoding',
  'expect',
])

/**
 * The request of an exchange as a curl command.
 *
 * @param origin of the sandbox
 */
export function curlOf({ method, path, query, key, request }: Exchange, origin: string): string {
  return curlCommand({
    method,
    url: origin + addressOf({ path, query }),
    headers: [
      ...(key === 'none' ? [] : [['Authorization', key] as const]),
      ...Object.entries(request.headers).filter(([name]) => !OWN_HEADERS.has(name)),
    ],
    body: request.body === '' ? undefined : request.body,
  })
}
