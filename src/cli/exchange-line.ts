import type { ChalkInstance } from 'chalk'
import { DEFAULT_KEY } from '../domain/keys.js'
import { withoutOperation } from '../domain/operation-message.js'
import { ceilSeconds, type EpochMs, formatDuration, formatSpan, SECOND_MS } from '../domain/time.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { cellWidth, fitCells, padCells, wrapCells } from './cells.js'
import { escapeControls } from './escape-controls.js'

/** What a line is written on. */
export interface Page {
  /** Cells of a row; without them an entry is one row, however long. */
  readonly columns?: number
  /** How often the same has happened, one after the other. */
  readonly times?: number
}

const GAP = '  '
const DOT = ' · '
const LONGEST_TARGET = 100
const LONGEST_WHY = 300
/** Rows that an explanation may take. */
const MOST_ROWS = 3
/** Further rows begin below the status, but not further to the right. */
const DEEPEST_INDENT = 10

/** So far from real time, a clock was moved. */
const ELSEWHERE_MS = 10 * SECOND_MS

/** Part of a line, and how it is coloured. */
interface Fact {
  readonly text: string
  readonly paint: (text: string) => string
}

/** What is only said where there is room. */
interface Extra extends Fact {
  /** The lowest first. */
  readonly rank: number
}

/**
 * One exchange as an entry for people: a row, and where that is too narrow further
 * ones. What explains the answer is never left out; what else there is to say only
 * where there is room. Nothing is broken inside a word.
 */
export function prettyExchange(record: ExchangeRecord, chalk: ChalkInstance, page: Page = {}): string {
  const { at, arrivedAt, method, status, fault, how } = record
  const { columns = Number.POSITIVE_INFINITY, times = 1 } = page
  const time = timeText(at, arrivedAt)
  const what = how === undefined ? '...' : escapeControls(status === undefined ? (fault ?? '---') : String(status))
  const verb = escapeControls(method).padEnd(4)
  const head = [chalk.dim(time), colourOf(status, chalk)(what), verb].join(GAP)
  const room = columns - 1 - cellWidth([time, what, verb, ''].join(GAP))
  const count: readonly Fact[] = times > 1 ? [{ text: `×${times}`, paint: chalk.bold }] : []

  const target = fitTarget(
    escapeControls(targetOf(record)),
    columns,
    room - (times > 1 ? widthOf(count) + GAP.length : 0),
  )
  const left = room - cellWidth(target) - GAP.length
  const reasons = reasonsOf(record, chalk)
  const areBeside = reasons.length === 0 || widthOf([...count, ...reasons]) <= left
  const facts = withExtras(areBeside ? [...count, ...reasons] : count, extrasOf(record, chalk), left)
  const hint = hintFor(record)
  const isHintBeside = hint !== undefined && cellWidth(`${GAP}→ ${hint}`) <= left - widthOf(facts)

  const indent = Math.min(time.length + GAP.length, DEEPEST_INDENT)
  const below = (text: string) =>
    wrapCells(text, Math.max(1, columns - 1 - indent)).map((row) => ' '.repeat(indent) + row)
  return [
    [head, target, facts.map(({ text, paint }) => paint(text)).join(chalk.dim(DOT))]
      .join(GAP)
      .concat(isHintBeside ? chalk.dim(`${GAP}→ ${hint}`) : '')
      .trimEnd(),
    ...(areBeside ? [] : below(reasons.map(({ text }) => text).join(DOT)).slice(0, MOST_ROWS)),
    ...(hint === undefined || isHintBeside ? [] : below(`→ ${hint}`).map((row) => chalk.dim(row))),
  ].join('\n')
}

/** What two exchanges have in common that are the same again to whoever reads the log. */
export function sameness(record: ExchangeRecord): string {
  const { method, status, reason, key, space, fault, how } = record
  return [method, targetOf(record), status, reason, key, space, fault, how, whyOf(record)].join('\n')
}

/** The time of a line, in local time; with its date if the clock is elsewhere. */
export function timeText(at: EpochMs, wall: EpochMs): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  if (Math.abs(at - wall) < ELSEWHERE_MS) return time
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}

function targetOf({ path, query }: ExchangeRecord): string {
  return query === '' ? path : `${path}?${query}`
}

/** Short targets stand in a column, longer ones take what room there is. */
function fitTarget(target: string, columns: number, room: number): string {
  const column = Math.max(14, Math.min(28, Math.floor(columns / 4)))
  return padCells(fitCells(target, Math.max(1, Math.min(LONGEST_TARGET, room))), column)
}

function widthOf(facts: readonly Fact[]): number {
  return facts.reduce((width, { text }, index) => width + cellWidth(text) + (index === 0 ? 0 : DOT.length), 0)
}

/** Adds what else there is to say, in its own order, where there is room for it: the most telling first. */
function withExtras(facts: readonly Fact[], extras: readonly Extra[], room: number): readonly Fact[] {
  const chosen = new Set<Fact>()
  for (const extra of extras.toSorted((one, other) => one.rank - other.rank)) {
    if (widthOf([...facts, ...chosen, extra]) <= room) chosen.add(extra)
  }
  return [...facts, ...extras.filter((extra) => chosen.has(extra))]
}

function extrasOf(record: ExchangeRecord, chalk: ChalkInstance): readonly Extra[] {
  const { operation, key, space, remaining } = record
  const extra = (rank: number, text: string): Extra => ({ rank, text: escapeControls(text), paint: chalk.dim })
  return [
    ...(operation === undefined ? [] : [extra(3, operation)]),
    extra(1, space === '' ? key : `${key}~${space}`),
    ...(Number.isNaN(remaining) ? [] : [extra(2, `${remaining} left`)]),
    extra(4, tookText(record)),
  ]
}

