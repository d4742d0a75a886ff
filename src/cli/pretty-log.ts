import { shellWord } from '../advice/curl.js'
import { fixRefusal } from '../advice/fixes.js'
import type { VerbDone } from '../control/verb.js'
import { sentKeyText } from '../domain/keys.js'
import { withoutOperation } from '../domain/problems.js'
import { addressOf } from '../domain/space-address.js'
import { ceilSeconds, type DurationMs, type EpochMs, formatSpan, readRetryAfter, SECOND_MS } from '../domain/time.js'
import { type Exchange, type ExchangeRecord, exchangeView } from '../exchanges/exchange-record.js'
import { systemClock } from '../system/system-clock.js'
import type { Output } from './io.js'
import type { LineWriter } from './line-writer.js'
import { type Colours, escapeControls, NO_COLOURS, terminalWidth, wrapHanging } from './print.js'
import { cellWidth, fitCells, padCells } from './table.js'

/** Of rows after the first: below the status. */
const INDENT = ' '.repeat(10)

/** What two lines that fold may differ in. */
const UNTIMED = { at: new Date(0).toISOString(), durationMs: 0, timing: { handlingMs: 0, waitingMs: 0, bodyMs: 0 } }

export class PrettyLog {
  readonly #writer: LineWriter
  readonly #stream: Output
  readonly #colours: Colours
  readonly #hints: Hints

  constructor(writer: LineWriter, stream: Output, colours: Colours, control: () => string | undefined) {
    this.#writer = writer
    this.#stream = stream
    this.#colours = colours
    this.#hints = new Hints(control)
  }

  exchange(record: ExchangeRecord): void {
    const columns = terminalWidth(this.#stream)
    const hintOf = (shown: Exchange) => this.#hints.after(shown, this.#colours, columns)
    if (columns === undefined) {
      this.#writer.write(() => {
        const shown = exchangeView(record)
        return prettyExchange(shown, this.#colours, { wall: record.arrivedAt }) + hintOf(shown)
      })
      return
    }
    const shown = exchangeView(record)
    const hint = hintOf(shown)
    const page = { wall: record.arrivedAt, columns }
    const plain = prettyExchange(shown, NO_COLOURS, page)
    const isOneRow = hint === '' && cellWidth(plain) < columns
    if (!isOneRow) {
      const line = prettyExchange(shown, this.#colours, page)
      this.#writer.write(() => wrapHanging(line, columns, INDENT) + hint)
      return
    }
    const key = prettyExchange({ ...shown, ...UNTIMED }, NO_COLOURS)
    this.#writer.writeFolded(key, (count) => {
      const times = count === 1 ? '' : `  ×${count}`
      return prettyExchange(shown, this.#colours, { ...page, kept: times.length }) + this.#colours.bold(times)
    })
  }

  verb(done: VerbDone): void {
    const { space, at } = done
    this.#hints.forget()
    this.event('control', `${space === '' ? '' : `${space}: `}${done.text}`, at)
  }

  event(subject: string, text: string, at: EpochMs = systemClock.wall()): void {
    const { dim, cyan } = this.#colours
    const line = `${dim(timeText(at, systemClock.wall()))}  ${cyan(subject.padEnd(7))}  ${escapeControls(text)}`
    this.#writer.write(() => line)
  }
}

/** How to end a refusal, once for each cause. */
export class Hints {
  readonly #control: () => string | undefined
  readonly #given = new Set<string>()

  /** @param control `npx petstore-sandbox control`, with the address if it is needed */
  constructor(control: () => string | undefined) {
    this.#control = control
  }

