import type { Finding } from '../../conduct/conduct-view.js'
import type { DurationMs, EpochMs } from '../../domain/time.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/time.js'
import type { KeyCurve, PlanFate, SimulationReport } from '../../simulate/report.js'
import { digestOf } from '../../system/digest.js'
import { findingLine } from '../conduct/text-report.js'
import { xmlText } from '../xml-text.js'
import { type Plot, plotSvg } from './plot.js'
import { STYLE } from './style.js'
import { factorText, headline, placesOf, remarks, verdict } from './words.js'

const MOST_KEYS = 200
/** A plot has not many more dots in its width. */
const MOST_COLUMNS = 720

/** A cell of a table: text, or a number to be aligned as one. */
type Cell = string | number

/**
 * A simulation as one page that needs nothing else: no script, nothing from anywhere. It can be opened from a disk,
 * attached to a ticket, and printed.
 *
 * @param width how long each cell of the curves is
 */
export function htmlReport(
  name: string,
  report: SimulationReport,
  curves: readonly KeyCurve[],
  width: DurationMs,
): string {
  const policy = `default-src 'none'; style-src 'sha256-${digestOf(STYLE)}'; base-uri 'none'; form-action 'none'`
  const told = verdict(report)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${xmlText(name)}: what this traffic would have met</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>What this traffic would have met</h1>
<p>${xmlText(headline(name, report))}</p>
${told === undefined ? '' : `<p class="verdict">${xmlText(told)}</p>`}
</header>
${list('remarks', remarks(report).map(xmlText))}
${section('Plans', planTable(report), 'Refusals of all keys. Each key has a quota of its own; a plan is enough if it refuses none of them.')}
${section('Keys', keyTable(report), hiddenNote(report))}
${scaleSection(report)}
${curves.map((curve) => curveSection(curve, report, width)).join('\n')}
${curves.length < report.keys.length ? `<p class="note">Plots are of the ${curves.length} busiest keys.</p>` : ''}
${conductSection(report)}
</main>
</body>
</html>
`
}

function planTable({ plans, limits, keys }: SimulationReport): string {
  return table(
    [
      'Plan',
      'Per minute',
      'Per day',
      'Refused',
      'by the minute',
      'by the day',
      'by a ban',
      'Keys refused',
      'Enough up to',
    ],
    plans.map(({ plan, refusals, refused, upTo }, index): readonly Cell[] => [
      plan,
      limits[index]?.perMinute ?? 0,
      limits[index]?.perDay ?? 0,
      refusals,
      refused.minute,
      refused.day,
      refused.ban,
      keys.filter((key) => (key.plans[index]?.refusals ?? 0) > 0).length,
      factorText(upTo),
    ]),
  )
}

function keyTable({ keys, plans }: SimulationReport): string {
  return table(
    [
      'Key',
      'Requests',
      'Most a minute',
      'Most a day',
      ...plans.map(({ plan }) => `Refused on ${plan}`),
      'Enough is',
      'up to',
    ],
    keys
      .slice(0, MOST_KEYS)
      .map(({ key, requests, peakMinute, peakDay, plans: fates, cheapest, headRoom }): readonly Cell[] => [
        key,
        requests,
        peakMinute,
        peakDay,
        ...fates.map(({ refusals }) => refusals),
        cheapest ?? 'none',
        headRoom === null ? '–' : factorText(headRoom),
      ]),
  )
}

function hiddenNote({ keys, input }: SimulationReport): string {
  const more = keys.length > MOST_KEYS ? `${keys.length - MOST_KEYS} keys more are in the JSON report. ` : ''
  const hidden = keys.filter(({ isHidden }) => isHidden).slice(0, MOST_KEYS)
  if (hidden.length === 0) return more
  return `${more}Keys are not shown; first seen: ${hidden.map(({ key, first }) => `${key} in ${input.unit} ${first}`).join(', ')}.`
}

function scaleSection({ scale, plans }: SimulationReport): string {
  if (scale.length === 0) return ''
  const rows = scale.map(({ factor, plans: fates }): readonly Cell[] => [
    factorText(factor),
    ...fates.map(({ refusals }) => refusals),
  ])
  const breaks = ['breaks above', ...plans.map(({ upTo }: PlanFate) => factorText(upTo))]
  return section(
    'If it grew',
    table(['Traffic', ...plans.map(({ plan }) => `Refused on ${plan}`)], [...rows, breaks]),
    'Each request is sent so many times at its own instant.',
  )
}

function curveSection({ fate, cells }: KeyCurve, { limits }: SimulationReport, width: DurationMs): string {
  const { times, columns, width: drawn } = columnsOf(cells, width)
  const plot = (label: string, parts: Pick<Plot, 'series' | 'limits'>) =>
    plotSvg({ label, times, width: drawn, ...parts })
  const limitsOf = (per: 'perMinute' | 'perDay') =>
    limits.map(({ plan, [per]: value }) => ({ name: plan, style: plan, value }))
  const each = drawn === MINUTE_MS ? '' : ` Each step is the most within ${lengthText(drawn)}.`
  const refusing = limits.map(({ plan }, index) => ({ plan, index })).filter(({ index }) => fate.plans[index]?.refusals)
  const minute = plot(`Requests in the minute window of ${fate.key}, against the limits of the plans`, {
    series: [
      { name: 'requests a minute', style: 'traffic', values: columns.map((cell) => cell.minute), isFilled: true },
    ],
    limits: limitsOf('perMinute'),
  })
  const day = plot(`Requests in the day window of ${fate.key}, against the limits of the plans`, {
    series: [
      {
        name: 'requests so far',
        style: 'traffic',
        values: columns.map((cell) => cell.day),
        isFilled: true,
        holds: true,
      },
    ],
    limits: limitsOf('perDay'),
  })
  const refusals =
    refusing.length === 0
      ? '<p class="note">No plan refuses anything.</p>'
      : figure(
          `Refusals on each plan, in ${lengthText(drawn)} each`,
          refusing.map(({ plan }) => plan),
          plot(`Refusals of ${fate.key} on each plan`, {
            series: refusing.map(({ plan, index }) => ({
              name: plan,
              style: plan,
              values: columns.map((cell) => cell.refused[index] ?? 0),
              isFilled: false,
            })),
            limits: [],
          }),
        )
  return `<section><h2>${xmlText(fate.key)}</h2>
${figure(`Requests a minute, had nothing been refused.${each}`, [], minute)}
${refusals}
${figure("The day's curve: requests since the day window opened", [], day)}
</section>`
}

interface Column {
  minute: number
  day: number
  refused: number[]
}

/** Cells, put together until they are not more than a plot has room for. */
function columnsOf(cells: KeyCurve['cells'], width: DurationMs) {
  const span = (cells.at(-1)?.[0] ?? 0) + width - (cells[0]?.[0] ?? 0)
  const drawn = Math.max(1, Math.ceil(span / width / MOST_COLUMNS)) * width
  const columns = new Map<EpochMs, Column>()
  for (const [at, { minute, day, refused }] of cells) {
    const begin = Math.floor(at / drawn) * drawn
    const column = columns.get(begin)
    if (column === undefined) columns.set(begin, { minute, day, refused: [...refused] })
    else {
      column.minute = Math.max(column.minute, minute)
      column.day = Math.max(column.day, day)
      column.refused = column.refused.map((count, plan) => count + (refused[plan] ?? 0))
    }
  }
  return { times: [...columns.keys()], columns: [...columns.values()], width: drawn }
}

function conductSection({ conduct, input, requests }: SimulationReport): string {
  const { violations, warnings } = conduct
  if (requests === 0) return ''
  const line = (finding: Finding) => xmlText(findingLine({ ...finding, space: '' }, placesOf(input.unit)))
  const none = violations.length + warnings.length === 0 ? '<p class="note">Nothing was found.</p>' : ''
  return section(
    'Conduct',
    `${none}${list('violations', violations.map(line))}${list('warnings', warnings.map(line))}`,
    'How clients kept the rules of the service, by the answers that they really got.',
  )
}

function section(title: string, content: string, note = ''): string {
  return `<section><h2>${title}</h2>\n${content}\n${note === '' ? '' : `<p class="note">${xmlText(note)}</p>`}</section>`
}

/** @param names what the colours of the lines stand for */
function figure(caption: string, names: readonly string[], svg: string): string {
  const legend = names.map((name) => `<span class="mark ${name}">${name}</span>`).join(' ')
  return `<figure><figcaption>${xmlText(caption)} ${legend}</figcaption>${svg}</figure>`
}

function list(style: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul class="${style}">${items.map((item) => `<li>${item}</li>`).join('')}</ul>`
}

