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
 * @param sandbox its address, without a slash at its end
 */
export function curlOf({ method, path, query, key, request }: Exchange, sandbox: string): string {
  return curlCommand({
    method,
    url: sandbox + addressOf({ path, query }),
    headers: [
      ...(key === 'none' ? [] : [['Authorization', key] as const]),
      ...Object.entries(request.headers).filter(([name]) => !OWN_HEADERS.has(name)),
    ],
    body: request.body === '' ? undefined : request.body,
  })
}
