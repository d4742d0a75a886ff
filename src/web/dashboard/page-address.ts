export const TABS = ['log', 'exchange', 'switches', 'keys', 'data', 'conduct'] as const
export type Tab = (typeof TABS)[number]

export interface PagePlace {
  readonly space: string
  readonly filter: string
  readonly exchange: number | undefined
  readonly tab: Tab
}

/** @param hash with or without its "#" */
export function readPlace(hash: string): PagePlace {
  const fields = new URLSearchParams(hash.replace(/^#/, ''))
  const exchange = Number(fields.get('exchange') ?? Number.NaN)
  const isExchange = Number.isSafeInteger(exchange) && exchange > 0
  return {
    space: fields.get('space') ?? '',
    filter: fields.get('filter') ?? '',
    exchange: isExchange ? exchange : undefined,
    tab: TABS.find((name) => name === fields.get('tab')) ?? (isExchange ? 'exchange' : 'log'),
  }
}

export function writePlace({ space, filter, exchange, tab }: PagePlace): string {
  const fields = new URLSearchParams()
  if (space !== '') fields.set('space', space)
  if (filter !== '') fields.set('filter', filter)
  if (exchange !== undefined) fields.set('exchange', String(exchange))
  if (tab !== (exchange === undefined ? 'log' : 'exchange')) fields.set('tab', tab)
  const text = fields.toString()
  return text === '' ? '' : `#${text}`
}
