import { counted } from '../../domain/numbers.js'
import { DAY_MS, type DurationMs, type EpochMs, HOUR_MS, MINUTE_MS } from '../../domain/time.js'
import type { KeyCurve, SimulationReport } from '../../simulate/report.js'
import { digestOf } from '../../system/runtime.js'
import { xmlText } from '../print.js'
import {
  findingLines,
  headline,
  keyNotes,
  keyTable,
  planTable,
  type ReportTable,
  remarks,
  scaleTable,
  verdict,
} from './text-report.js'

const MAX_KEYS = 200

/** One page without scripts that loads nothing: it can be opened from a disk, attached and printed. */
export function htmlReport(
  name: string,
  report: SimulationReport,
  curves: readonly KeyCurve[],
  width: DurationMs,
): string {
  const policy = `default-src 'none'; style-src 'sha256-${digestOf(STYLE)}'; base-uri 'none'; form-action 'none'`
  const conclusion = verdict(report)
  const { violations, warnings } = findingLines(report)
  const findings = `${list('violations', violations)}${list('warnings', warnings)}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${xmlText(name)}: simulation</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>This traffic on each plan</h1>
<p>${xmlText(headline(name, report))}</p>
${conclusion === undefined ? '' : `<p class="verdict">${xmlText(conclusion)}</p>`}
</header>
${list('remarks', remarks(report))}
${section('Plans', table(planTable(report)), 'Refusals of all keys. Each key has its own quota. A plan is enough if it refuses no request.')}
${section('Keys', table(keyTable(report, MAX_KEYS)), keyNotes(report, MAX_KEYS).join(' '))}
${report.scale.length === 0 ? '' : section('If it grew', table(scaleTable(report)), 'Each request is sent this number of times, at its recorded time.')}
${curves.map((curve) => curveSection(curve, report, width)).join('\n')}
${curves.length < report.keys.length ? `<p class="note">Plots are of the ${curves.length} busiest keys.</p>` : ''}
${report.requests === 0 ? '' : section('Conduct', findings || '<p class="note">No findings.</p>', 'Violations of the service’s rules, judged by the recorded responses.')}
</main>
</body>
</html>
`
}

const WIDTH = 760
const HEIGHT = 150
/** A limit further above the traffic would flatten it. */
const MAX_LIMIT_FACTOR = 3

function curveSection({ fate: { key, peakMinute }, cells }: KeyCurve, { limits }: SimulationReport, width: DurationMs) {
  const from = cells[0]?.[0] ?? 0
  const to = (cells.at(-1)?.[0] ?? 0) + width
  const near = limits.filter(({ perMinute }) => perMinute <= peakMinute * MAX_LIMIT_FACTOR)
  const top = Math.max(peakMinute, ...near.map(({ perMinute }) => perMinute))
  const x = (at: EpochMs) => Math.round((WIDTH * (at - from)) / (to - from))
  const y = (value: number) => Math.round(HEIGHT * (1 - value / top))
  const bars = cells.map(([at, most]) => `M${x(at)} ${HEIGHT}V${y(most)}H${x(at + width)}V${HEIGHT}`)
  const lines = near.map(
    ({ plan, perMinute }) =>
      `<path class="limit ${plan}" d="M0 ${y(perMinute)}h${WIDTH}"/><text class="${plan}" y="${y(perMinute) - 4}">${plan} ${perMinute}</text>`,
  )
  const [first, last] = [from, to].map((at) => new Date(at).toISOString().slice(0, 16).replace('T', ' '))
  const caption = `Requests a minute, had nothing been refused: at most ${peakMinute}. From ${first} to ${last} UTC; each bar is the most within ${lengthText(width)}.`
  return `<section><h2>${xmlText(key)}</h2>
<figure tabindex="0"><figcaption>${caption}</figcaption>
<svg viewBox="0 -20 ${WIDTH} ${HEIGHT + 20}" role="img" aria-label="${xmlText(`Requests in the minute window of ${key}`)}"><path class="traffic" d="${bars.join('')}"/>${lines.join('')}</svg></figure></section>`
}

