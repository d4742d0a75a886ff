import { useEffect, useRef } from 'preact/hooks'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { dateText, timeText } from './clock-text.js'
import { CopyButton } from './copy-button.js'
import { curlOf } from './curl.js'
import { addressOf } from './exchange-filter.js'
import { explainExchange } from './explain-exchange.js'
import { MessageView } from './message-view.js'
import { outcomeOf } from './outcome.js'
import { useDashboard, useSession } from './session-context.js'

/** One exchange in full, with the rule that decided its response. */
export function ExchangeDetail({ exchange }: { readonly exchange: Exchange }) {
  const session = useSession()
  const plan = useDashboard(({ state }) => state?.keys.find(({ key }) => key === exchange.key)?.plan)
  const heading = useRef<HTMLHeadingElement>(null)
  const { id, at, method, status, reason, operation, key, durationMs } = exchange
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    heading.current?.closest('.detail')?.scrollIntoView({ block: 'nearest' })
  }, [id])

  function close() {
    session.select(undefined)
    document.querySelector<HTMLElement>(`[data-exchange="${id}"]`)?.focus({ preventScroll: true })
  }

  const { rule, help } = explainExchange(exchange, plan)
  const curl = curlOf(exchange, location.origin)
  return (
    <section class="detail" aria-labelledby="detail-title" onKeyDown={({ key }) => key === 'Escape' && close()}>
      <div class="row between">
        <h2 id="detail-title" tabIndex={-1} ref={heading}>
          <span class={`status ${outcomeOf(exchange)}`}>{status ?? 'cut'}</span>{' '}
          <span class="mono">
            {method} {addressOf(exchange)}
          </span>
        </h2>
        <button type="button" class="close" aria-label="Close the exchange" onClick={close}>
          ×
        </button>
      </div>
      <p class="rule">
        {reason === null ? null : <span class="tag">{reason}</span>} {rule}
      </p>
      {help === undefined ? null : <p class="help">{help}</p>}
      <dl class="facts">
        <Fact name="Exchange">{id}</Fact>
        <Fact name="At">{`${dateText(Date.parse(at))} ${timeText(Date.parse(at), true)}`}</Fact>
        <Fact name="Operation">{operation ?? 'none'}</Fact>
        <Fact name="Key">{plan === undefined ? key : `${key} (${plan})`}</Fact>
        <Fact name="Took">{`${durationMs} ms`}</Fact>
      </dl>
      <MessageView title="Request" message={exchange.request} />
      <MessageView title="Response" message={exchange.response} />
      <div class="row">
        <CopyButton text={curl}>Copy as curl</CopyButton>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
      <pre class="curl" tabIndex={0}>
        {curl}
      </pre>
    </section>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: string | number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
