import type { Finding } from '../../conduct/conduct-view.js'
import { counted } from '../../domain/numbers.js'
import type { SimulationReport } from '../../simulate/report.js'
import { LEFT_OUT, type LeftOutCause } from '../../simulate/simulation.js'
import { findingLine } from '../conduct/text-report.js'
import { type Colours, escapeControls, wrapWords } from '../print.js'
import { table } from '../table.js'

// The HTML report has the same sentences and tables.

const MAX_KEYS = 30
const MAX_NAMED = 5
const FORMS = { har: 'HTTP archive', log: 'log of a sandbox', ncsa: 'access log' } as const

export function textReport(name: string, report: SimulationReport, colours: Colours, width: number): string {
  const sentence = (line: string) => wrapWords(escapeControls(line), Number.isFinite(width) ? width : undefined)
  const tableText = ({ head, rows }: ReportTable) => {
    const names = head.map((title) => title.toUpperCase())
    return table(
      names,
      rows.map((row) => row.map(String)),
      width,
    )
  }
  const { violations, warnings } = findingLines(report)
  const conclusion = verdict(report)
  return [
    sentence(headline(name, report)),
    ...remarks(report).map((line) => `${colours.yellow('!')} ${sentence(line)}`),
    ...(report.requests === 0
      ? []
      : ['', tableText(planTable(report)), '', tableText(keyTable(report, MAX_KEYS)), ...keyNotes(report, MAX_KEYS)]),
    ...(report.scale.length === 0 || report.requests === 0 ? [] : ['', tableText(scaleTable(report))]),
    ...(conclusion === undefined ? [] : ['', colours.bold(sentence(conclusion))]),
    ...(violations.length + warnings.length === 0 ? [] : ['']),
    ...violations.map((line) => `${colours.red('✗')} ${sentence(line)}`),
    ...warnings.map((line) => `${colours.yellow('!')} ${sentence(line)}`),
    '',
  ].join('\n')
}

export interface ReportTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
}

export function planTable({ plans, limits, keys }: SimulationReport): ReportTable {
  return {
    head: ['Plan', 'Per min', 'Per day', 'Refused', 'Minute', 'Day', 'Banned', 'Keys', 'Up to'],
    rows: plans.map(({ plan, refusals, refused: { minute, day, ban }, upTo }, index) => {
      const { perMinute = 0, perDay = 0 } = limits[index] ?? {}
      const refusing = keys.filter((key) => (key.plans[index]?.refusals ?? 0) > 0).length
      return [plan, perMinute, perDay, refusals, minute, day, ban, refusing, factorText(upTo)]
    }),
  }
}

/** Of the plans, only those that refuse something get a column. */
export function keyTable({ keys, plans }: SimulationReport, maxKeys: number): ReportTable {
  const refusing = plans.flatMap(({ refusals }, index) => (refusals > 0 ? [index] : []))
  return {
    head: [
      ...['Key', 'Requests', 'Peak/min', 'Peak/day'],
      ...refusing.map((index) => `On ${plans[index]?.plan}`),
      ...['Enough', 'Up to'],
    ],
    rows: keys
      .slice(0, maxKeys)
      .map(({ key, requests, peakMinute, peakDay, plans: fates, cheapest, headRoom }) => [
        ...[key, requests, peakMinute, peakDay],
        ...refusing.map((index) => fates[index]?.refusals ?? 0),
        cheapest ?? 'none',
        headRoom === null ? '–' : factorText(headRoom),
      ]),
  }
}

export function scaleTable({ scale, plans }: SimulationReport): ReportTable {
  return {
    head: ['Traffic', ...plans.map(({ plan }) => plan)],
    rows: [
      ...scale.map(({ factor, plans: fates }) => [
        factorText(factor),
        ...fates.map(({ refusals }) => (refusals === 0 ? '–' : `refuses ${refusals}`)),
      ]),
      ['breaks', ...plans.map(({ upTo }) => `above ${factorText(upTo)}`)],
    ],
  }
}

