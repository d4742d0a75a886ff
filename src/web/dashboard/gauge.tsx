import { HOUR_MS } from '../../domain/time.js'
import { countdownText } from './clock-text.js'

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact' })

/** `1,000`, `10K`, `1M`: in few letters. Exactly, the meter says it. */
function limitText(limit: number): string {
  return limit < 10_000 ? limit.toLocaleString('en') : COMPACT.format(limit)
}

/** `0:42`, `24 h`: rounded up, in few letters. */
function leftText(leftMs: number): string {
  return leftMs < HOUR_MS ? countdownText(leftMs) : `${Math.ceil(leftMs / HOUR_MS)} h`
}

/** What is left of one quota window, and when it resets. */
export function Gauge({
  name,
  of,
  limit,
  remaining,
  leftMs,
  isOut,
}: {
  /** `minute`, `day` */
  readonly name: string
  /** Whose it is, for screen readers. */
  readonly of: string
  readonly limit: number
  readonly remaining: number
  /** Until the window resets; 0 while it is not open. */
  readonly leftMs: number
  /** The key is refused whatever is left. */
  readonly isOut: boolean
}) {
  const level = isOut ? 'out' : remaining === 0 ? 'spent' : remaining < limit / 5 ? 'low' : 'fine'
  const text = `${remaining.toLocaleString('en')} of ${limit.toLocaleString('en')} left`
  const reset = leftMs > 0 ? `resets in ${countdownText(leftMs)}` : ''
  return (
    <div class="gauge" title={reset === '' ? text : `${text}, ${reset}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: a meter of the browser's own looks different in each */}
      <div
        class={`meter ${level}`}
        role="meter"
        aria-label={`${of}, ${name}`}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={remaining}
        aria-valuetext={`${text}${reset === '' ? '' : `, ${reset}`}`}
      >
        <span style={{ width: `${limit === 0 || isOut ? 0 : (remaining / limit) * 100}%` }} />
      </div>
      <p>
        {remaining.toLocaleString('en')}/{limitText(limit)}
        <span>{leftMs > 0 ? leftText(leftMs) : name}</span>
      </p>
    </div>
  )
}
