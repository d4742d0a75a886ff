import { useSignal } from '@preact/signals'
import { rangeWord } from '../../exchanges/exchange-filter.js'
import type { TrafficBuckets } from '../../exchanges/traffic.js'
import { timeText } from '../format.js'
import { showRange } from '../session.js'
import { CHART_RANGES, type ChartRange, events, filter, range, spaceTime, traffic } from '../state.js'
import { Field } from '../ui.js'
import { inZone, NO_OUTCOMES, OUTCOMES, type OutcomeCounts, outcomesText } from './texts.js'
import { OutcomeFilter } from './traffic.js'

const RANGES = Object.keys(CHART_RANGES) as readonly ChartRange[]
const TOP = 13
const PLOT_HEIGHT = 44
const LABELS_HEIGHT = 16
/** Minimum height of the plot, in requests. */
const MIN_PEAK = 4
const BAR_WIDTH = 0.8
const LABEL_SHARE = 0.18
/** Half the width of a time. */
const TICK_SHARE = 0.07

export function TrafficChart() {
  const counted = traffic.value
  const buckets = counted === undefined ? [] : bucketsOf(counted)
  const total = { ...NO_OUTCOMES }
  for (const { counts } of buckets) for (const outcome of OUTCOMES) total[outcome] += counts[outcome]
  const summary = outcomesText(total)
  return (
    <section class="chart" aria-label="Requests over time">
      <div role="img" aria-label={`Requests in the last ${range}: ${summary || 'none'}`}>
        <Plot buckets={buckets} />
      </div>
      <div class="row">
        <Field label="Last" class="row" value={range.value} choices={RANGES} choose={showRange} />
        <OutcomeFilter counts={total} />
      </div>
    </section>
  )
}

interface Bucket {
  readonly start: number
  readonly counts: OutcomeCounts
}

function bucketsOf({ from, bucketSeconds, outcomes }: TrafficBuckets): readonly Bucket[] {
  const first = Date.parse(from)
  const { length } = outcomes.answered
  const last = Math.floor((spaceTime.value ?? 0) / 1000 / bucketSeconds)
  const shift = Math.max(0, last - first / 1000 / bucketSeconds - length + 1)
  return Array.from({ length }, (_, index) => ({
    start: first + (shift + index) * bucketSeconds * 1000,
    counts: Object.fromEntries(
      OUTCOMES.map((outcome) => [outcome, outcomes[outcome][index + shift] ?? 0]),
    ) as OutcomeCounts,
  }))
}

function Plot({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const { bucketSeconds, tickSeconds } = CHART_RANGES[range.value]
  /** Places, not times: as time goes on the bars move under a resting pointer. */
  const hovered = useSignal<number | undefined>(undefined)
  const pressed = useSignal<number | undefined>(undefined)
  const bucketMs = bucketSeconds * 1000
  const start = buckets[0]?.start ?? 0
  const heights = buckets.map(({ counts }) => OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0))
  const peak = Math.max(MIN_PEAK, ...heights)
  const share = (at: number) => (at - start) / bucketMs / Math.max(1, buckets.length)
  const x = (at: number) => `${share(at) * 100}%`
  const y = (count: number) => TOP + PLOT_HEIGHT * (1 - count / peak)
  const bottom = TOP + PLOT_HEIGHT
  const marks = events.value
    .map(({ at, text }) => ({ at: Date.parse(at), text: inZone(text, spaceTime.value ?? 0) }))
    .filter(({ at }) => share(at) >= 0 && share(at) <= 1)
  const labelled = spread(marks, share)
  const slot = `${100 / buckets.length}%`
  /** `12:00:10: 3 2xx; Storm started: all requests get 429 for 30s` */
  const bucketText = (at: number, counts: OutcomeCounts) => {
    const done = marks
      .filter((mark) => mark.at >= at && mark.at < at + bucketMs)
      .map(({ text }) => text.replace(/\.$/, ''))
    return `${timeText(at)}: ${[outcomesText(counts) || 'nothing', ...done.toReversed()].join('; ')}`
  }
  function choose(index: number): void {
    const [first = index, last = index] = [pressed.value ?? index, index].sort((one, other) => one - other)
    pressed.value = undefined
    filter.value = rangeWord(start + first * bucketMs, start + (last + 1) * bucketMs)
  }
  const isSelected = (index: number) =>
    pressed.value !== undefined && (index - pressed.value) * (index - (hovered.value ?? pressed.value)) <= 0
  return (
    <svg
      class="plot"
      height={bottom + LABELS_HEIGHT}
      aria-hidden="true"
      onPointerLeave={() => (pressed.value = undefined)}
    >
      <line class="grid" x1="0" x2="100%" y1={bottom} y2={bottom} />
      {buckets.map(({ start: at, counts }) => {
        let below = 0
        return OUTCOMES.filter((outcome) => counts[outcome] > 0).map((outcome) => {
          below += counts[outcome]
          const height = (PLOT_HEIGHT * counts[outcome]) / peak
          const width = `${(100 * BAR_WIDTH) / buckets.length}%`
          return <rect key={outcome} class={outcome} x={x(at)} y={y(below)} width={width} height={height} />
        })
      })}
      {buckets
        .filter(({ start: at }) => at % (tickSeconds * 1000) === 0 && Math.abs(share(at) - 0.5) < 0.5 - TICK_SHARE)
        .map(({ start: at }) => (
          <text key={at} class="tick" x={x(at)} y={bottom + 13}>
            {timeText(at).slice(0, tickSeconds < 600 ? 8 : 5)}
          </text>
        ))}
      <text class="peak" x="0" y={TOP + 10}>
        {Math.max(...heights) > 0 ? Math.max(...heights).toLocaleString('en') : ''}
      </text>
      {marks.map(({ at }, index) => (
        <line key={index} class="mark" x1={x(at)} x2={x(at)} y1="0" y2={bottom} />
      ))}
      {labelled.map(({ at, text }, index) => (
        <text key={index} class={share(at) > 1 - LABEL_SHARE ? 'label before' : 'label'} x={x(at)} y="10">
          {labelOf(text)}
        </text>
      ))}
      {buckets.map(({ start: at, counts }, index) => (
        <rect
          key={index}
          class={isSelected(index) ? 'slot chosen' : 'slot'}
          x={x(at)}
          y="0"
          width={slot}
          height={bottom}
          onPointerEnter={() => (hovered.value = index)}
          onPointerDown={() => (pressed.value = index)}
          onPointerUp={() => choose(index)}
        >
          {hovered.value === index ? <title>{bucketText(at, counts)}</title> : null}
        </rect>
      ))}
    </svg>
  )
}

const MAX_LABEL = 22

function labelOf(text: string): string {
  const [short = ''] = text.split(/ → | until |: /)
  return short.length > MAX_LABEL ? `${short.slice(0, MAX_LABEL - 1)}…` : short
}

function spread<Mark extends { readonly at: number }>(
  marks: readonly Mark[],
  share: (at: number) => number,
): readonly Mark[] {
  let free = Number.POSITIVE_INFINITY
  return marks.filter(({ at }) => {
    const from = share(at) > 1 - LABEL_SHARE ? share(at) - LABEL_SHARE : share(at)
    if (from + LABEL_SHARE > free) return false
    free = from
    return true
  })
}
