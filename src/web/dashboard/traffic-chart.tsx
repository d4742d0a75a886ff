import { useComputed, useSignal } from '@preact/signals'
import { OUTCOMES, type OutcomeCounts, outcomesText, timeText } from '../format.js'
import { tally } from '../session.js'
import { events, exchanges, filter, spaceTime } from '../state.js'
import { Select } from '../ui.js'
import { rangeWord } from './exchange-filter.js'
import { type Bucket, CHART_RANGES, type ChartRange, totalOf } from './traffic-tally.js'

const RANGES = Object.keys(CHART_RANGES) as readonly ChartRange[]
const TOP = 8
const PLOT_HEIGHT = 60
const LABELS_HEIGHT = 28
/** Minimum height of the plot, in requests. */
const MIN_PEAK = 4
const BAR_WIDTH = 0.8

export function TrafficChart() {
  const range = useSignal<ChartRange>('1 min')
  const second = useComputed(() => Math.floor((spaceTime.value ?? 0) / 1000))
  const buckets = exchanges.value && tally.buckets(range.value, second.value * 1000)
  const summary = outcomesText(totalOf(buckets))
  return (
    <section class="card chart" aria-label="Requests over time">
      <div class="row between">
        <p class="muted">
          Last {range}: {summary || 'nothing'}
        </p>
        <Select label="Range" value={range.value} choices={RANGES} choose={(name) => (range.value = name)} />
      </div>
      <div role="img" aria-label={`Requests in the last ${range}: ${summary || 'none'}`}>
        <Plot {...CHART_RANGES[range.value]} buckets={buckets} />
      </div>
    </section>
  )
}

interface PlotProps {
  readonly buckets: readonly Bucket[]
  readonly bucketSeconds: number
  readonly tickSeconds: number
}

function Plot({ buckets, bucketSeconds, tickSeconds }: PlotProps) {
  /** A place, not a time: as time goes on the bars move under a resting pointer. */
  const hovered = useSignal<number | undefined>(undefined)
  const bucketMs = bucketSeconds * 1000
  const start = buckets[0]?.start ?? 0
  const heights = buckets.map(({ counts }) => OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0))
  const peak = Math.max(MIN_PEAK, ...heights) * 1.1
  const x = (at: number) => `${(((at - start) / bucketMs) * 100) / buckets.length}%`
  const y = (count: number) => TOP + PLOT_HEIGHT * (1 - count / peak)
  const marks = events.value.map(({ at, text }) => ({ at: Date.parse(at), text }))
  const timeLength = tickSeconds < 600 ? 8 : 5
  const slot = `${100 / buckets.length}%`
  const bar = `${(100 * BAR_WIDTH) / buckets.length}%`
  /** `12:00:10: 3 2xx; storm start: rate 1 for 30s` */
  const bucketText = (at: number, counts: OutcomeCounts) => {
    const done = marks.filter((mark) => mark.at >= at && mark.at < at + bucketMs).map(({ text }) => text)
    return `${timeText(at)}: ${[outcomesText(counts) || 'nothing', ...done.toReversed()].join('; ')}`
  }
  return (
    <svg class="plot" height={TOP + PLOT_HEIGHT + LABELS_HEIGHT} aria-hidden="true">
      {countTicks(peak).map((count) => (
        <g key={count}>
          <line class="grid" x1="0" x2="100%" y1={y(count)} y2={y(count)} />
          <text class="amount" x="-6" y={y(count) + 4}>
            {count}
          </text>
        </g>
      ))}
      {buckets.map(({ start: at, counts }) => {
        let below = 0
        return OUTCOMES.filter((outcome) => counts[outcome] > 0).map((outcome) => {
          below += counts[outcome]
          const height = (PLOT_HEIGHT * counts[outcome]) / peak
          return <rect key={outcome} class={outcome} x={x(at)} y={y(below)} width={bar} height={height} />
        })
      })}
      {buckets
        .filter(({ start: at }) => at % (tickSeconds * 1000) === 0)
        .map(({ start: at }) => (
          <text key={at} x={x(at)} y={TOP + PLOT_HEIGHT + 18}>
            {timeText(at).slice(0, timeLength)}
          </text>
        ))}
      {marks.map(({ at }, index) =>
        at < start || at > start + buckets.length * bucketMs ? null : (
          <line key={index} class="mark" x1={x(at)} x2={x(at)} y1={TOP} y2={TOP + PLOT_HEIGHT} />
        ),
      )}
      {buckets.map(({ start: at, counts }, index) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: for the keyboard, the filter takes the same word
        <rect
          key={index}
          class="slot"
          x={x(at)}
          y={TOP}
          width={slot}
          height={PLOT_HEIGHT}
          onPointerEnter={() => (hovered.value = index)}
          onClick={() => (filter.value = { text: rangeWord(at, at + bucketMs), outcome: undefined })}
        >
          {hovered.value === index ? <title>{bucketText(at, counts)}</title> : null}
        </rect>
      ))}
    </svg>
  )
}

function countTicks(peak: number): readonly number[] {
  const unit = 10 ** Math.floor(Math.log10(peak / 3))
  const step = Math.max(1, ([1, 2, 5].find((factor) => factor * unit >= peak / 3.5) ?? 10) * unit)
  return Array.from({ length: Math.floor(peak / step) + 1 }, (_, index) => index * step)
}
