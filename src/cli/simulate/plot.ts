import { DAY_MS, type DurationMs, type EpochMs, HOUR_MS, MINUTE_MS } from '../../domain/time.js'
import { xmlText } from '../escape-controls.js'

const WIDTH = 760
const HEIGHT = 190
const LEFT = 62
const TOP = 12
const PLOT_WIDTH = WIDTH - LEFT - 96
const PLOT_HEIGHT = HEIGHT - TOP - 26
const MAX_TIME_TICKS = 7
const LABEL_HEIGHT = 13
/** A limit further above the traffic would flatten it. */
const MAX_LIMIT_FACTOR = 4

const TIME_STEPS: readonly DurationMs[] = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 28, 56, 91, 182, 364].map((days) => days * DAY_MS),
]

export interface Plot {
  readonly label: string
  /** Begin of each column. Between columns that are apart there was nothing. */
  readonly times: readonly EpochMs[]
  readonly width: DurationMs
  /** A value for each column; `style` is the class that colours it. One that holds keeps its value between columns. */
  readonly series: readonly { readonly style: string; readonly values: readonly number[]; readonly holds?: boolean }[]
  readonly limits: readonly { readonly name: string; readonly value: number }[]
}

export function plotSvg({ label, times, width, series, limits }: Plot): string {
  const from = times[0] ?? 0
  const to = (times.at(-1) ?? 0) + width
  const peak = series.flatMap(({ values }) => values).reduce((most, value) => Math.max(most, value), 1)
  const next = Math.min(...limits.map(({ value }) => value).filter((value) => value >= peak))
  const shown = limits
    .filter(({ value }) => value <= peak || (value === next && value <= peak * MAX_LIMIT_FACTOR))
    .sort((one, other) => one.value - other.value)
  const top = roundUp(Math.max(peak, ...shown.map(({ value }) => value)))
  const x = (at: EpochMs) => rounded(LEFT + (PLOT_WIDTH * (at - from)) / (to - from))
  const y = (value: number) => rounded(TOP + PLOT_HEIGHT * (1 - value / top))
  const across = (value: number) => `M${LEFT} ${y(value)}h${PLOT_WIDTH}`
  let lowest = HEIGHT
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${xmlText(label)}">`,
    ...(top < 4 ? [0, top] : [0, top / 2, top]).map(
      (value) =>
        `<path class="grid" d="${across(value)}"/><text class="tick end" x="${LEFT - 8}" y="${y(value) + 4}">${numberText(value)}</text>`,
    ),
    ...timeTicks(from, to).map(
      ([at, text]) =>
        `<path class="grid" d="M${x(at)} ${TOP + PLOT_HEIGHT}v4"/><text class="tick middle" x="${x(at)}" y="${HEIGHT - 8}">${text}</text>`,
    ),
    ...series.map(({ style, values, holds = false }) => {
      let line = ''
      for (const [index, at] of times.entries()) {
        const value = values[index] ?? 0
        const isNext = index > 0 && at === (times[index - 1] ?? 0) + width
        const isHeld = holds && index > 0 && value >= (values[index - 1] ?? 0)
        if (isHeld) line += `H${x(at)}`
        else if (!isNext) line += `${index === 0 ? '' : `V${y(0)}`}M${x(at)} ${y(0)}`
        line += `V${y(value)}H${x(at + width)}`
      }
      return `<path class="${style}" d="${line}V${y(0)}"/>`
    }),
    ...shown.map(({ name, value }) => {
      lowest = Math.min(y(value) + 4, lowest - LABEL_HEIGHT)
      return `<path class="limit ${name}" d="${across(value)}"/><text class="name ${name}" x="${LEFT + PLOT_WIDTH + 6}" y="${lowest}">${name} ${numberText(value)}</text>`
    }),
    '</svg>',
  ].join('')
}

/** The next round number: 1, 2, 4, 6, 8, 10 and their tenfolds. */
function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 6, 8].find((step) => step * unit >= value) ?? 10) * unit
}

function timeTicks(from: EpochMs, to: EpochMs): readonly (readonly [EpochMs, string])[] {
  const step = TIME_STEPS.find((one) => (to - from) / one <= MAX_TIME_TICKS) ?? 364 * DAY_MS
  const first = Math.ceil(from / step) * step
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, index) => {
    const at = first + index * step
    const text = new Date(at).toISOString()
    return [at, step >= DAY_MS ? text.slice(5, 10) : text.slice(11, 16)]
  })
}

/** `60`, `1.2k`, `100k`, `1M` */
function numberText(value: number): string {
  if (value >= 1_000_000) return `${value / 1_000_000}M`
  return value >= 1000 ? `${value / 1000}k` : String(value)
}

function rounded(place: number): number {
  return Math.round(place * 10) / 10
}
