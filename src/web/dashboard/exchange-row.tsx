import { memo } from 'preact/compat'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { timeText } from './clock-text.js'
import { addressOf } from './exchange-filter.js'
import { outcomeOf } from './outcome.js'

/** One exchange in the list. It never changes, so it is rendered once. */
export const ExchangeRow = memo(function ExchangeRow({
  exchange,
  isSelected,
  isReachable,
  open,
}: {
  readonly exchange: Exchange
  readonly isSelected: boolean
  /** Whether Tab leads here; the arrow keys lead to the others. */
  readonly isReachable: boolean
  open(exchange: Exchange): void
}) {
  const { id, at, method, status, reason, key, durationMs } = exchange
  return (
    <li class="exchange">
      <button
        type="button"
        data-exchange={id}
        tabIndex={isReachable ? 0 : -1}
        aria-current={isSelected}
        onClick={() => open(exchange)}
      >
        <span class="at">{timeText(Date.parse(at), true)}</span>
        <span class="method">{method}</span>
        <span class="path">{addressOf(exchange)}</span>
        <span class={`status ${outcomeOf(exchange)}`}>{status ?? 'cut'}</span>
        <span class="reason">{reason ?? ''}</span>
        <span class="key">{key}</span>
        <span class="duration">{durationText(durationMs)}</span>
      </button>
    </li>
  )
})

function durationText(milliseconds: number): string {
  return milliseconds < 10 ? `${milliseconds.toFixed(1)} ms` : `${Math.round(milliseconds)} ms`
}
