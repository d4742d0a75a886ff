import { computed, useComputed, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Finding } from '../../conduct/conduct-view.js'
import { RULE_VERDICTS, waitEvidence } from '../../conduct/verdict-words.js'
import { counted } from '../../domain/numbers.js'
import { wordOf } from '../../exchanges/exchange-filter.js'
import { countdownText, endText, timeText } from '../format.js'
import { Field } from '../ui.js'
import { type Lane, lanesOf, orderLanes } from './client-lanes.js'
import { setsClock } from './exchange-rows.js'
import { minuteAt } from './quota-now.js'
import { exchangeById, filterBy, filterUntilClosed, select } from './session.js'
import { chips, conduct, events, exchanges, isPart, kept, obstaclesNow, pageTime, spaceTime, state } from './state.js'
import { countText, OUTCOME_LABELS, OUTCOMES, outcomesText, wholeSecond } from './texts.js'
import type { TimeAxis } from './time-axis.js'

/** More have a filter. */
const MAX_SHOWN = 8
const WIDTH = 1000

/** By the second, so that lanes are not drawn for each tick. */
const second = computed(() => wholeSecond(spaceTime.value ?? 0))

/** A lane for each client: its requests over time, the waits that it was told, and the verdict on it. */
export function ClientLanes() {
  const shown = useComputed(() => {
    const [newest] = exchanges.value
    if (newest === undefined) return undefined
    const mayHaveMoved = events.value.some(({ afterId, verb }) => afterId >= newest.id && setsClock(verb))
    const real = performance.timeOrigin + pageTime.peek() + second.value - (spaceTime.peek() ?? 0)
    return lanesOf(exchanges.value, conduct.value, second.value, mayHaveMoved ? real : undefined)
  })
  const wanted = useSignal('')
  const isHeld = useSignal(false)
  const order = useRef<readonly string[]>([])
  if (shown.value === undefined) return null
  const { axis } = shown.value
  const lanes = orderLanes(shown.value.lanes, order.current, isHeld.value)
  order.current = lanes.map(({ client }) => client)
  const clients = lanes.filter(({ isOwn }) => !isOwn)
  const bad = clients.filter(({ violations }) => violations > 0).length
  const { requests = 0 } = state.value?.counts ?? {}
  const all = countText(Math.max(kept.value, requests), 'request')
  const summary = [
    ...(bad === 0
      ? []
      : [`${bad} of ${counted(clients.length, 'client')} ${bad === 1 ? 'breaks' : 'break'} the rules`]),
    isPart.value ? `the last ${kept.value.toLocaleString('en')} of ${all}; verdicts count all` : all,
  ].join(' · ')
  const text = wanted.value.toLowerCase()
  const visible = lanes.filter(({ client, name }) => `${client} ${name}`.toLowerCase().includes(text))
  return (
    <section class="clients" aria-label="Clients">
      <div class="row">
        <p class="row grow">
          <b>Clients</b>
          <span class="muted" title={summary}>
            {summary}
          </span>
          {lanes.length <= MAX_SHOWN ? null : (
            <Field
              type="search"
              class="short"
              aria-label="Filter clients"
              placeholder={`Filter ${lanes.length}`}
              value={wanted.value}
              choose={(text) => (wanted.value = text)}
            />
          )}
        </p>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere */}
        <div class="row legend" role="group" aria-label="Show only">
          {OUTCOMES.map((outcome) => (
            <button
              type="button"
              key={outcome}
              class={`plain ${outcome}`}
              aria-pressed={chips.value.includes(`outcome:${outcome}`)}
              onClick={() => filterBy(`outcome:${outcome}`)}
            >
              {OUTCOME_LABELS[outcome]}
            </button>
          ))}
          <span class="wait muted">told to wait</span>
        </div>
      </div>
      <ul
        class="lanes"
        onPointerEnter={({ pointerType }) => (isHeld.value = pointerType === 'mouse')}
        onPointerLeave={({ currentTarget }) => (isHeld.value = currentTarget.contains(document.activeElement))}
        onFocusIn={() => (isHeld.value = true)}
        onFocusOut={() => (isHeld.value = false)}
      >
        {visible.map((lane) => (
          <LaneRow key={lane.client} lane={lane} axis={axis} />
        ))}
      </ul>
      <Scale axis={axis} />
    </section>
  )
}

/** The beginning of each segment with what lies before it, and the present. */
function Scale({ axis: { segments, hidden } }: { readonly axis: TimeAxis }) {
  return (
    <div class="scale muted">
      <span>{hidden === 0 ? 'worst first' : `${hidden.toLocaleString('en')} not drawn`}</span>
      <span class="segments">
        {segments.map(({ firstId, from, gap }, index) => (
          <span key={firstId} title={`${gap} ${timeText(from)}`}>
            {index === 0 ? timeText(from) : gap}
          </span>
        ))}
      </span>
      <b>now {timeText(second.value)}</b>
    </div>
  )
}

