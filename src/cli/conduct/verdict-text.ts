import type { Finding } from '../../conduct/conduct-view.js'
import { adviceOn, sharingAdvice } from '../../conduct/finding-views.js'
import { evidenceText, RULE_VERDICTS } from '../../conduct/verdict-words.js'
import { counted } from '../../domain/numbers.js'
import { type Colours, escapeControls, wrapRows } from '../print.js'

const MARKS = {
  passed: ['✓', 'green'],
  failed: ['✗', 'red'],
  warned: ['!', 'yellow'],
  untested: ['○', 'yellow'],
  noted: ['–', 'dim'],
} as const satisfies Record<string, readonly [string, keyof Colours]>
export type Mark = keyof typeof MARKS

/** What went wrong, once, with where it was seen. */
export interface Cause {
  readonly mark: Mark
  readonly title: string
  /** At the right: how often. */
  readonly aside: string
  readonly lines: readonly string[]
}

/** Of the first line off a terminal. */
const DEFAULT_COLUMNS = 80
const MIN_COLUMNS = 20

/** One form for `exec`, `control conduct` and `conform`: wrapped at words, with a hanging indent. */
export function causesText(causes: readonly Cause[], colours: Colours, columns?: number): readonly string[] {
  return causes.flatMap(({ mark, title, aside, lines }) => {
    const [first = '', ...more] = wrapped(escapeControls(title), columns && columns - aside.length - 1)
    return [
      headLine([[mark, first]], aside, colours, columns),
      ...[...more, ...lines.flatMap((line) => wrapped(escapeControls(line), columns))].map((row) => `  ${row}`),
    ]
  })
}

function wrapped(line: string, columns: number | undefined): readonly string[] {
  return columns === undefined ? [line] : wrapRows(line, Math.max(MIN_COLUMNS, columns - 4))
}

/** `✓ 7 passed   ✗ 11 failed          20 scenarios, 14.2 s` */
export function headLine(
  parts: readonly (readonly [Mark, string])[],
  aside: string,
  colours: Colours,
  columns = DEFAULT_COLUMNS,
): string {
  const plain = parts.map(([mark, text]) => `${MARKS[mark][0]} ${escapeControls(text)}`).join('   ')
  const shown = parts.map(([mark, text]) => `${colours[MARKS[mark][1]](MARKS[mark][0])} ${escapeControls(text)}`)
  const gap = ' '.repeat(Math.max(2, columns - 1 - plain.length - aside.length))
  return `${shown.join('   ')}${aside === '' ? '' : gap + colours.dim(escapeControls(aside))}`
}

type Told = Pick<
  Finding,
  | 'rule'
  | 'key'
  | 'sender'
  | 'operation'
  | 'message'
  | 'request'
  | 'disobeyed'
  | 'count'
  | 'clients'
  | 'exchanges'
  | 'otherwise'
>

const MAX_EVIDENCE = 3
const MAX_IDS = 5
const MAX_NAMES = 5

/**
 * A cause for each rule, in the order of the findings.
 *
 * @param nameOf the client of a finding; empty for the only one
 * @param all findings of the report, whose clients are named if there are several
 */
export function findingCauses<Seen extends Told>(
  findings: readonly Seen[],
  mark: Mark,
  nameOf: (finding: Seen) => string,
  all: readonly Told[] = findings,
): readonly Cause[] {
  const isNamed = new Set(all.flatMap(shortNames)).size > 1
  return [...new Set(findings.map(({ rule }) => rule))].map((rule) => {
    const same = findings.filter((finding) => finding.rule === rule)
    const total = same.reduce((sum, { count }) => sum + count, 0)
    const senders = Math.max(0, ...same.map(({ otherwise }) => otherwise?.senders ?? 0))
    const clients = new Set(same.flatMap(namesOf)).size
    const names = [...new Set(same.flatMap(shortNames))]
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
    const named = names.slice(0, MAX_NAMES).join(', ') + more
    const advice = adviceOn(rule)
    const subject = clients > 1 ? `Each of ${clients} clients (${named})` : isNamed ? named : 'Your client'
    const who = (finding: Seen) =>
      [nameOf(finding), clients > 1 ? finding.clients.map((name) => `(${name})`).join(' ') : '']
        .filter(Boolean)
        .join(' ')
    return {
      mark,
      title: `${subject} ${RULE_VERDICTS[rule]} (${rule})`,
      aside: counted(total, 'time'),
      lines: [
        ...same
          .slice(0, MAX_EVIDENCE)
          .map((finding) => [evidenceText(finding), who(finding), placesText(finding)].filter(Boolean).join('; ')),
        ...(same.length > MAX_EVIDENCE ? [`… and ${same.length - MAX_EVIDENCE} more`] : []),
        ...(advice === undefined ? [] : [advice]),
        ...(senders < 2 ? [] : [sharingAdvice(senders)]),
      ],
    }
  })
}

/** The sender, or the products of User-Agents, or the key. */
function shortNames({ key, sender, clients }: Told): readonly string[] {
  if (sender !== '') return [sender]
  return clients.length === 0 ? [key] : clients
}

/** Clients differ by key, sender or product; not by space, which tests often have for themselves. */
function namesOf({ key, sender, clients }: Told): readonly string[] {
  return clients.length === 0 || sender !== '' ? [`${key} ${sender}`] : clients.map((client) => `${key} ${client}`)
}

function placesText({ exchanges, count, disobeyed }: Told): string {
  const shown = exchanges.slice(0, MAX_IDS).join(', ')
  const more = count > Math.min(exchanges.length, MAX_IDS) ? ' …' : ''
  const ignored = disobeyed === null ? '' : `response ${disobeyed.exchange} ignored by `
  return exchanges.length === 0 ? '' : `${ignored}${exchanges.length === 1 ? 'exchange' : 'exchanges'} ${shown}${more}`
}
