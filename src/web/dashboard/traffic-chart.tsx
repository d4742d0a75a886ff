import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { timeText } from './clock-text.js'
import { stretchWord } from './exchange-filter.js'
import { OUTCOME_LABELS, OUTCOMES } from './outcome.js'
import { useDashboard, useSession } from './session-context.js'
import type { TimelineEvent } from './timeline.js'
import { chartOptions } from './traffic-chart-options.js'
import { CHART_RANGES, type ChartRange, type OutcomeCounts, piled, totalOf } from './traffic-tally.js'
import { useSpaceTime } from './use-space-time.js'

const RANGES = Object.keys(CHART_RANGES) as readonly ChartRange[]

/** Requests over time, by how they ended; by the space's clock. */
export function TrafficChart() {
  const session = useSession()
  // Read anew whenever exchanges have come.
  useDashboard(({ revision }) => revision)
  const [range, setRange] = useState<ChartRange>('1 min')
  const now = useSpaceTime() ?? 0
  const { starts, counts } = session.tally.buckets(range, now)
  const total = totalOf(counts)
  const summary = countsText(total)
  return (
    <section class="card chart" aria-label="Requests over time">
      <div class="row between">
        <p class="muted">
          Last {range}: {summary || 'nothing'}
        </p>
        <label class="inline">
          Range{' '}
          <select
            value={range}
            onChange={({ currentTarget }) => setRange(RANGES[currentTarget.selectedIndex] ?? range)}
          >
            {RANGES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </div>
      <div role="img" aria-label={`Requests in the last ${range}: ${summary || 'none'}`}>
        <Plot
          starts={starts}
          counts={counts}
          bucketSeconds={CHART_RANGES[range].bucketSeconds}
          events={session.events}
          narrow={(from, to) => session.filter({ text: stretchWord(from, to), outcome: undefined })}
        />
      </div>
    </section>
  )
}

/** `12 2xx, 3 429` */
function countsText(counts: OutcomeCounts): string {
  return OUTCOMES.filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${counts[outcome]} ${OUTCOME_LABELS[outcome]}`)
    .join(', ')
}

interface PlotProps {
  /** In seconds since the epoch. */
  readonly starts: readonly number[]
  readonly counts: readonly OutcomeCounts[]
  readonly bucketSeconds: number
  /** What was done in between, which is marked. */
  readonly events: readonly TimelineEvent[]
  /** Shows what came in a stretch of time, in milliseconds since the epoch. */
  narrow(from: number, to: number): void
}

function Plot(props: PlotProps) {
  const { starts, counts, bucketSeconds, events } = props
  const heights = piled(counts)
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const [scheme, setScheme] = useState(0)
  // The plot outlives what it shows.
  const shown = useRef(props)
  shown.current = props

  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const turn = () => setScheme((count) => count + 1)
    dark.addEventListener('change', turn)
    return () => dark.removeEventListener('change', turn)
  }, [])

  useEffect(() => {
    const element = place.current
    if (element === null) return
    const made = new uPlot(
      chartOptions(element, () => shown.current.events.map(({ at }) => Date.parse(at) / 1000)),
      [[], ...OUTCOMES.map(() => [])],
      element,
    )
    plot.current = made
    made.over.addEventListener('click', ({ offsetX }) => {
      const { bucketSeconds, narrow } = shown.current
      const index = bucketAt(made, offsetX, shown.current)
      const start = shown.current.starts[index]
      if (start !== undefined) narrow(start * 1000, (start + bucketSeconds) * 1000)
    })
    made.over.addEventListener('pointermove', ({ offsetX }) => {
      made.over.title = bucketText(bucketAt(made, offsetX, shown.current), shown.current)
    })
    const sizes = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: element.clientHeight }))
    sizes.observe(element)
    return () => {
      sizes.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [scheme])

  const text = `${scheme} ${starts[0]} ${heights.join(' ')} ${events.length} ${events[0]?.number}`
  useEffect(() => {
    const first = starts[0] ?? 0
    const last = (starts.at(-1) ?? 0) + bucketSeconds
    // The highest pile first, so that the lower ones stand before it.
    plot.current?.setData([[...starts], ...heights.toReversed().map((pile) => [...pile])], false)
    plot.current?.batch(() => {
      plot.current?.setScale('x', { min: first, max: last })
      plot.current?.setScale('y', { min: 0, max: Math.max(4, ...(heights.at(-1) ?? [])) * 1.1 })
    })
  }, [text])

  return <div class="plot" ref={place} />
}

/** Which bucket is drawn so far from the left of the plot. */
function bucketAt(plot: uPlot, x: number, { starts, bucketSeconds }: PlotProps): number {
  return Math.floor((plot.posToVal(x, 'x') - (starts[0] ?? 0)) / bucketSeconds)
}

/** `12:00:10: 3 2xx; storm start: rate 1 for 30s` */
function bucketText(index: number, { starts, counts, bucketSeconds, events }: PlotProps): string {
  const start = starts[index]
  const bucket = counts[index]
  if (start === undefined || bucket === undefined) return ''
  const isIn = (at: number) => at >= start * 1000 && at < (start + bucketSeconds) * 1000
  const done = events.filter(({ at }) => isIn(Date.parse(at))).map(({ text }) => text)
  return `${timeText(start * 1000)}: ${[countsText(bucket) || 'nothing', ...done.toReversed()].join('; ')}`
}
