import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { OUTCOME_LABELS, OUTCOMES } from './outcome.js'
import { useDashboard, useSession } from './session-context.js'
import { chartOptions } from './traffic-chart-options.js'
import { CHART_RANGES, type ChartRange, piled, totalOf } from './traffic-tally.js'
import { useSpaceTime } from './use-space-time.js'

const RANGES = Object.keys(CHART_RANGES) as readonly ChartRange[]

/** Requests over time, by how they ended; by the space's clock. */
export function TrafficChart() {
  const { tally } = useSession()
  // Read anew whenever exchanges have come.
  useDashboard(({ revision }) => revision)
  const [range, setRange] = useState<ChartRange>('1 min')
  const now = useSpaceTime() ?? 0
  const { starts, counts } = tally.buckets(range, now)
  const total = totalOf(counts)
  const summary = OUTCOMES.filter((outcome) => total[outcome] > 0)
    .map((outcome) => `${total[outcome]} ${OUTCOME_LABELS[outcome]}`)
    .join(', ')
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
        <Plot starts={starts} heights={piled(counts)} bucketSeconds={CHART_RANGES[range].bucketSeconds} />
      </div>
    </section>
  )
}

interface PlotProps {
  readonly starts: readonly number[]
  readonly heights: readonly (readonly number[])[]
  readonly bucketSeconds: number
}

function Plot({ starts, heights, bucketSeconds }: PlotProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const [scheme, setScheme] = useState(0)

  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const turn = () => setScheme((count) => count + 1)
    dark.addEventListener('change', turn)
    return () => dark.removeEventListener('change', turn)
  }, [])

  useEffect(() => {
    const element = place.current
    if (element === null) return
    const made = new uPlot(chartOptions(element), [[], ...OUTCOMES.map(() => [])], element)
    plot.current = made
    const sizes = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: element.clientHeight }))
    sizes.observe(element)
    return () => {
      sizes.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [scheme])

  const text = `${scheme} ${starts[0]} ${heights.join(' ')}`
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
