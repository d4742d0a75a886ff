import { useComputed, useSignal } from '@preact/signals'
import { VIOLATIONS } from '../../conduct/conduct-view.js'
import { RULE_VERDICTS, waitEvidence } from '../../conduct/verdict-words.js'
import { counted } from '../../domain/numbers.js'
import { wordOf } from '../../exchanges/exchange-filter.js'
import { countdownText, timeText } from '../format.js'
import { filterBy } from '../session.js'
import { chips, conduct, exchanges, spaceTime, state } from '../state.js'
import { type Lane, lanesOf } from './client-lanes.js'
import { minuteAt } from './quota-now.js'
import { OUTCOME_LABELS, OUTCOMES, outcomesText } from './texts.js'

const MAX_SHOWN = 5
const WIDTH = 1000

/** A lane for each client: its requests over time, the waits that it was told, and the verdict on it. */
export function ClientLanes() {
  const shown = useComputed(() => lanesOf(exchanges.value, conduct.value))
  const isOpen = useSignal(false)
  const { from, to, lanes } = shown.value
  if (lanes.length === 0) return null
  const bad = lanes.filter(({ violations }) => violations > 0).length
  const visible = isOpen.value ? lanes : lanes.slice(0, MAX_SHOWN)
  const requests = lanes.reduce((sum, lane) => sum + lane.requests, 0)
  return (
    <section class="clients" aria-label="Clients">
      <div class="row between">
        <p class="row">
          <b>Clients</b>
          <span class="muted">
            {counted(requests, 'request')}
            {bad === 0 ? '' : ` · ${bad} of ${lanes.length} ${bad === 1 ? 'breaks' : 'break'} the rules`}
          </span>
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
      <ul class="lanes">
        {visible.map((lane) => (
          <LaneRow key={lane.client} lane={lane} />
        ))}
        <li class="scale muted" aria-hidden="true">
          <span />
          <span class="row between">
            {[0, 0.5, 1].map((share) => (
              <span key={share}>{timeText(from + share * (to - from))}</span>
            ))}
          </span>
          {lanes.length <= MAX_SHOWN ? null : (
            <button type="button" class="plain" onClick={() => (isOpen.value = !isOpen.value)}>
              {isOpen.value ? 'fewer' : `${lanes.length - MAX_SHOWN} more`}
            </button>
          )}
        </li>
      </ul>
    </section>
  )
}

function LaneRow({ lane }: { readonly lane: Lane }) {
  const { client, name, key, counts, marks, waits } = lane
  const word = wordOf('client', client)
  const plan = state.value?.keys.find((known) => known.key === key)?.plan
  return (
    <li>
      <button
        type="button"
        class="lane"
        aria-pressed={chips.value.includes(word)}
        title={`Show only ${client}`}
        onClick={() => filterBy(word)}
      >
        <span class="who">
          <b>{name}</b>
          <span class="mono muted">{[key, plan].filter((part) => part && part !== name).join(' · ')}</span>
        </span>
        <svg viewBox={`0 0 ${WIDTH} 34`} preserveAspectRatio="none" role="img" aria-label={outcomesText(counts)}>
          <path class="axis" d={`M0 17h${WIDTH}`} />
          {waits.map(([start, end]) => (
            <rect key={start} class="wait" x={start * WIDTH} width={(end - start) * WIDTH} y="3" height="28" />
          ))}
          {OUTCOMES.map((outcome) => (
            <path
              key={outcome}
              class={outcome}
              d={marks[outcome].map((share) => `M${2 + share * (WIDTH - 4)} 9v16`).join('')}
            />
          ))}
        </svg>
        <Verdict lane={lane} />
        <Quota of={key} />
      </button>
    </li>
  )
}

/** Judged by conduct, not by the page. */
function Verdict({ lane: { findings, requests } }: { readonly lane: Lane }) {
  const [worst] = findings
  if (worst === undefined)
    return (
      <span class="verdict answered">
        <b>Keeps the rules</b>
        <span class="muted">{counted(requests, 'request')}</span>
      </span>
    )
  const isViolation = VIOLATIONS.some((rule) => rule === worst.rule)
  const verdict = RULE_VERDICTS[worst.rule]
  return (
    <span class={`verdict ${isViolation ? 'failed' : 'refused'}`} title={worst.message}>
      <b>
        {verdict.charAt(0).toUpperCase() + verdict.slice(1)}, {worst.count} ×
      </b>
      <span class="muted">
        {waitEvidence(worst) ?? worst.message}
        {findings.length > 1 ? ` · ${findings.length - 1} more` : ''}
      </span>
    </span>
  )
}

function Quota({ of }: { readonly of: string }) {
  const view = state.value?.keys.find(({ key }) => key === of)
  if (view === undefined) return <span />
  const now = spaceTime.value ?? 0
  const minute = minuteAt(view, now)
  if (minute === undefined) return <span />
  const { limit, remaining, leftMs } = minute
  const text = `${remaining.toLocaleString('en')} of ${limit.toLocaleString('en')}`
  return (
    <span class={`quota ${remaining === 0 ? 'failed' : 'answered'}`}>
      <span class="meter soft">
        <span style={{ width: `${limit === 0 ? 0 : (100 * remaining) / limit}%` }} />
      </span>
      <span class="muted">{text}</span>
      {leftMs > 0 ? (
        <span class="muted" title={`in ${countdownText(leftMs)}`}>
          resets {timeText(now + leftMs)}
        </span>
      ) : null}
    </span>
  )
}