export function keyNotes({ keys, input }: SimulationReport, maxKeys: number): readonly string[] {
  const hidden = keys.filter(({ isHidden }) => isHidden).slice(0, maxKeys)
  const places = hidden.map(({ key, first }) => `${key} in ${input.unit} ${first}`)
  return [
    ...(keys.length > maxKeys ? [`… and ${keys.length - maxKeys} keys more, in the JSON report`] : []),
    ...(hidden.length === 0 ? [] : [`Keys are not shown; first seen: ${places.join(', ')}.`]),
  ]
}

export function headline(name: string, { input, requests, keys, from, to }: SimulationReport): string {
  const subject = `${name} (${FORMS[input.form]}): ${counted(requests, 'request')} of ${counted(keys.length, 'key')}`
  if (from === null || to === null) return subject
  const [first, last] = [from, to].map((iso) => iso.slice(0, 19).replace('T', ' '))
  const end = from.slice(0, 10) === to.slice(0, 10) ? last?.slice(11) : last
  return `${subject}, ${first} to ${end} UTC`
}

export function remarks({ input, requests }: SimulationReport): readonly string[] {
  const { bad, missing, outOfOrder, leftOut, hosts, elsewhere, unit } = input
  const causes = Object.entries(leftOut).map(([cause, count]) => `${count} ${LEFT_OUT[cause as LeftOutCause]}`)
  const badNames = bad.first.map(({ place, problem }) => `${unit} ${place} ${problem}`)
  const names = (all: typeof hosts) => {
    const texts = all.map(({ name, requests: count }) => `${name} ${count}`)
    return listed(texts, all.length)
  }
  const isUnreliable = outOfOrder * 100 > requests
  return [
    ...(missing === null ? [] : [`The input is incomplete: it ${missing}.`]),
    ...(bad.count === 0
      ? []
      : [`${counted(bad.count, unit, places(unit)[1])} could not be read: ${listed(badNames, bad.count)}.`]),
    ...(causes.length === 0 ? [] : [`Left out: ${causes.join('; ')}.`]),
    ...(leftOut.elsewhere === undefined ? [] : [`Other hosts and paths: ${names(elsewhere)}.`]),
    ...(hosts.length < 2 ? [] : [`Several hosts are counted together: ${names(hosts)}. Choose one with --host.`]),
    ...(outOfOrder === 0
      ? []
      : [
          `${counted(outOfOrder, 'request')} came more than a minute out of order${isUnreliable ? ', so the figures cannot be relied on. Sort the input by time' : ''}.`,
        ]),
  ]
}

export function verdict({ requests, cheapest, headRoom, keys }: SimulationReport): string | undefined {
  if (requests === 0) return undefined
  const whom = keys.length === 1 ? '' : keys.length === 2 ? ' of both keys' : ` of all ${keys.length} keys`
  if (cheapest === null) return `Every plan would have refused some requests${whom}.`
  return `The cheapest plan that refuses nothing${whom} is ${cheapest}, up to ${factorText(headRoom ?? 1)} this traffic.`
}

export function findingLines({ conduct: { violations, warnings }, input }: SimulationReport) {
  const line = (finding: Finding) => findingLine({ ...finding, space: '' }, places(input.unit))
  return { violations: violations.map(line), warnings: warnings.map(line) }
}

function factorText(factor: number): string {
  return `×${factor >= 100 ? Math.floor(factor) : factor}`
}

function places(unit: SimulationReport['input']['unit']) {
  return unit === 'line' ? (['line', 'lines'] as const) : (['entry', 'entries'] as const)
}

/** @param count number of all names; `names` are the first */
function listed(names: readonly string[], count: number): string {
  const named = names.slice(0, MAX_NAMED).join(', ')
  const more = count - Math.min(names.length, MAX_NAMED)
  return more > 0 ? `${named} and ${more} more` : named
}