function section(title: string, content: string, note: string): string {
  return `<section><h2>${title}</h2>\n${content}\n${note === '' ? '' : `<p class="note">${xmlText(note)}</p>`}</section>`
}

function list(style: string, items: readonly string[]): string {
  const lines = items.map((item) => `<li>${xmlText(item)}</li>`)
  return items.length === 0 ? '' : `<ul class="${style}">${lines.join('')}</ul>`
}

function table({ head, rows }: ReportTable): string {
  const heads = head.map((name, column) => {
    const style = column === 0 ? '' : styleOf(rows[0]?.[column] ?? '')
    return `<th scope="col"${style}>${xmlText(name)}</th>`
  })
  const lines = rows.map(([first = '', ...cells]) => {
    const others = cells.map((cell) => {
      const text = typeof cell === 'number' ? cell.toLocaleString('en-US') : xmlText(cell)
      return `<td${styleOf(cell)}>${text}</td>`
    })
    return `<tr><th scope="row">${xmlText(String(first))}</th>${others.join('')}</tr>`
  })
  return `<div class="wide" tabindex="0"><table><thead><tr>${heads.join('')}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>`
}

function styleOf(cell: string | number): string {
  return typeof cell === 'number' || cell.startsWith('×') ? ` class="number${cell === 0 ? ' zero' : ''}"` : ''
}

function lengthText(length: DurationMs): string {
  if (length % DAY_MS === 0) return counted(length / DAY_MS, 'day')
  return length % HOUR_MS === 0 ? counted(length / HOUR_MS, 'hour') : counted(length / MINUTE_MS, 'minute')
}

const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f4f6f6; --surface: #ffffff; --text: #182124; --muted: #546269; --line: #d5dddd;
  --traffic: #2a9d78; --traffic-soft: #cdebe0;
  --free: #a05a00; --pro: #1a6fb5; --business: #7f56d9; --enterprise: #a81f3c;
  --bad: #a81f3c; --doubtful: #7a5200;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101517; --surface: #181f22; --text: #e3eaec; --muted: #9dabb1; --line: #2c373b;
    --traffic: #43b892; --traffic-soft: #1c4a3c;
    --free: #e0a04a; --pro: #6bb3f0; --business: #b79cff; --enterprise: #ff8fa5;
    --bad: #ff9fb0; --doubtful: #ecc777;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1000px; margin: 0 auto; padding: 24px 16px 48px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 0 0 10px; overflow-wrap: anywhere; }
p { margin: 0 0 8px; }
.verdict { font-weight: 600; font-size: 17px; }
section { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 16px; margin: 16px 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: bottom; }
tbody :is(th, td) { vertical-align: baseline; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { color: var(--muted); font-size: 12.5px; font-weight: 500; line-height: 1.3; }
tbody th { font-weight: 500; min-width: 92px; max-width: 280px; overflow-wrap: anywhere; }
.number { text-align: right; padding-right: 22px; }
.zero { color: var(--muted); }
.note { color: var(--muted); font-size: 13px; margin: 10px 0 0; overflow-wrap: anywhere; }
ul { margin: 0; padding: 0 0 0 20px; }
li { overflow-wrap: anywhere; margin: 2px 0; }
.remarks { color: var(--doubtful); margin-top: 12px; }
.violations li::marker { content: '✗  '; color: var(--bad); }
.warnings li::marker { content: '!  '; color: var(--doubtful); }
figure { margin: 0 0 14px; overflow-x: auto; }
figcaption { color: var(--muted); font-size: 13px; margin-bottom: 2px; }
svg { display: block; width: 100%; min-width: 640px; height: auto; }
.traffic { fill: var(--traffic-soft); stroke: var(--traffic); }
.limit { fill: none; stroke: currentColor; stroke-dasharray: 5 4; }
text { font-size: 11px; fill: currentColor; }
.free { color: var(--free); }
.pro { color: var(--pro); }
.business { color: var(--business); }
.enterprise { color: var(--enterprise); }
@media print { body { background: none; } section { break-inside: avoid; } }
`
