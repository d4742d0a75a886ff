import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { KeyView } from '../../control/views.js'
import { PLAN_NAMES } from '../../domain/keys.js'
import { formatSpan } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { SANDBOX_ADDRESS } from '../control-api.js'
import { countdownText, dateText, readableBody, timeText } from '../format.js'
import { addressOf, CODE_FORMS, type CodeForm, recordedRequest } from '../request-code.js'
import { call, filterBy, makeFail, replay, select, showTab, step } from '../session.js'
import { conduct, editing, exchanges, filter, operations, spaceTime, state, zone } from '../state.js'
import { ActionButton, CopyButton, HeaderList, Pre, Select, Toggle } from '../ui.js'
import { wordOf } from './exchange-filter.js'
import { Duration, Status } from './exchange-list.js'
import { explainExchange, ledToBan } from './explain-exchange.js'

export function ExchangeDetail({ exchange }: { readonly exchange: Exchange }) {
  const key = state.value?.keys.find((known) => known.key === exchange.key)
  const heading = useRef<HTMLHeadingElement>(null)
  const { id, method, reason, operation, ended, durationMs, timing, response } = exchange
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    heading.current?.closest('.detail')?.scrollIntoView({ block: 'nearest' })
  }, [id])

  function close() {
    select(undefined)
    document.querySelector<HTMLElement>(`[data-exchange="${id}"]`)?.focus({ preventScroll: true })
  }

  const { rule, help } = explainExchange(exchange, key?.plan)
  const at = Date.parse(exchange.at)
  return (
    <section class="detail" aria-labelledby="detail-title" onKeyDown={({ key }) => key === 'Escape' && close()}>
      <div class="row between">
        <h2 id="detail-title" tabIndex={-1} ref={heading}>
          <Status exchange={exchange} />{' '}
          <span class="mono">
            {method} {addressOf(exchange)}
          </span>
        </h2>
        <div class="row">
          <button type="button" aria-label="Newer exchange" onClick={() => step(-1)}>
            ↑
          </button>
          <button type="button" aria-label="Older exchange" onClick={() => step(1)}>
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
      <NextSteps exchange={exchange} keyView={key} />
      <RateStrip exchange={exchange} />
      <Drift exchange={exchange} />
      <Findings id={id} />
      {response.body === '' ? null : (
        <section aria-label="Response body">
          <Pre>{readableBody(response.body)}</Pre>
        </section>
      )}
      <dl class="facts">
        <Fact name="Exchange">{id}</Fact>
        <Fact name="At">{`${dateText(at, zone.value)} ${timeText(at, true, zone.value)}`}</Fact>
        <Fact name="Operation">
          <FilterButton field="op" value={operation ?? 'none'} />
        </Fact>
        <Fact name="Key">
          <FilterButton field="key" value={exchange.key} />
          {key === undefined ? '' : ` (${key.plan})`}
        </Fact>
        <Fact name="Took">
          {ended === null ? (
            <Duration exchange={exchange} />
          ) : (
            `${formatSpan(durationMs)}: handling ${formatSpan(timing.handlingMs)}, waiting ${formatSpan(timing.waitingMs)}, body ${formatSpan(timing.bodyMs)}`
          )}
        </Fact>
      </dl>
      <Contents exchange={exchange} />
    </section>
  )
}

function NextSteps({ exchange, keyView }: { readonly exchange: Exchange; readonly keyView: KeyView | undefined }) {
  const banAfter = state.value?.settings.banAfter
  const { id, operation, reason } = exchange
  const led =
    reason === 'ban' && typeof banAfter === 'number' ? ledToBan(exchanges.value.toReversed(), exchange, banAfter) : []
  return (
    <div class="row steps">
      {fixesFor(exchange, keyView, spaceTime.value ?? 0).map(([text, act]) => (
        <ActionButton key={text} class="primary" act={act}>
          {text}
        </ActionButton>
      ))}
      <ActionButton act={() => replay(id)}>Replay</ActionButton>
      <button type="button" onClick={() => (editing.value = exchange)}>
        Edit and replay
      </button>
      {led.length === 0 ? null : (
        <button type="button" onClick={() => (filter.value = { text: `id:${led.join(',')}`, outcome: undefined })}>
          What led to the ban
        </button>
      )}
      {operation === null ? null : (
        <button type="button" onClick={() => makeFail(operation)}>
          Make this fail
        </button>
      )}
    </div>
  )
}

type Cure = readonly [text: string, act: () => Promise<unknown>]

