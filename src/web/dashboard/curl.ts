import type { Exchange } from '../../exchanges/exchange-view.js'
import { addressOf } from './exchange-filter.js'

/** Headers that curl sets by itself, or that belonged to one connection. */
const OWN_HEADERS = new Set(['authorization', 'host', 'connection', 'content-length', 'accept-encoding', 'expect'])

/**
 * The request of an exchange for curl, in one line for sh. The key is in the
 * environment; all else is quoted, since it came from a client.
 *
 * @param origin of the sandbox
 */
export function curlOf({ method, path, query, key, request }: Exchange, origin: string): string {
  const url = origin + addressOf({ path, query })
  const parts = ['curl', '-sS']
  // Brackets would be ranges to curl.
  if (/[[\]{}]/.test(url)) parts.push('-g')
  if (method === 'HEAD') parts.push('-I')
  else if (method !== 'GET') parts.push('-X', quote(method))
  if (key !== 'none') parts.push('-H', '"Authorization: Bearer $PETSTORE_API_KEY"')
  for (const [name, value] of Object.entries(request.headers)) {
    if (!OWN_HEADERS.has(name)) parts.push('-H', quote(value === '' ? `${name};` : `${name}: ${value}`))
  }
  if (request.body !== '') parts.push('--data-raw', quote(request.body))
  return [...parts, quote(url)].join(' ')
}

const PLAIN = /^[\w@%+=:,./-]+$/

function quote(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