function LaneRow({ lane, axis }: { readonly lane: Lane; readonly axis: TimeAxis }) {
  const { client, name, key, counts, marks, waits, isOwn } = lane
  const word = wordOf('client', client)
  const plan = state.value?.keys.find((known) => known.key === key)?.plan
  const { segments, now } = axis
  const breaks = segments.slice(1).map((_, index) => (index + 1) / segments.length)
  return (
    <li class={isOwn ? 'lane own' : 'lane'}>
      <button
        type="button"
        class="who"
        aria-pressed={chips.value.includes(word)}
        title={`Show only ${client}`}
        onClick={() => filterBy(word)}
      >
        <b>{name}</b>
        <span class="mono muted">{[key, plan].filter((part) => part && part !== name).join(' · ')}</span>
      </button>
      <svg viewBox={`0 0 ${WIDTH} 34`} preserveAspectRatio="none" role="img" aria-label={outcomesText(counts)}>
        <path class="axis" d={`M0 17h${WIDTH}`} />
        {waits.map(([start, end]) => (
          <rect key={start} class="wait" x={start * WIDTH} width={(end - start) * WIDTH} y="3" height="28" />
        ))}
        <path class="break" d={breaks.map((share) => `M${share * WIDTH - 3} 0v34m6-34v34`).join('')} />
        {OUTCOMES.map((outcome) => (
          <path
            key={outcome}
            class={outcome}
            d={[...marks[outcome]]
              .map((share) => `M${2 + share * (WIDTH - 8)} 9v16${isOwn ? 'h5v-16h-5' : ''}`)
              .join('')}
          />
        ))}
        <path class="now" d={`M${now * WIDTH} 0v34`} />
      </svg>
      <Verdict lane={lane} />
      <Quota of={key} waitEnd={lane.waitEnd} />
    </li>
  )
}

/** Judged by conduct, not by the page. */
function Verdict({ lane: { findings, violations, requests, key, isOwn, sharesWith } }: { readonly lane: Lane }) {
  const [worst] = findings
  if (worst === undefined)
    return (
      <span class={`verdict ${isOwn ? '' : 'answered'}`}>
        <b>{isOwn ? 'Your own requests' : 'Keeps the rules'}</b>
        <span class="muted">
          {isOwn
            ? 'charged, but not judged'
            : sharesWith === undefined
              ? isPart.value
                ? `${requests.toLocaleString('en')} of the last ${kept.value.toLocaleString('en')}`
                : countText(requests, 'request')
              : `shares ${key} with ${sharesWith}, which was told to wait`}
        </span>
      </span>
    )
  const verdict = RULE_VERDICTS[worst.rule]
  return (
    <button
      type="button"
      class={`verdict ${violations > 0 ? 'failed' : 'refused'}`}
      title={worst.message}
      onClick={() => showFinding(worst)}
    >
      <b>
        {verdict.charAt(0).toUpperCase() + verdict.slice(1)}, {worst.count.toLocaleString('en')} ×
      </b>
      <span class="muted">
        {waitEvidence(worst) ?? worst.message}
        {findings.length > 1 ? ` · ${findings.length - 1} more` : ''}
      </span>
    </button>
  )
}

/** Opens its first exchange in the log, which shows those that it names until that is closed. */
export function showFinding({ exchanges: ids, count }: Pick<Finding, 'exchanges' | 'count'>): void {
  filterUntilClosed(`id:${ids.join(',')}`, count > ids.length ? `the first ${ids.length} of ${count} times` : '')
  select(ids.map(exchangeById).find((exchange) => exchange !== undefined))
}

/** When a client can go on. The instants come first, as the rest may be cut off. */
function Quota({ of, waitEnd }: { readonly of: string; readonly waitEnd: number }) {
  const view = state.value?.keys.find(({ key }) => key === of)
  if (view === undefined) return <span class="quota" />
  const now = spaceTime.value ?? 0
  const obstacle = obstaclesNow(of).find(({ isWhole }) => isWhole)
  if (obstacle !== undefined && obstacle.reason !== 'quota-minute') {
    const { text, until } = obstacle
    const hasEnd = until < Number.POSITIVE_INFINITY
    return (
      <span class="quota failed">
        <b>{hasEnd ? `until ${endText(until)}` : text}</b>
        <span class="muted">{hasEnd ? `${text} · ${countdownText(until - now)} left` : 'all refused'}</span>
      </span>
    )
  }
  const minute = minuteAt(view, now)
  if (minute === undefined)
    return <span class="quota error">{waitEnd > now ? `wait until ${endText(waitEnd)}` : ''}</span>
  const { limit, remaining, leftMs } = minute
  const text = `${remaining.toLocaleString('en')} of ${limit.toLocaleString('en')}`
  return (
    <span class={`quota ${remaining === 0 ? 'failed' : 'answered'}`}>
      <span class="row">
        <span class="meter soft grow">
          <span style={{ width: `${limit === 0 ? 0 : (100 * remaining) / limit}%` }} />
        </span>
        <span class="muted">{text}</span>
      </span>
      {waitEnd > Math.max(now, remaining === 0 ? now + leftMs : 0) ? (
        <span class="error">wait until {endText(waitEnd)}</span>
      ) : leftMs > 0 ? (
        <span class="muted" title={`in ${countdownText(leftMs)}`}>
          resets {endText(now + leftMs)}
        </span>
      ) : null}
    </span>
  )
}
