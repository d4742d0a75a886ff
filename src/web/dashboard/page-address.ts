import { OUTCOMES } from '../format.js'
import { EVERYTHING, type ExchangeFilter } from './exchange-filter.js'

/** Panels beside the log, which is one of them on narrow pages. */
export const TABS = ['log', 'break', 'keys', 'data', 'conduct'] as const
export type Tab = (typeof TABS)[number]

/** Shareable state of the page. */
export interface PagePlace {
  readonly space: string
  readonly filter: ExchangeFilter
  readonly exchange: number | undefined
  readonly tab: Tab
}

/** @param hash with or without its "#" */
export function readPlace(hash: string): PagePlace {
  const fields = new URLSearchParams(hash.replace(/^#/, ''))
  const outcome = OUTCOMES.find((name) => name === fields.get('outcome'))
  const exchange = Number(fields.get('exchange') ?? Number.NaN)
  return {
    space: fields.get('space') ?? '',
    filter: { text: fields.get('filter') ?? EVERYTHING.text, outcome },
    exchange: Number.isSafeInteger(exchange) && exchange > 0 ? exchange : undefined,
    tab: TABS.find((name) => name === fields.get('tab')) ?? 'log',
  }
}

export function writePlace({ space, filter, exchange, tab }: PagePlace): string {
  const fields = new URLSearchParams()
  if (space !== '') fields.set('space', space)
  if (filter.text !== '') fields.set('filter', filter.text)
  if (filter.outcome !== undefined) fields.set('outcome', filter.outcome)
  if (exchange !== undefined) fields.set('exchange', String(exchange))
  if (tab !== 'log') fields.set('tab', tab)
  const text = fields.toString()
  return text === '' ? '' : `#${text}`
}
