import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { type FixAction, fixRefusal } from '../../advice/fixes.js'
import { secondsText } from '../../conduct/verdict-words.js'
import type { KeyView } from '../../control/views.js'
import { counted } from '../../domain/numbers.js'
import { addressOf, spacePath } from '../../domain/space-address.js'
import { formatSpan, isoText } from '../../domain/time.js'
import { clientName, clientOf } from '../../exchanges/client-name.js'
import { wordOf } from '../../exchanges/exchange-filter.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { Body, CodeBlock, CopyButton, HeaderList } from '../content.js'
import { SANDBOX_ADDRESS } from '../control-api.js'
import { countdownText, endText, timeText } from '../format.js'
import { codeForms, curlCode, quoted, vitestCode } from '../request-code.js'
import { Toggle } from '../ui.js'
import { call, changePlan, moveClock, removeFault, replay, unban } from './actions.js'
import { type Chain, chainOf, laterBy } from './exchange-chain.js'
import { Duration, Status } from './exchange-list.js'
import { explainExchange } from './explain-exchange.js'
import { ActionButton } from './fields.js'
import { countOf, findingOf } from './findings.js'
import type { Obstacle } from './obstacles.js'
import { recordedRequest } from './recorded-request.js'
import { close, exchangeById, filterBy, select, step } from './session.js'
import { bans, conduct, editing, exchanges, isNow, obstaclesNow, selected, spaceTime, state } from './state.js'
import { dateText, idsText, instantText, inZone, outcomeOf } from './texts.js'

export function closeExchange(): void {
  const id = selected.value?.id
  close()
  document.querySelector<HTMLElement>(`[data-exchange="${id}"]`)?.focus({ preventScroll: true })
}