/** Actions that fix the cause of a refusal. @param key undefined for an unknown key */
function fixesFor(exchange: Exchange, key: KeyView | undefined, now: number): readonly Cure[] {
  const { reason, key: name, response } = exchange
  switch (reason) {
    case 'quota-minute':
    case 'quota-day': {
      if (key === undefined || key.always !== null) return []
      const reset = Number(response.headers['x-ratelimit-reset'] ?? 0) * 1000
      const plan = PLAN_NAMES[PLAN_NAMES.indexOf(key.plan) + 1]
      const upgrade = () =>
        call('keys.change', { key: name, plan: plan ?? key.plan }, `${name} is on the plan ${plan}.`)
      return [
        ...advanceFix('Advance to the reset', reset - now),
        ...(plan ? [[`Put on ${plan}`, upgrade] as const] : []),
      ]
    }
    case 'ban': {
      if (key === undefined || key.ban === null || key.always === 'banned') return []
      const lift = () => call('keys.unban', { key: name }, `The ban of ${name} is lifted.`)
      return [['Lift the ban', lift], ...advanceFix('Advance to its end', Date.parse(key.ban.until) - now)]
    }
    case 'storm':
      return [['Stop the storm', () => call('storm.stop', {}, 'The storm is stopped.')]]
    case 'fault':
      return [['Remove the faults', () => call('faults.clear', {}, 'All faults are removed.')]]
    case 'sunset':
      return [['Restore the operation', () => call('settings.change', { sunset: 'before' }, 'Sunset is before.')]]
    case 'brownout':
      return [['End the brownout', () => call('settings.change', { sunset: 'auto' }, 'Sunset is auto.')]]
    default:
      return []
  }
}

function advanceFix(text: string, milliseconds: number): readonly Cure[] {
  const seconds = Math.ceil(milliseconds / 1000)
  const advance = () => call('clock.advance', { by: `${seconds}s` }, `The clock has moved by ${seconds} s.`)
  return seconds > 0 ? [[text, advance]] : []
}

/** `0 of 60 left · resets in 0:42 · Retry-After 60` */
function RateStrip({ exchange: { response } }: { readonly exchange: Exchange }) {
  const { 'x-ratelimit-limit': limit, 'retry-after': wait, ...headers } = response.headers
  if (limit === undefined) return null
  const left = Number(headers['x-ratelimit-reset']) * 1000 - (spaceTime.value ?? 0)
  const parts = [
    `${headers['x-ratelimit-remaining']} of ${limit} left`,
    left > 0 ? `resets in ${countdownText(left)}` : 'has been reset since',
    ...(wait === undefined ? [] : [`Retry-After ${wait}`]),
  ]
  return <p class="strip">{parts.join(' · ')}</p>
}

function Findings({ id }: { readonly id: number }) {
  const { violations = [], warnings = [], notes = [] } = conduct.value ?? {}
  const found = [...violations, ...warnings, ...notes].filter(({ exchanges }) => exchanges.includes(id))
  return found.length === 0 ? null : (
    <p class="row">
      {found.map(({ rule, key, message }) => (
        <button type="button" key={`${rule} ${key} ${message}`} title={message} onClick={() => showTab('conduct')}>
          {rule}
        </button>
      ))}
    </p>
  )
}

function Drift({ exchange: { drift } }: { readonly exchange: Exchange }) {
  return drift === undefined ? null : (
    <section aria-label="Drift" class="drift">
      <div class="row between">
        <h3>Differences from the contract</h3>
        <button type="button" onClick={() => showTab('conduct', 'drift')}>
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

function Contents({ exchange: { request, response }, exchange }: { readonly exchange: Exchange }) {
  const tab = useSignal<(typeof TABS)[number]>('Response headers')
  return (
    <div class="contents">
      <Toggle label="Contents of the exchange" names={TABS} value={tab.value} choose={(name) => (tab.value = name)} />
      {tab.value === 'Response headers' ? <HeaderList headers={response.headers} /> : null}
      {tab.value === 'Request' ? (
        <section aria-label="Request">
          <HeaderList headers={request.headers} />
          {request.body === '' ? <p class="muted">No body.</p> : <Pre>{readableBody(request.body)}</Pre>}
        </section>
      ) : null}
      {tab.value === 'Copy as' ? <CopyAs exchange={exchange} /> : null}
    </div>
  )
}

const COPY_FORMS = ['curl', 'fetch', 'call', 'HTTP'] as const

function CopyAs({ exchange }: { readonly exchange: Exchange }) {
  const form = useSignal<CodeForm>('curl')
  const basePath = state.value?.basePath ?? ''
  const text = CODE_FORMS[form.value](recordedRequest(exchange, SANDBOX_ADDRESS, basePath, operations.value))
  return (
    <>
      <div class="row">
        <Select label="Form" value={form.value} choices={COPY_FORMS} choose={(name) => (form.value = name)} />
        <CopyButton text={text}>Copy as {form}</CopyButton>
        <CopyButton text={location.href}>Copy link</CopyButton>
      </div>
      <Pre class="curl">{text}</Pre>
    </>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function FilterButton({ field, value }: { readonly field: string; readonly value: string }) {
  return (
    <button
      type="button"
      class="plain"
      aria-label={`Filter by ${value}`}
      onClick={() => filterBy(wordOf(field, value))}
    >
      {value}
    </button>
  )
}
