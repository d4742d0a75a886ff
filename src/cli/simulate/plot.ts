import { DAY_MS, type DurationMs, type EpochMs, HOUR_MS, MINUTE_MS } from '../../domain/time.js'
import { xmlText } from '../xml-text.js'

/** A plot without scripts: all of it is drawn here, in colours that the page's style names. */

const WIDTH = 760
const HEIGHT = 190
const LEFT = 62
const RIGHT = 96
const TOP = 12
const BOTTOM = 26
const PLOT_WIDTH = WIDTH - LEFT - RIGHT
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM
/** Columns that tell their values when the pointer is over them. */
const MOST_TIPS = 96
const MOST_TIME_TICKS = 7
/** Labels at the right keep this distance. */
const LABEL_HEIGHT = 13
/** A limit further above the traffic would press that to the ground. */
const HIGHEST_LIMIT = 4

const TIME_STEPS: readonly DurationMs[] = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 28, 56, 91, 182, 364].map((days) => days * DAY_MS),
]

/** One line: a value for each column, in the columns' order. */
export interface PlotSeries {
  /** What it stands for. */
  readonly name: string
  /** Class that gives it its colour. */
  readonly style: string
  readonly values: readonly number[]
  /** The ground below it is filled. */
  readonly isFilled: boolean
  /** It only grows until it begins again, so between columns that are apart it stays as it was. */
  readonly holds?: boolean
}

/** A height that is not to be exceeded. */
export interface PlotLimit {
  readonly name: string
  readonly style: string
  readonly value: number
}

export interface Plot {
  /** What it shows, for who does not see it. */
  readonly label: string
  /** Begin of each column. They need not be next to one another: between them there was nothing. */
  readonly times: readonly EpochMs[]
  /** Of a column. */
  readonly width: DurationMs
  readonly series: readonly PlotSeries[]
  readonly limits: readonly PlotLimit[]
}

/** A plot over time as SVG. */
export function plotSvg(plot: Plot): string {
  const { times, width, series, limits } = plot
  const from = times[0] ?? 0
  const to = (times.at(-1) ?? 0) + width
  const peak = Math.max(1, ...series.map(({ values }) => highest(values)))
  const shown = shownLimits(limits, peak)
  const top = niceTop(Math.max(peak, ...shown.map(({ value }) => value)))
  const x = (at: EpochMs) => LEFT + (PLOT_WIDTH * (at - from)) / (to - from)
  const y = (value: number) => TOP + PLOT_HEIGHT * (1 - value / top)
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${xmlText(plot.label)}">`,
    ...valueTicks(top).map(
      (value) =>
        `<path class="grid" d="M${LEFT} ${place(y(value))}h${PLOT_WIDTH}"/><text class="tick end" x="${LEFT - 8}" y="${place(y(value) + 4)}">${numberText(value)}</text>`,
    ),
    ...timeTicks(from, to).map(
      ({ at, text }) =>
        `<path class="grid" d="M${place(x(at))} ${TOP + PLOT_HEIGHT}v4"/><text class="tick middle" x="${place(x(at))}" y="${HEIGHT - 8}">${text}</text>`,
    ),
    ...series.map((line) => seriesPath(line, plot, x, y)),
    ...shown.map(({ style, value }) => `<path class="limit ${style}" d="M${LEFT} ${place(y(value))}h${PLOT_WIDTH}"/>`),
    ...labels(shown, y),
    ...tips(plot, x),
    '</svg>',
  ].join('')
}

/** Those that are near the traffic, and the next one above it. */
function shownLimits(limits: readonly PlotLimit[], peak: number): readonly PlotLimit[] {
  const above = limits.filter(({ value }) => value >= peak).sort((one, other) => one.value - other.value)[0]
  return limits.filter(({ value }) => value <= peak || (value === above?.value && value <= peak * HIGHEST_LIMIT))
}

/** Steps: each column is as high as its value, and between columns that are apart there is nothing, unless it holds. */
function seriesPath(
  { style, values, isFilled, holds = false }: PlotSeries,
  { times, width }: Plot,
  x: (at: EpochMs) => number,
  y: (value: number) => number,
): string {
  let line = ''
  let lastEnd = Number.NaN
  const ground = place(y(0))
  for (const [index, at] of times.entries()) {
    const value = values[index] ?? 0
    const isHeld = holds && index > 0 && value >= (values[index - 1] ?? 0)
    if (at !== lastEnd && !isHeld) line += `${Number.isNaN(lastEnd) ? '' : `V${ground}`}M${place(x(at))} ${ground}`
    line += `${isHeld ? `H${place(x(at))}` : ''}V${place(y(value))}H${place(x(at + width))}`
    lastEnd = at + width
  }
  line += `V${ground}`
  return `<path class="${isFilled ? 'area' : 'line'} ${style}" d="${line}"/>`
}

/** Names of the limits at the right, moved apart where they would cover each other. */
function labels(limits: readonly PlotLimit[], y: (value: number) => number): readonly string[] {
  let lowest = Number.POSITIVE_INFINITY
  return [...limits]
    .sort((one, other) => one.value - other.value)
    .map(({ name, style, value }) => {
      const at = Math.min(y(value) + 4, lowest - LABEL_HEIGHT)
      lowest = at
      return `<text class="name ${style}" x="${LEFT + PLOT_WIDTH + 6}" y="${place(at)}">${xmlText(name)} ${numberText(value)}</text>`
    })
}

/** What a browser shows when the pointer rests. */
function tips({ times, width, series }: Plot, x: (at: EpochMs) => number): readonly string[] {
  const step = Math.max(1, Math.ceil(times.length / MOST_TIPS))
  const columns: string[] = []
  for (let first = 0; first < times.length; first += step) {
    const begin = times[first] ?? 0
    const last = Math.min(times.length, first + step)
    const end = (times[last - 1] ?? begin) + width
    const values = series.map(({ name, values: all }) => `${name} ${highest(all.slice(first, last))}`)
    columns.push(
      `<rect class="tip" x="${place(x(begin))}" y="${TOP}" width="${place(x(end) - x(begin))}" height="${PLOT_HEIGHT}"><title>${instantText(begin)}\n${xmlText(values.join(', '))}</title></rect>`,
    )
  }
  return columns
}

function highest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0)
}

function valueTicks(top: number): readonly number[] {
  return top < 4 ? [0, top] : [0, top / 2, top]
}

/** The next round number: 1, 2, 4, 6, 8, 10 and their tenfolds. */
function niceTop(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value))
  const steps = [1, 2, 4, 6, 8, 10]
  return (steps.find((step) => step * unit >= value) ?? 10) * unit
}

function timeTicks(from: EpochMs, to: EpochMs): readonly { readonly at: EpochMs; readonly text: string }[] {
  const step = TIME_STEPS.find((one) => (to - from) / one <= MOST_TIME_TICKS) ?? TIME_STEPS.at(-1) ?? DAY_MS
  const ticks: { at: EpochMs; text: string }[] = []
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const text = instantText(at)
    ticks.push({ at, text: step >= DAY_MS ? text.slice(5, 10) : text.slice(11, 16) })
  }
  return ticks
}

/** `2026-03-01 09:15 UTC` */
function instantText(at: EpochMs): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** `60`, `1.2k`, `100k`, `1M` */
function numberText(value: number): string {
  if (value >= 1_000_000) return `${value / 1_000_000}M`
  return value >= 1000 ? `${value / 1000}k` : String(value)
}

function place(value: number): number {
  return Math.round(value * 10) / 10
}