function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const heads = head.map((name, column) => {
    const isNumber = column > 0 && rows[0] !== undefined && isNumeric(rows[0][column] ?? '')
    return `<th scope="col"${isNumber ? ' class="number"' : ''}>${xmlText(name)}</th>`
  })
  const lines = rows.map((row) => `<tr>${row.map(tableCell).join('')}</tr>`)
  return `<div class="wide"><table><thead><tr>${heads.join('')}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>`
}

function tableCell(cell: Cell, column: number): string {
  if (column === 0) return `<th scope="row">${xmlText(String(cell))}</th>`
  const text = xmlText(typeof cell === 'number' ? cell.toLocaleString('en-US') : cell)
  if (!isNumeric(cell)) return `<td>${text}</td>`
  return `<td class="number${cell === 0 ? ' zero' : ''}">${text}</td>`
}

function isNumeric(cell: Cell): boolean {
  return typeof cell === 'number' || cell.startsWith('×')
}

/** `5 minutes`, `1 hour`, `7 days` */
function lengthText(length: DurationMs): string {
  const [unit, name] =
    length % DAY_MS === 0 ? [DAY_MS, 'day'] : length % HOUR_MS === 0 ? [HOUR_MS, 'hour'] : [MINUTE_MS, 'minute']
  const count = length / Number(unit)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
