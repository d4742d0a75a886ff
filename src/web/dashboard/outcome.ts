import type { Exchange } from '../../exchanges/exchange-view.js'

/** The outcomes that chart and filter distinguish, in the chart's stacking order. */
export const OUTCOMES = ['answered', 'refused', 'limited', 'failed', 'cut'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** What each is called on the page. */
export const OUTCOME_LABELS: Readonly<Record<Outcome, string>> = {
  answered: '2xx',
  refused: '4xx',
  limited: '429',
  failed: '5xx',
  cut: 'no answer',
}

export function outcomeOf({ status }: Pick<Exchange, 'status'>): Outcome {
  if (status === null) return 'cut'
  if (status === 429) return 'limited'
  if (status >= 500) return 'failed'
  return status >= 400 ? 'refused' : 'answered'
}

/** What stands in the place of a status, and how it looks. */
export function statusOf({ status, ended }: Pick<Exchange, 'status' | 'ended'>): {
  readonly text: string
  readonly kind: Outcome | 'running'
} {
  if (ended === null) return { text: '···', kind: 'running' }
  return { text: String(status ?? (ended === 'left' ? 'left' : 'cut')), kind: outcomeOf({ status }) }
}