/** What a part of it has to take, in milliseconds, to be told apart. */
const TELLING_MS = 1

function tookText({ how, durationMs, waitingMs, bodyMs }: ExchangeRecord): string {
  if (how === undefined) return `${formatSpan(durationMs)} so far`
  const parts = [
    ...(waitingMs < TELLING_MS ? [] : [`waiting ${formatSpan(waitingMs)}`]),
    ...(bodyMs < TELLING_MS ? [] : [`body ${formatSpan(bodyMs)}`]),
  ]
  return parts.length === 0 ? formatSpan(durationMs) : `${formatSpan(durationMs)} (${parts.join(', ')})`
}

/** Why the answer is what it is, that it did not arrive whole, and that the operation is deprecated. */
function reasonsOf(record: ExchangeRecord, chalk: ChalkInstance): readonly Fact[] {
  const why = whyOf(record)
  return [
    ...(why === undefined ? [] : [{ text: fitCells(why, LONGEST_WHY), paint: (text: string) => text }]),
    ...endOf(record).map((text) => ({ text, paint: chalk.yellow })),
    ...(record.drift === undefined
      ? []
      : [{ text: fitCells(`drift: ${escapeControls(record.drift.join('; '))}`, LONGEST_WHY), paint: chalk.red }]),
    ...(headerOf(record, 'deprecation') === undefined ? [] : [{ text: 'deprecated', paint: chalk.yellow }]),
  ]
}

/** That its client went first, or that it was cut although no fault said so. */
function endOf({ how, durationMs, fault }: ExchangeRecord): readonly string[] {
  if (how === 'left') return [`client left after ${formatSpan(durationMs)}`]
  if (how === 'unknown') return ['whether it was sent is unknown']
  return how === 'cut' && (fault === undefined || fault === 'slow-body' || fault === 'hang')
    ? ['cut by the sandbox']
    : []
}

/** The sandbox's reason for what it made up; for the service's own refusals, what was wrong. */
function whyOf({ status, reason, fault, operation, responseBody }: ExchangeRecord): string | undefined {
  if (reason === 'fault' && fault !== undefined) return status === undefined ? 'fault' : `fault ${fault}`
  if (reason !== undefined) return reason
  if (status === undefined || status < 400) return undefined
  const message = messageIn(responseBody)
  if (message === undefined) return undefined
  return escapeControls(status === 400 ? withoutOperation(operation, message) : briefly(message))
}

/** The message of an answer in the Error shape. */
function messageIn(body: string): string | undefined {
  try {
    const { message }: { readonly message?: unknown } = Object(JSON.parse(body))
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}

/** The first sentence, which says what is wrong, and a guess at what was meant. */
function briefly(message: string): string {
  const sentences = message.split(/(?<=[.?]) (?=[A-Z])/)
  return sentences.filter((sentence, index) => index === 0 || sentence.startsWith('Did you mean')).join(' ')
}

function headerOf({ responseHeaders }: ExchangeRecord, name: string): string | undefined {
  const index = responseHeaders.findIndex((item, place) => place % 2 === 0 && item.toLowerCase() === name)
  return index === -1 ? undefined : responseHeaders[index + 1]
}

function colourOf(status: number | undefined, chalk: ChalkInstance): (text: string) => string {
  if (status === undefined) return chalk.magenta
  if (status >= 500) return chalk.red
  if (status >= 400) return chalk.yellow
  return status >= 300 ? chalk.cyan : chalk.green
}

/** The gentlest cure of a refusal; undefined if the client asked for it. */
function hintFor(record: ExchangeRecord): string | undefined {
  const { reason, status, key, space } = record
  if (status !== 429 && reason !== 'ban') return undefined
  const wait = waitOf(record)
  const control = `petstore-sandbox control${space === '' ? '' : ` --space ${escapeControls(space)}`}`
  const cure = (command: string) =>
    wait === undefined ? `${control} ${command}` : `retry in ${spoken(wait)}, or: ${control} ${command}`
  switch (reason) {
    case 'quota-minute':
    case 'quota-day':
      if (key === 'sandbox-limited') return 'this key is always out of quota; use another'
      if (wait !== undefined) return cure(`clock advance ${formatDuration(wait * SECOND_MS)}`)
      return key === DEFAULT_KEY ? `serve with a larger --plan` : undefined
    case 'ban':
      return key === 'sandbox-banned' ? 'this key is always banned; use another' : cure(`unban ${escapeControls(key)}`)
    case 'storm':
      return cure('storm stop')
    case 'fault':
      return `${control} fault clear`
    default:
      return undefined
  }
}

/** Whole seconds until the client may come again, by Retry-After, or else by when the window ends. */
function waitOf(record: ExchangeRecord): number | undefined {
  const retryAfter = headerOf(record, 'retry-after')
  if (retryAfter === undefined) {
    const reset = headerOf(record, 'x-ratelimit-reset')
    return reset === undefined || record.reason === 'storm'
      ? undefined
      : atLeastOne(Number(reset) - record.at / SECOND_MS)
  }
  return /^\d+$/.test(retryAfter) ? Number(retryAfter) : atLeastOne(ceilSeconds(Date.parse(retryAfter) - record.at))
}

function atLeastOne(seconds: number): number | undefined {
  return Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) : undefined
}

/** Two minutes of seconds are still seconds, two hours of minutes minutes. */
function spoken(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`
}