export function ExchangePanel() {
  const exchange = selected.value
  if (exchange === undefined) return <p class="bar muted">Select a request to see it here.</p>
  const { id, ended, operation } = exchange
  const key = state.value?.keys.find((known) => known.key === exchange.key)
  const { latency } = state.value?.settings ?? {}
  const rules = state.value?.faults.filter(({ left }) => left !== 0).map(({ id }) => id) ?? []
  const now = spaceTime.value ?? 0
  const obstacles = obstaclesNow(exchange.key)
  const { rule, help } = explainExchange(exchange, { ...key, latency, rules, bans: bans.value, now, obstacles })
  const finding = findingOf(exchange, conduct.value)
  const chain = chainOf(exchange, conduct.value, exchanges.value, bans.value)
  const title = titleOf(chain, exchange)
  const at = Date.parse(exchange.at)
  const facts = {
    Exchange: id,
    At: `${dateText(at)} ${timeText(at, true)}`,
    Operation: <FilterButton field="op" value={operation ?? 'none'} />,
    Key: <FilterButton field="key" value={exchange.key} text={`${exchange.key}${key?.plan ? ` (${key.plan})` : ''}`} />,
    Duration: <Duration exchange={exchange} />,
  }
  return (
    <section class="detail stack" aria-labelledby="detail-title">
      <div class="row">
        {finding === undefined ? null : <span class="tag outcome soft failed">{finding.rule}</span>}
        <FilterButton field="client" value={clientOf(exchange)} text={clientName(exchange)} />
        {finding === undefined ? null : <span class="muted">{counted(countOf(finding, exchange), 'time')}</span>}
        <span class="row push">
          <button type="button" aria-label="Newer exchange" onClick={() => step(-1)}>
            ↑
          </button>
          <button type="button" aria-label="Older exchange" onClick={() => step(1)}>
            ↓
          </button>
          <button type="button" aria-label="Close the exchange" onClick={closeExchange}>
            ×
          </button>
        </span>
      </div>
      <h2 id="detail-title" class={`why ${ended === null ? '' : outcomeOf(exchange)}`}>
        {title ?? rule}
      </h2>
      <p class="target">
        <Status exchange={exchange} />{' '}
        <span class="mono">
          {exchange.method} {addressOf(exchange)}
        </span>
      </p>
      {title === undefined ? null : <p>{rule}</p>}
      {finding === undefined || finding.disobeyed !== null ? null : <p>{inZone(finding.message, at)}</p>}
      {help === undefined ? null : <p class="muted">{help}</p>}
      <NextSteps exchange={exchange} keyView={key} />
      {chain === undefined ? null : <ChainList chain={chain} exchange={exchange} />}
      <dl class="row facts">
        {Object.entries(facts).map(([name, fact]) => (
          <div key={name} class="row">
            <dt>{name}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
      </dl>
      <Messages key={id} exchange={exchange} chain={chain} />
    </section>
  )
}

/** Of a request that came before its wait had passed. */
function titleOf(chain: Chain | undefined, exchange: Exchange): string | undefined {
  const { finding, ignored } = chain ?? {}
  if (ignored === undefined || Date.parse(exchange.at) >= (ignored.until ?? Number.POSITIVE_INFINITY)) return undefined
  const { exchange: id, at, status, retryAfter, teller } = ignored
  const later = formatSpan(laterBy(exchange, ignored, finding))
  if (teller !== undefined && retryAfter !== null)
    return `${teller}, which uses the same key, was told to wait ${secondsText(retryAfter)} at ${timeText(at)}; this came ${later} later.`
  const asked = retryAfter === null ? '' : `, which asked to wait ${secondsText(retryAfter)}`
  return `It came back ${later} after ${status === 0 ? 'its lost response' : `its ${status}`} (#${id})${asked}.`
}

function ChainList({ chain, exchange: { at, key } }: { readonly chain: Chain; readonly exchange: Exchange }) {
  const { start, early, banned, finding } = chain
  const { until, ban } = start
  const sent = Date.parse(at)
  const now = spaceTime.value ?? 0
  const later = early[0] && `+${formatSpan(laterBy(early[0], start, finding))}`
  const askAgain = until === undefined ? '' : ` → ask again at ${instantText(until, sent)}`
  const told = Math.max(until ?? 0, ban?.until ?? 0)
  const obstacle = obstaclesNow(key).find(({ isWhole }) => isWhole)
  // Instants are shown by the second.
  const hasNext = obstacle !== undefined && endText(obstacle.until) !== endText(told) && obstacle.until > told
  const end = hasNext ? obstacle.until : told
  return (
    <ol class="chain rules" aria-label="What led to it">
      <Step at={timeText(start.at, true)} ids={[start.exchange]}>
        <b class="mono">{start.status === 0 ? 'lost' : start.status}</b>{' '}
        {start.teller === undefined ? '' : `of ${start.teller}, `}
        {start.retryAfter === null ? 'no Retry-After' : `Retry-After: ${start.retryAfter}${askAgain}`}
      </Step>
      {early.length === 0 ? null : (
        <Step at={later} ids={early.map(({ id }) => id)} class="outcome soft failed">
          {until === undefined
            ? counted(early.length, 'repeat')
            : `${counted(early.length, 'request')} inside that wait`}
        </Step>
      )}
      {ban === undefined ? null : (
        <Step at={timeText(ban.at, true)}>
          <b>banned</b> for {formatSpan(ban.until - ban.at)}:{' '}
          {ban.early === undefined ? 'by hand' : counted(ban.early, 'early request')}
        </Step>
      )}
      {banned.length === 0 ? null : (
        <Step ids={banned.map(({ id }) => id)} class="outcome soft failed">
          {counted(banned.length, 'request')} inside the ban
        </Step>
      )}
      {until === undefined || until === end ? null : (
        <Step at={<del>{endText(until)}</del>} class="muted">
          {ban === undefined && until <= now ? 'was the first moment to ask again' : 'would have been right, without'}
          {ban === undefined ? `; now: ${obstacle?.text}` : ' the ban'}
        </Step>
      )}
      {end === 0 ? null : (
        <Step class="outcome soft answered">
          {end === Number.POSITIVE_INFINITY
            ? 'Refused until the storm is stopped'
            : `${instantText(end, sent)}: the first moment to ask again${end > now ? ` · in ${countdownText(end - now)}` : ''}`}
        </Step>
      )}
    </ol>
  )
}

interface StepProps {
  readonly at?: ComponentChildren
  /** Of the exchanges that it is about, the oldest first. */
  readonly ids?: readonly number[]
  readonly class?: string
  readonly children: ComponentChildren
}

function Step({ at, ids = [], class: style = '', children }: StepProps) {
  const first = exchangeById(ids[0] ?? 0)
  return (
    <li class={style}>
      {at === undefined ? null : <span class="mono muted">{at}</span>}
      <span>{children}</span>
      {ids.length === 0 ? null : (
        <button type="button" class="plain mono" disabled={first === undefined} onClick={() => select(first)}>
          #{idsText(ids)}
        </button>
      )}
    </li>
  )
}

function NextSteps({ exchange, keyView }: { readonly exchange: Exchange; readonly keyView: KeyView | undefined }) {
  const { id } = exchange
  const request = state.value && recordedRequest(exchange, SANDBOX_ADDRESS, state.value)
  // A ban outlasts the wait that it began in.
  const obstacle = obstaclesNow(exchange.key).find(({ isWhole }) => isWhole)
  const reason = exchange.reason === null ? null : (obstacle?.reason ?? exchange.reason)
  const { actions = [] } = fixRefusal({ reason, isAlwaysRefused: keyView?.always != null }) ?? {}
  const possible = actions.flatMap(({ action, label }) => {
    const act = actionFor(action, exchange, keyView, obstacle)
    return act === undefined ? [] : [{ label, act }]
  })
  return (
    <div class="row steps">
      {possible.map(({ label, act }, index) => (
        <ActionButton key={label} class={index === 0 ? 'primary' : ''} act={act}>
          {label}
        </ActionButton>
      ))}
      <ActionButton act={() => replay(id)}>Replay</ActionButton>
      <button type="button" onClick={() => (editing.value = exchange)}>
        Edit and replay…
      </button>
      {request === undefined ? null : <CopyButton text={curlCode(request)}>Copy as curl</CopyButton>}
    </div>
  )
}

/** The action of a fix; undefined if it is not possible, or not needed any more. @param key undefined for an unknown key */
function actionFor(action: FixAction, exchange: Exchange, key: KeyView | undefined, obstacle: Obstacle | undefined) {
  const { key: name, ruleId = '' } = exchange
  const { settings, plans = [], faults = [], active = [] } = state.value ?? {}
  switch (action) {
    case 'advance-clock':
      return obstacle === undefined || obstacle.until === Number.POSITIVE_INFINITY
        ? undefined
        : () => moveClock({ now: isoText(Math.ceil(obstacle.until)) })
    case 'larger-plan': {
      const plan = key?.plan ? plans[plans.indexOf(key.plan) + 1] : undefined
      return plan === undefined || obstacle?.reason !== 'quota-minute' ? undefined : () => changePlan(name, plan)
    }
    case 'lift-ban':
      return key?.ban ? () => unban(name) : undefined
    case 'stop-storm':
      return active.some((item) => item.what === 'storm' && !item.isOff && isNow(item, spaceTime.value ?? 0))
        ? () => call('storm.stop', {}, 'The storm is stopped.')
        : undefined
    case 'remove-fault':
      return faults.some(({ left, id }) => left !== 0 && id === ruleId) ? () => removeFault(ruleId) : undefined
    case 'restore-operation':
      return settings?.sunset === 'before' ? undefined : () => changeSunset('before')
    case 'end-brownout':
      return settings?.sunset === 'brownout' ? () => changeSunset('auto') : undefined
  }
}

const changeSunset = (sunset: 'before' | 'auto') => call('settings.change', { sunset }, `Sunset is ${sunset}.`)

/** `0 of 60 were left · resets at 12:01:00 UTC · Retry-After 60` */
function RateStrip({ exchange: { response } }: { readonly exchange: Exchange }) {
  const { 'x-ratelimit-limit': limit, 'retry-after': wait, ...headers } = response.headers
  if (limit === undefined) return null
  const remaining = Number(headers['x-ratelimit-remaining'])
  const [reset, now] = [Number(headers['x-ratelimit-reset']) * 1000, spaceTime.value ?? 0]
  const parts = [
    `${remaining} of ${limit} were left`,
    `${reset > now ? 'resets' : 'was reset'} at ${instantText(reset, now)}`,
    ...(wait === undefined ? [] : [`Retry-After ${wait}`]),
  ]
  return <p class="muted">{parts.join(' · ')}</p>
}

function Messages({ exchange, chain }: { readonly exchange: Exchange; readonly chain: Chain | undefined }) {
  const tab = useSignal<Part>(exchange.ended !== null && exchange.status === null ? 'Sent' : 'Received')
  const { body, headers } = tab.value === 'Sent' ? exchange.request : exchange.response
  return (
    <>
      <Toggle label="Parts" names={PARTS} value={tab.value} choose={(name) => (tab.value = name)} />
      {tab.value === 'Code' ? (
        <Code exchange={exchange} isEarly={chain?.finding !== undefined} />
      ) : (
        <>
          {tab.value === 'Received' ? <RateStrip exchange={exchange} /> : null}
          <Body text={body} />
          <HeaderList headers={headers} />
        </>
      )}
    </>
  )
}

const PARTS = ['Sent', 'Received', 'Code'] as const
type Part = (typeof PARTS)[number]

function Code({ exchange, isEarly }: { readonly exchange: Exchange; readonly isEarly: boolean }) {
  if (state.value === undefined) return null
  const request = recordedRequest(exchange, SANDBOX_ADDRESS, state.value)
  const { status } = exchange
  const fails = isEarly || status === null || status >= 400
  const basePath = spacePath(exchange.space) + state.value.basePath
  return (
    <CodeBlock
      forms={{
        ...codeForms(request),
        [`as a ${fails ? 'failing ' : ''}Vitest test`]: () => vitestCode(request, basePath, setupOf(exchange), isEarly),
      }}
    />
  )
}

/** The statement that breaks the service in the same way, with a wait that fits the time limit of a test. */
function setupOf({ operation, status, reason, rule, response }: Exchange): string | undefined {
  const wait = response.headers['retry-after']
  const add = (fault: string) => `await sandbox.faults.add(${quoted(fault)})`
  if (rule !== undefined) return add(rule)
  if (reason === 'storm') return "await sandbox.storm.start({ retryAfter: '1s' })"
  if (reason === null || operation === null || status === null || status < 400) return undefined
  return add(`${operation}:${status}*1${wait === undefined ? '' : ',retry-after=1s'}`)
}

interface FilterProps {
  readonly field: string
  readonly value: string
  readonly text?: string
}

function FilterButton({ field, value, text = value }: FilterProps) {
  const act = () => filterBy(wordOf(field, value))
  return (
    <button type="button" class="plain" aria-label={`Filter by ${value}`} onClick={act}>
      {text}
    </button>
  )
}
