import type { ChalkInstance } from 'chalk'
import type { VerbDone } from '../control/verb.js'
import { verbText } from '../control/verb-text.js'
import { type EpochMs, parseDuration } from '../domain/time.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { systemClock } from '../system/system-clock.js'
import { cellWidth, wrapCells } from './cells.js'
import { escapeControls } from './escape-controls.js'
import { prettyExchange, sameness, timeText } from './exchange-line.js'
import { FoldedLines } from './folded-lines.js'
import type { Output } from './io.js'
import type { LineWriter } from './line-writer.js'
import { columnsOf } from './print.js'

/** How the wide parts of the log are indented where a row is not enough. */
const INDENT = 10

/** The log for people: exchanges, what was done to the sandbox, and what came of it. */
export class PrettyLog {
  readonly #writer: LineWriter
  readonly #chalk: ChalkInstance
  readonly #columns: () => number | undefined
  readonly #folded: FoldedLines
  /** When the storms that will be over by themselves are over, by space. */
  readonly #storms = new Map<string, EpochMs>()

  constructor(writer: LineWriter, stream: Output, chalk: ChalkInstance) {
    this.#writer = writer
    this.#chalk = chalk
    // Asked each time: windows change their width.
    this.#columns = () => columnsOf(stream)
    this.#folded = new FoldedLines(writer, this.#columns)
  }

  exchange(record: ExchangeRecord): void {
    this.#lookAtStorm(record.space, record.at)
    const columns = this.#columns()
    const page = columns === undefined ? {} : { columns }
    this.#folded.write(
      sameness(record),
      (times) => prettyExchange(record, this.#chalk, { ...page, times }),
      (times) =>
        this.#chalk.dim(
          `${timeText(record.at, record.arrivedAt)}  … the same ${times === 1 ? 'once' : `${times} times`} more`,
        ),
    )
  }

  verb(done: VerbDone): void {
    const { space, name, output, at } = done
    this.#lookAtStorm(space, at)
    if (name === 'storm.start') this.#expectEnd(space, output)
    else if (name === 'storm.stop' || name === 'reset' || name === 'scenario.apply') this.#storms.delete(space)
    this.event('control', `${space === '' ? '' : `${space}: `}${verbText(done)}`, at)
  }

  /** Something that happened, as a line of its own. @param at by the clock of its space; now if it is nobody's */
  event(what: string, text: string, at: EpochMs = systemClock.wall()): void {
    this.#folded.end()
    const time = timeText(at, systemClock.wall())
    const width = (this.#columns() ?? Number.POSITIVE_INFINITY) - 1
    const rows = wrapCells(`${what.padEnd(7)}  ${escapeControls(text)}`, Math.max(1, width - cellWidth(time) - 2))
    const indent = ' '.repeat(Math.min(cellWidth(time) + 2, INDENT))
    const [first = '', ...others] = rows
    const line = [`${this.#chalk.dim(time)}  ${this.#chalk.cyan(first)}`, ...others.map((row) => indent + row)]
    this.#writer.write(() => line.join('\n'))
  }

  /** A remark, as it is. */
  line(text: string): void {
    this.#folded.end()
    this.#writer.write(() => text)
  }

  clear(): void {
    this.#folded.end()
    this.#writer.clear()
  }

  /** Says what was kept back. */
  settle(): void {
    this.#folded.settle()
  }

  #expectEnd(space: string, storm: unknown): void {
    const { for: length, every, startedAt }: { for?: unknown; every?: unknown; startedAt?: unknown } = Object(storm)
    const lasts = typeof length === 'string' ? parseDuration(length) : undefined
    // One that returns is over again and again: its exchanges say enough.
    if (lasts === undefined || typeof every === 'string') this.#storms.delete(space)
    else this.#storms.set(space, Date.parse(String(startedAt)) + lasts)
  }

  #lookAtStorm(space: string, now: EpochMs): void {
    const end = this.#storms.get(space)
    if (end === undefined || now < end) return
    this.#storms.delete(space)
    this.event('event', `${space === '' ? '' : `${space}: `}the storm is over`, end)
  }
}
