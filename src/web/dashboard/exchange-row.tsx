import { memo } from 'preact/compat'
import { useEffect, useState } from 'preact/hooks'
import { formatSpan } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { dayText, timeText, type Zone } from './clock-text.js'
import { addressOf, wordOf } from './exchange-filter.js'
import { statusOf } from './outcome.js'
import { durationNow } from './session.js'

/** One exchange in the list. Once it has ended it never changes, so it is rendered twice at most. */
export const ExchangeRow = memo(function ExchangeRow({
  exchange,
  isSelected,
  isReachable,
  isInFront,
  zone,
  today,
  open,
  narrow,
}: {
  readonly exchange: Exchange
  readonly isSelected: boolean
  /** Whether Tab leads here; the arrow keys lead to the others. */
  readonly isReachable: boolean
  /** Whether there is a real service behind the sandbox, so that it matters who has answered. */
  readonly isInFront: boolean
  readonly zone: Zone
  /** The day that the space's clock shows. */
  readonly today: string
  open(exchange: Exchange): void
  /** Narrows the list to what is like a cell. */
  narrow(word: string): void
}) {
  const { id, method, reason, fault, key, ended, drift } = exchange
  const at = Date.parse(exchange.at)
  const day = dayText(at, zone)
  const status = statusOf(exchange)
  return (
    <li class="exchange">
      <button
        type="button"
        data-exchange={id}
        tabIndex={isReachable ? 0 : -1}
        aria-current={isSelected}
        onClick={({ target }) => {
          const word =
            target instanceof HTMLElement ? target.closest<HTMLElement>('[data-word]')?.dataset.word : undefined
          if (word === undefined) open(exchange)
          else narrow(word)
        }}
      >
        <span class="at">{day === today ? timeText(at, true, zone) : `${day} ${timeText(at, false, zone)}`}</span>
        <span class="method" {...cell(wordOf('method', method))}>
          {method}
        </span>
        <span class="path">{addressOf(exchange)}</span>
        <span
          class={`status ${status.kind}`}
          {...cell(ended === null ? 'ended:running' : `status:${exchange.status ?? 'none'}`)}
        >
          {status.text}
        </span>
        <span
          class="reason"
          {...(fault !== null ? cell(`fault:${fault}`) : reason !== null ? cell(`reason:${reason}`) : {})}
        >
          {drift === undefined ? null : <span class="tag violation">drift</span>}{' '}
          {fault ?? reason ?? (isInFront && ended !== null ? 'local' : '')}
        </span>
        <span class="key" {...cell(wordOf('key', key))}>
          {key}
        </span>
        <span class={ended === 'left' ? 'duration left' : 'duration'}>
          {ended === null ? <Running exchange={exchange} /> : formatSpan(exchange.durationMs)}
        </span>
      </button>
    </li>
  )
})

/** A cell by which a click narrows the list; with the keyboard, what is open offers the same. */
function cell(word: string): { readonly 'data-word': string; readonly title: string } {
  return { 'data-word': word, title: `Filter by ${word}` }
}

const TICK_MS = 200

/** How long it has been under way. */
export function Running({ exchange }: { readonly exchange: Exchange }) {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return <>{formatSpan(durationNow(exchange))} …</>
}