  /** @returns a further line, or an empty text */
  after(exchange: Exchange, { dim }: Colours, columns: number | undefined): string {
    const { reason, status, key, space } = exchange
    if (status !== 429 && reason !== 'ban') return ''
    const cause = [reason, key, space].join('\n')
    if (this.#given.has(cause)) return ''
    const hint = hintFor(exchange, this.#control)
    if (hint === undefined) return ''
    this.#given.add(cause)
    return `\n${dim(wrapHanging(`  → ${hint}`, columns, '    '))}`
  }

  /** Someone acted, so that the same refusal has another cause. */
  forget(): void {
    this.#given.clear()
  }
}

interface LineOptions {
  /** Real time of its arrival. Default: the same as by the space's clock. */
  readonly wall?: EpochMs
  /** Cells of a row; what matters least is left out to fit. */
  readonly columns?: number
  /** Cells at its end for something else. */
  readonly kept?: number
  /** Cells of a first column with the exchange's id. Default: no such column. */
  readonly idWidth?: number
}

const GAP = '  '
const DOT = ' · '
const METHOD_WIDTH = 6
const MAX_TARGET = 100
const MAX_REASON = 300
const MOVED_CLOCK_MS = 10 * SECOND_MS
const MIN_PART_MS = 1

type Paint = (text: string) => string
interface Fact {
  readonly text: string
  readonly paint: Paint
}

export function prettyExchange(record: Exchange, colours: Colours, page: LineOptions = {}): string {
  const { id, method, status, ended } = record
  const at = Date.parse(record.at)
  const { wall = at, columns = Number.POSITIVE_INFINITY, kept = 0, idWidth } = page
  const time = `${idWidth === undefined ? '' : String(id).padStart(idWidth) + GAP}${timeText(at, wall)}`
  const state = ended === null ? '...' : String(status ?? '---')
  const verb = escapeControls(method).padEnd(METHOD_WIDTH)
  const room = columns - 1 - kept - cellWidth([time, state, verb, ''].join(GAP))
  // Short targets are aligned in a column, longer ones take the room there is.
  const column = Math.max(14, Math.min(28, Math.floor(columns / 4)))
  const target = padCells(fitCells(escapeControls(addressOf(record)), Math.max(1, Math.min(MAX_TARGET, room))), column)
  const facts = withExtras(reasonsOf(record, colours), extrasOf(record, colours), room - cellWidth(target) - GAP.length)
  return [
    colours.dim(time),
    colourOf(status, colours)(state),
    verb,
    target,
    facts.map(({ text, paint }) => paint(text)).join(colours.dim(DOT)),
  ]
    .join(GAP)
    .trimEnd()
}

/** In local time; with its date if the clock was moved. */
function timeText(at: EpochMs, wall: EpochMs): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  if (Math.abs(at - wall) < MOVED_CLOCK_MS) return time
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}

function widthOf(facts: readonly Fact[]): number {
  return facts.length === 0 ? 0 : cellWidth(facts.map(({ text }) => text).join(DOT))
}

function withExtras(facts: readonly Fact[], extras: readonly Fact[], room: number): readonly Fact[] {
  const fitting = extras.findIndex((_, index) => widthOf([...facts, ...extras.slice(0, index + 1)]) > room)
  return [...facts, ...(fitting === -1 ? extras : extras.slice(0, fitting))]
}

function extrasOf(record: Exchange, { dim }: Colours): readonly Fact[] {
  const { operation, key, sender, space, ended, durationMs, timing, response } = record
  const { waitingMs, bodyMs } = timing
  const { 'x-ratelimit-remaining': left, 'x-ratelimit-limit': limit } = response.headers
  // Without a charge, as with --no-rate-limit, it says nothing.
  const remaining = left === limit ? undefined : left
  const extra = (text: string): Fact => ({ text: escapeControls(text), paint: dim })
  const parts = [
    waitingMs < MIN_PART_MS ? [] : `waiting ${formatSpan(waitingMs)}`,
    bodyMs < MIN_PART_MS ? [] : `body ${formatSpan(bodyMs)}`,
  ].flat()
  const suffix = ended === null ? ' so far' : parts.length === 0 ? '' : ` (${parts.join(', ')})`
  return [
    extra(sentKeyText(key, space, sender)),
    ...(remaining === undefined ? [] : [extra(`${remaining} left`)]),
    ...(operation === null ? [] : [extra(operation)]),
    extra(`${formatSpan(durationMs)}${suffix}`),
  ]
}

function reasonsOf(record: Exchange, colours: Colours): readonly Fact[] {
  const { ended, durationMs, fault, response } = record
  const reason = reasonText(record)
  const isCut = ended === 'cut' && (fault === null || fault === 'slow-body' || fault === 'hang')
  const end =
    ended === 'left'
      ? `client left after ${formatSpan(durationMs)}`
      : ended === 'unknown'
        ? 'whether it was sent is unknown'
        : isCut
          ? 'cut by the sandbox'
          : undefined
  const fact = (text: string | null | undefined, paint: Paint): readonly Fact[] =>
    text == null ? [] : [{ text: fitCells(text, MAX_REASON), paint }]
  return [
    ...fact(reason, (text) => text),
    ...fact(end, colours.yellow),
    ...fact(response.headers.deprecation && 'deprecated', colours.yellow),
  ]
}

/** The sandbox's reason for a simulated response; for the service's own refusals, its message. */
function reasonText({ status, reason, fault, operation, response }: Exchange): string | null {
  if (reason === 'fault' && fault !== null) return `fault ${fault}`
  if (reason === 'mock') return 'mocked'
  const isRefused = reason === 'forced' && response.headers['preference-applied'] === undefined
  if ((reason !== null && !isRefused) || status === null || status < 400) return reason
  let message: unknown
  try {
    message = Object(JSON.parse(response.body)).message
  } catch {
    return reason
  }
  if (typeof message !== 'string') return reason
  if (status === 400) return escapeControls(withoutOperation(operation, message))
  const sentences = message.split(/(?<=[.?]) (?=[A-Z])/)
  return escapeControls(
    sentences.filter((sentence, index) => index === 0 || sentence.startsWith('Did you mean')).join(' '),
  )
}

function colourOf(status: number | null, colours: Colours): Paint {
  if (status === null) return colours.magenta
  if (status >= 500) return colours.red
  if (status >= 400) return colours.yellow
  return status >= 300 ? colours.cyan : colours.green
}

function hintFor(record: Exchange, command: () => string | undefined): string | undefined {
  const { reason, key, space } = record
  const wait = waitMs(record)
  const fix = fixRefusal({ reason, key: key === 'unknown' ? undefined : escapeControls(key), wait })
  if (fix === undefined || fix.command === undefined) return fix?.isPermanent ? fix.fix : undefined
  const control = `${command() ?? 'npx petstore-sandbox control'}${space === '' ? '' : ` --space ${shellWord(escapeControls(space))}`}`
  const retry = wait === undefined || reason === 'fault' ? '' : `retry in ${spoken(ceilSeconds(wait))}, or: `
  return `${retry}${control} ${fix.command}`
}

function waitMs({ at, reason, response: { headers } }: Exchange): DurationMs | undefined {
  const now = Date.parse(at)
  const wait = readRetryAfter(headers['retry-after'], headers.date, now)
  if (wait !== undefined || !reason?.startsWith('quota')) return wait
  return Math.max(SECOND_MS, Number(headers['x-ratelimit-reset']) * SECOND_MS - now)
}

function spoken(seconds: number): string {
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`
}
