import type { Exchange } from '../../exchanges/exchange-view.js'
import { type Outcome, outcomeOf } from './outcome.js'

/** Which exchanges the list shows. */
export interface ExchangeFilter {
  /** Words that must all match, in any column. */
  readonly text: string
  readonly outcome: Outcome | undefined
}

export const EVERYTHING: ExchangeFilter = { text: '', outcome: undefined }

/** What the words of a filter are looked for in; made once an exchange. */
const haystacks = new WeakMap<Exchange, string>()

export function filterExchanges(exchanges: readonly Exchange[], filter: ExchangeFilter): readonly Exchange[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0 && filter.outcome === undefined) return exchanges
  return exchanges.filter(
    (exchange) =>
      (filter.outcome === undefined || outcomeOf(exchange) === filter.outcome) &&
      words.every((word) => haystackOf(exchange).includes(word)),
  )
}

function haystackOf(exchange: Exchange): string {
  const known = haystacks.get(exchange)
  if (known !== undefined) return known
  const { method, path, query, operation, status, reason, key } = exchange
  const text = [method, addressOf({ path, query }), operation, status, reason, key].join(' ').toLowerCase()
  haystacks.set(exchange, text)
  return text
}

/** Path and query, as they were asked for. */
export function addressOf({ path, query }: Pick<Exchange, 'path' | 'query'>): string {
  return query === '' ? path : `${path}?${query}`
}
