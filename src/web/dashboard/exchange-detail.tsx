import { useEffect, useRef, useState } from 'preact/hooks'
import { formatSpan } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { SANDBOX_ADDRESS } from '../sandbox-address.js'
import { countdownText, dateText, timeText } from './clock-text.js'
import { ActionButton } from './controls.js'
import { CopyButton } from './copy-button.js'
import { curesOf } from './cures.js'
import { addressOf, wordOf } from './exchange-filter.js'
import { Running } from './exchange-row.js'
import { explainExchange } from './explain-exchange.js'
import { ledToBan } from './led-to-ban.js'
import { HeaderList } from './message-view.js'
import { statusOf } from './outcome.js'
import { readableBody } from './readable-body.js'
import { CODE_FORMS } from './request-code.js'
import { useDashboard, useSession } from './session-context.js'
import { useSpaceTime } from './use-space-time.js'

/** One exchange in full: the rule that decided its response, what would help, and what to do next. */
export function ExchangeDetail({ exchange }: { readonly exchange: Exchange }) {
  const session = useSession()
  const key = useDashboard(({ state }) => state?.keys.find((known) => known.key === exchange.key))
  const zone = useDashboard(({ zone }) => zone)
  const heading = useRef<HTMLHeadingElement>(null)
  const { id, method, reason, operation, ended, durationMs, timing } = exchange
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    heading.current?.closest('.detail')?.scrollIntoView({ block: 'nearest' })
  }, [id])

  function close() {
    session.select(undefined)
    document.querySelector<HTMLElement>(`[data-exchange="${id}"]`)?.focus({ preventScroll: true })
  }

  const { rule, help } = explainExchange(exchange, key?.plan)
  const at = Date.parse(exchange.at)
  const status = statusOf(exchange)
  return (
    <section class="detail" aria-labelledby="detail-title" onKeyDown={({ key }) => key === 'Escape' && close()}>
      <div class="row between">
        <h2 id="detail-title" tabIndex={-1} ref={heading}>
          <span class={`status ${status.kind}`}>{status.text}</span>{' '}
          <span class="mono">
            {method} {addressOf(exchange)}
          </span>
        </h2>
        <div class="row">
          <button type="button" aria-label="Newer exchange" onClick={() => session.step(-1)}>
            ↑
          </button>
          <button type="button" aria-label="Older exchange" onClick={() => session.step(1)}>
            ↓
          </button>
          <button type="button" class="close" aria-label="Close the exchange" onClick={close}>
            ×
          </button>
        </div>
      </div>
      <p class="rule">
        {reason === null ? null : <span class="tag">{reason}</span>} {rule}
      </p>
      {help === undefined ? null : <p class="help">{help}</p>}
      <NextSteps exchange={exchange} />
      <RateStrip exchange={exchange} />
      <DriftOf exchange={exchange} />
      <FindingsOf id={id} />
      {exchange.response.body === '' ? null : (
        <section aria-label="Response body">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
          <pre tabIndex={0}>{readableBody(exchange.response.body)}</pre>
        </section>
      )}
      <dl class="facts">
        <Fact name="Exchange">{id}</Fact>
        <Fact name="At">{`${dateText(at, zone)} ${timeText(at, true, zone)}`}</Fact>
        <FilterFact name="Operation" field="op" value={operation ?? 'none'} />
        <FilterFact
          name="Key"
          field="key"
          value={exchange.key}
          {...(key === undefined ? {} : { more: ` (${key.plan})` })}
        />
        <div>
          <dt>Took</dt>
          <dd>
            {ended === null ? (
              <Running exchange={exchange} />
            ) : (
              `${formatSpan(durationMs)}: handling ${formatSpan(timing.handlingMs)}, waiting ${formatSpan(timing.waitingMs)}, body ${formatSpan(timing.bodyMs)}`
            )}
          </dd>
        </div>
      </dl>
      <Contents exchange={exchange} />
    </section>
  )
}

/** What one can do with it, and against what it met. */
function NextSteps({ exchange }: { readonly exchange: Exchange }) {
  const session = useSession()
  const key = useDashboard(({ state }) => state?.keys.find((known) => known.key === exchange.key))
  const now = useSpaceTime() ?? 0
  const banAfter = useDashboard(({ state }) => state?.settings.banAfter)
  const { id, operation, reason } = exchange
  const led =
    reason === 'ban' && typeof banAfter === 'number'
      ? ledToBan(session.exchanges.newestFirst().toReversed(), exchange, banAfter)
      : []
  return (
    <div class="row steps">
      {curesOf(exchange, key, now).map(({ text, verb, input, done }) => (
        <ActionButton key={text} class="primary" act={() => session.call(verb, input, done)}>
          {text}
        </ActionButton>
      ))}
      <ActionButton act={() => session.replay(id)}>Replay</ActionButton>
      <button type="button" onClick={() => session.edit(exchange)}>
        Edit and replay
      </button>
      {led.length === 0 ? null : (
        <button type="button" onClick={() => session.filter({ text: `id:${led.join(',')}`, outcome: undefined })}>
          What led to the ban
        </button>
      )}
      {operation === null ? null : (
        <button type="button" onClick={() => session.makeFail(operation)}>
          Make this fail
        </button>
      )}
    </div>
  )
}

