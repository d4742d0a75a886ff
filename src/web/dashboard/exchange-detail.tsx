import type { ComponentChildren } from 'preact'
import type { KeyView } from '../../control/views.js'
import { formatFaultRule } from '../../domain/faults.js'
import { PLAN_NAMES } from '../../domain/keys.js'
import { formatSpan } from '../../domain/time.js'
import { addressOf, wordOf } from '../../exchanges/exchange-filter.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { SANDBOX_ADDRESS } from '../control-api.js'
import { countdownText, timeText } from '../format.js'
import { codeForms } from '../request-code.js'
import { call, filterBy, makeFail, removeFault, replay, select, showTab, step } from '../session.js'
import { conduct, editing, events, exchanges, filter, operations, selected, spaceTime, state } from '../state.js'
import { Body, CodeBlock, CopyButton, HeaderList } from '../ui.js'
import { Duration, Status, TimingBar } from './exchange-list.js'
import { explainExchange, ledToBan } from './explain-exchange.js'
import { ActionButton } from './fields.js'
import { httpText, recordedRequest } from './recorded-request.js'
import { dateText, outcomeOf } from './texts.js'

export function closeExchange(): void {
  const id = selected.value?.id
  select(undefined)
  document.querySelector<HTMLElement>(`[data-exchange="${id}"]`)?.focus({ preventScroll: true })
}

export function ExchangePanel() {
  const exchange = selected.value
  if (exchange === undefined) return <p class="empty">Select a request to see it here.</p>
  const key = state.value?.keys.find((known) => known.key === exchange.key)
  const { id, method, operation, request, response } = exchange
  const { latency } = state.value?.settings ?? {}
  const { rule, help } = explainExchange(exchange, { ...key, latency, events: events.value })
  const at = Date.parse(exchange.at)
  return (
    <section class="detail stack" aria-labelledby="detail-title">
      <div class="row between">
        <h2 id="detail-title" class="grow">
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
          <button type="button" aria-label="Close the exchange" onClick={closeExchange}>
            ×
          </button>
        </div>
      </div>
      <div class={`why soft ${exchange.ended === null ? '' : outcomeOf(exchange)}`}>
        <b>{rule}</b>
        {help === undefined ? null : <p>{help}</p>}
      </div>
      <NextSteps exchange={exchange} keyView={key} />
      <Findings id={id} />
      <RateStrip exchange={exchange} />
      <Timing exchange={exchange} />
      <dl class="row facts">
        <Fact name="Exchange">{id}</Fact>
        <Fact name="At">{`${dateText(at)} ${timeText(at, true)}`}</Fact>
        <Fact name="Operation">
          <FilterButton field="op" value={operation ?? 'none'} />
        </Fact>
        <Fact name="Key">
          <FilterButton field="key" value={exchange.key} />
          {key === undefined ? '' : ` (${key.plan})`}
        </Fact>
      </dl>
      {/* The headers of the response, which are many, come last. */}
      <Part title="Response">
        <Body text={response.body} />
      </Part>
      <Part title="Request">
        <HeaderList headers={request.headers} />
        <Body text={request.body} />
      </Part>
      <Part title="Response headers">
        <HeaderList headers={response.headers} />
      </Part>
      <CopyAs exchange={exchange} />
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
        Edit and replay…
      </button>
      {led.length === 0 ? null : (
        <button type="button" onClick={() => (filter.value = `id:${led.join(',')}`)}>
          What led to the ban
        </button>
      )}
      {operation === null ? null : (
        <>
          <ActionButton
            act={() => call('faults.add', { rule: `${operation}:503*3` }, `The next 3 of ${operation} return a 503.`)}
          >
            Fail 3 times
          </ActionButton>
          <button type="button" onClick={() => makeFail(operation)}>
            Make this fail…
          </button>
        </>
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
    case 'fault': {
      const faults = state.value?.faults ?? []
      const index = faults.findIndex((fault) => fault.left !== 0 && formatFaultRule(fault) === exchange.rule)
      return index === -1 ? [] : [['Remove this rule', () => removeFault(index)]]
    }
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
  const remaining = Number(headers['x-ratelimit-remaining'])
  const left = Number(headers['x-ratelimit-reset']) * 1000 - (spaceTime.value ?? 0)
  const parts = [
    `${remaining} of ${limit} left`,
    left > 0 ? `resets in ${countdownText(left)}` : 'has been reset since',
    ...(wait === undefined ? [] : [`Retry-After ${wait}`]),
  ]
  return (
    <div class="measure">
      <p class="strip">{parts.join(' · ')}</p>
      <div class={`meter soft ${remaining === 0 ? 'limited' : 'answered'}`}>
        <span style={{ width: `${Math.min(100, (100 * remaining) / Math.max(1, Number(limit)))}%` }} />
      </div>
    </div>
  )
}

function Timing({ exchange, exchange: { ended, durationMs, timing } }: { readonly exchange: Exchange }) {
  const { handlingMs, waitingMs, bodyMs } = timing
  return (
    <div class="measure">
      <p class="row between">
        <b>
          <Duration exchange={exchange} />
        </b>
        {ended === null ? null : (
          <span class="muted">{`handling ${formatSpan(handlingMs)}, waiting ${formatSpan(waitingMs)}, body ${formatSpan(bodyMs)}`}</span>
        )}
      </p>
      {ended === null ? null : <TimingBar exchange={exchange} scaleMs={durationMs || 1} />}
    </div>
  )
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

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="stack" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

function CopyAs({ exchange }: { readonly exchange: Exchange }) {
  if (state.value === undefined) return null
  const request = recordedRequest(exchange, SANDBOX_ADDRESS, state.value, operations.value)
  return (
    <Part title="Copy as">
      <CodeBlock forms={{ ...codeForms(request, 'curl', 'fetch', 'call'), HTTP: () => httpText(request) }} />
      <p>
        <CopyButton text={location.href}>Copy link</CopyButton>
      </p>
    </Part>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="row">
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
