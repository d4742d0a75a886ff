import { EVERYTHING, type ExchangeFilter } from './exchange-filter.js'
import { OUTCOMES } from './outcome.js'

/** What of the page stands in its address, so that it can be passed on. */
export interface PagePlace {
  /** Empty for the default space. */
  readonly space: string
  readonly filter: ExchangeFilter
}

/** @param hash with or without its "#" */
export function readPlace(hash: string): PagePlace {
  const fields = new URLSearchParams(hash.replace(/^#/, ''))
  const outcome = OUTCOMES.find((name) => name === fields.get('outcome'))
  return { space: fields.get('space') ?? '', filter: { text: fields.get('filter') ?? EVERYTHING.text, outcome } }
}

/** The hash for a place, empty for the plain page. */
export function writePlace({ space, filter }: PagePlace): string {
  const fields = new URLSearchParams()
  if (space !== '') fields.set('space', space)
  if (filter.text !== '') fields.set('filter', filter.text)
  if (filter.outcome !== undefined) fields.set('outcome', filter.outcome)
  const text = fields.toString()
  return text === '' ? '' : `#${text}`
}