/** `0 of 60 left · resets in 0:42 · Retry-After 60` */
function RateStrip({ exchange: { response } }: { readonly exchange: Exchange }) {
  const now = useSpaceTime() ?? 0
  const { headers } = response
  const limit = headers['x-ratelimit-limit']
  if (limit === undefined) return null
  const left = Number(headers['x-ratelimit-reset']) * 1000 - now
  const wait = headers['retry-after']
  const parts = [
    `${headers['x-ratelimit-remaining']} of ${limit} left`,
    left > 0 ? `resets in ${countdownText(left)}` : 'has been reset since',
    ...(wait === undefined ? [] : [`Retry-After ${wait}`]),
  ]
  return <p class="strip">{parts.join(' · ')}</p>
}

/** What conduct has found about it. */
function FindingsOf({ id }: { readonly id: number }) {
  const session = useSession()
  const conduct = useDashboard(({ conduct }) => conduct)
  const found = [...(conduct?.violations ?? []), ...(conduct?.warnings ?? [])].filter(({ exchanges }) =>
    exchanges.includes(id),
  )
  if (found.length === 0) return null
  return (
    <p class="row">
      {found.map(({ rule, key, message }) => (
        <button
          type="button"
          key={`${rule} ${key} ${message}`}
          title={message}
          onClick={() => session.showTab('conduct')}
        >
          {rule}
        </button>
      ))}
    </p>
  )
}

/** How the answer of the real service drifts from the contract. */
function DriftOf({ exchange: { drift } }: { readonly exchange: Exchange }) {
  const session = useSession()
  if (drift === undefined) return null
  return (
    <section aria-label="Drift" class="drift">
      <div class="row between">
        <h3>It drifts from the contract</h3>
        <button type="button" onClick={() => session.showTab('conduct', 'drift')}>
          All drift
        </button>
      </div>
      <ul>
        {drift.map((detail) => (
          <li key={detail}>{detail}</li>
        ))}
      </ul>
    </section>
  )
}

const TABS = ['Response headers', 'Request', 'Copy as'] as const

/** Both messages, and the request in other words. */
function Contents({ exchange }: { readonly exchange: Exchange }) {
  const [tab, choose] = useState<(typeof TABS)[number]>(TABS[0])
  const { request, response } = exchange
  return (
    <div class="contents">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere */}
      <div class="row" role="group" aria-label="Contents of the exchange">
        {TABS.map((name) => (
          <button type="button" key={name} aria-pressed={tab === name} onClick={() => choose(name)}>
            {name}
          </button>
        ))}
      </div>
      {tab === 'Response headers' ? <HeaderList headers={response.headers} /> : null}
      {tab === 'Request' ? (
        <section aria-label="Request">
          <HeaderList headers={request.headers} />
          {request.body === '' ? (
            <p class="muted">No body.</p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it
            <pre tabIndex={0}>{readableBody(request.body)}</pre>
          )}
        </section>
      ) : null}
      {tab === 'Copy as' ? <CopyAs exchange={exchange} /> : null}
    </div>
  )
}

function CopyAs({ exchange }: { readonly exchange: Exchange }) {
  const basePath = useDashboard(({ state }) => state?.basePath ?? '')
  const operations = useDashboard(({ operations }) => operations)
  const [form, choose] = useState('curl')
  const text = CODE_FORMS[form]?.({ exchange, sandbox: SANDBOX_ADDRESS, basePath, operations }) ?? ''
  return (
    <>
      <div class="row">
        <label class="inline">
          Form{' '}
          <select value={form} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {Object.keys(CODE_FORMS).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <CopyButton text={text}>Copy as {form}</CopyButton>
        <CopyButton text={location.href}>Copy a link to it</CopyButton>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it */}
      <pre class="curl" tabIndex={0}>
        {text}
      </pre>
    </>
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

/** A fact by which a click narrows the list. */
function FilterFact({
  name,
  field,
  value,
  more = '',
}: {
  readonly name: string
  readonly field: string
  readonly value: string
  readonly more?: string
}) {
  const session = useSession()
  const word = wordOf(field, value)
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <button
          type="button"
          class="plain"
          aria-label={`${value}: filter by it`}
          onClick={() => session.toggleWord(word)}
        >
          {value}
        </button>
        {more}
      </dd>
    </div>
  )
}
