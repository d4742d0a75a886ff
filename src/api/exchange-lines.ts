import type { Exchange } from '../exchanges/exchange-view.js'

const MAX_LINES = 10

/** Names exchanges for the message of a failed test: the newest, one a line. */
export function exchangeLines(exchanges: readonly Exchange[], what = 'requests'): string {
  if (exchanges.length === 0) return `There are no ${what}. Check the address and the key of the client.`
  const shown = exchanges.slice(-MAX_LINES)
  const which = shown.length < exchanges.length ? `, the last ${MAX_LINES} of ${exchanges.length}` : ''
  return [`The ${what}${which}:`, ...shown.map((exchange) => `  ${exchangeLine(exchange)}`)].join('\n')
}

/** `#3 POST /v1/pets → 201 (sandbox-pro)` */
function exchangeLine({ id, method, path, query, status, reason, ended, key }: Exchange): string {
  const address = query === '' ? path : `${path}?${query}`
  const outcome = status ?? (ended === null ? 'in progress' : 'no response')
  return `#${id} ${method} ${address} → ${outcome}${reason === null ? '' : `, ${reason}`} (${key})`
}
