import uPlot from 'uplot'
import { timeText } from './clock-text.js'
import { OUTCOMES } from './outcome.js'

/**
 * How the chart is drawn, in the colours that the style has at its place.
 *
 * @param marks instants that are marked by a line, in seconds since the epoch
 */
export function chartOptions(place: HTMLElement, marks: () => readonly number[]): uPlot.Options {
  const colours = getComputedStyle(place)
  const colour = (name: string) => colours.getPropertyValue(name).trim()
  const bars = uPlot.paths.bars?.({ size: [0.8, 28], align: 1 })
  const axis: uPlot.Axis = {
    stroke: colour('--muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: `11px ${colours.fontFamily}`,
  }
  return {
    width: place.clientWidth,
    height: place.clientHeight,
    padding: [8, 16, 0, 8],
    cursor: { show: false },
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: { x: { time: true, auto: false }, y: { auto: false } },
    axes: [
      {
        ...axis,
        size: 28,
        gap: 7,
        grid: { show: false },
        space: 64,
        values: (plot, splits) => {
          const span = (plot.scales.x?.max ?? 0) - (plot.scales.x?.min ?? 0)
          return splits.map((seconds) => timeText(seconds * 1000).slice(0, span > 900 ? 5 : 8))
        },
      },
      {
        ...axis,
        size: 36,
        gap: 4,
        space: 20,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000],
      },
    ],
    hooks: {
      draw: [
        (plot) => {
          const { ctx, bbox, scales } = plot
          ctx.save()
          ctx.strokeStyle = colour('--limited')
          ctx.lineWidth = devicePixelRatio
          ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio])
          for (const at of marks()) {
            if (at < (scales.x?.min ?? 0) || at > (scales.x?.max ?? 0)) continue
            const x = Math.round(plot.valToPos(at, 'x', true))
            ctx.beginPath()
            ctx.moveTo(x, bbox.top)
            ctx.lineTo(x, bbox.top + bbox.height)
            ctx.stroke()
          }
          ctx.restore()
        },
      ],
    },
    series: [
      {},
      ...OUTCOMES.toReversed().map((outcome) => ({
        fill: colour(`--${outcome}`),
        width: 0,
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
  }
}
