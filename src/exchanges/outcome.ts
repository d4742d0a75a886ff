/** How an exchange ended. `cut`: the client did not receive a whole response. */
export const OUTCOMES = ['answered', 'refused', 'limited', 'failed', 'cut'] as const
export type Outcome = (typeof OUTCOMES)[number]

export function outcomeOf({
  status,
  ended,
}: {
  readonly status: number | null | undefined
  readonly ended?: string | null | undefined
}): Outcome {
  if (status == null || ended === 'cut' || ended === 'left') return 'cut'
  if (status === 429) return 'limited'
  if (status >= 500) return 'failed'
  return status >= 400 ? 'refused' : 'answered'
}
