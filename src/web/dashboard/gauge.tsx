import { HOUR_MS } from '../../domain/time.js'
import { countdownText } from '../format.js'
import type { WindowNow } from './quota-now.js'

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact' })

export function Gauge({
  name,
  of,
  limit,
  remaining,
  leftMs,
  isOut,
}: WindowNow & {
  readonly name: 'minute' | 'day'
  readonly of: string
  /** The key is refused, even with requests left. */
  readonly isOut: boolean
}) {
  const level = isOut ? 'failed' : remaining === 0 ? 'limited' : remaining < limit / 5 ? 'refused' : 'answered'
  const reset = leftMs > 0 ? `, resets in ${countdownText(leftMs)}` : ''
  const text = `${remaining.toLocaleString('en')} of ${limit.toLocaleString('en')} left${reset}`
  const left = leftMs < HOUR_MS ? countdownText(leftMs) : `${Math.ceil(leftMs / HOUR_MS)} h`
  return (
    <div class="gauge" title={text}>
      {/* biome-ignore lint/a11y/useSemanticElements: the native meter looks different in each browser */}
      <div
        class={`meter soft ${level}`}
        role="meter"
        aria-label={`${of}, ${name}`}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={remaining}
        aria-valuetext={text}
      >
        <span style={{ width: `${limit === 0 || isOut ? 0 : (remaining / limit) * 100}%` }} />
      </div>
      <p class="row between muted">
        {remaining.toLocaleString('en')}/{limit < 10_000 ? limit.toLocaleString('en') : COMPACT.format(limit)}
        <span>{leftMs > 0 ? left : name}</span>
      </p>
    </div>
  )
}
