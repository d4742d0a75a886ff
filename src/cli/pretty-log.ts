import type { VerbDone } from '../control/verb.js'
import { verbText } from '../control/verb-text.js'
import type { EpochMs } from '../domain/time.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { systemClock } from '../system/system-clock.js'
import type { Colours } from './colour.js'
import { escapeControls } from './escape-controls.js'
import { type LineOptions, prettyExchange, repetitionKey, timeText } from './exchange-line.js'
import type { Output } from './io.js'
import type { LineWriter } from './line-writer.js'
import { terminalWidth, wrapRows } from './print.js'
import { cellWidth } from './table.js'

export { controlCommand } from './control/find-sandbox.js'

const MAX_INDENT = 10
const FOLD_MS = 5000

export class PrettyLog {
  readonly #writer: LineWriter
  readonly #stream: Output
  readonly #colours: Colours
  readonly #control: LineOptions['control']
  /** The last line, to detect repetitions; the width is undefined off a terminal. */
  #last: { readonly kind: string; readonly width: number | undefined; times: number } | undefined
  #pending: { readonly record: ExchangeRecord; times: number } | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(writer: LineWriter, stream: Output, colours: Colours, control: LineOptions['control']) {
    this.#writer = writer
    this.#stream = stream
    this.#colours = colours
    this.#control = control
  }

  /** On a terminal, repetitions are counted in the row. Elsewhere a later line counts them. */
  exchange(record: ExchangeRecord): void {
    const width = terminalWidth(this.#stream)
    const line = (times: number) =>
      prettyExchange(record, this.#colours, {
        ...(width === undefined ? {} : { columns: width }),
        ...(this.#control === undefined ? {} : { control: this.#control }),
        times,
      })
    const kind = repetitionKey(record)
    const last = this.#last
    // In a window of another width the terminal may have rewrapped the line.
    if (last === undefined || last.kind !== kind || last.width !== width) {
      this.#endFold()
      this.#last = { kind, width, times: 1 }
      this.#writer.write(() => line(1))
    } else if (width !== undefined) {
      last.times++
      this.#writer.rewrite(() => line(last.times))
    } else {
      this.#pending = { record, times: (this.#pending?.times ?? 0) + 1 }
      this.#timer ??= setTimeout(() => this.settle(), FOLD_MS).unref()
    }
  }

  verb(done: VerbDone): void {
    const { space, at } = done
    this.event('control', `${space === '' ? '' : `${space}: `}${verbText(done)}`, at)
  }

  event(subject: string, text: string, at: EpochMs = systemClock.wall()): void {
    const time = timeText(at, systemClock.wall())
    const indent = cellWidth(time) + 2
    const width = (terminalWidth(this.#stream) ?? Number.POSITIVE_INFINITY) - 1
    const [first = '', ...others] = wrapRows(
      `${subject.padEnd(7)}  ${escapeControls(text)}`,
      Math.max(1, width - indent),
    )
    const rows = others.map((row) => ' '.repeat(Math.min(indent, MAX_INDENT)) + row)
    this.line([`${this.#colours.dim(time)}  ${this.#colours.cyan(first)}`, ...rows].join('\n'))
  }

  line(text: string): void {
    this.#endFold()
    this.#writer.write(() => text)
  }

  clear(): void {
    this.#endFold()
    this.#writer.clear()
  }

  settle(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#pending === undefined) return
    const { record, times } = this.#pending
    this.#pending = undefined
    const text = `… the same ${times === 1 ? 'once' : `${times} times`} more`
    this.#writer.write(() => this.#colours.dim(`${timeText(record.at, record.arrivedAt)}  ${text}`))
  }

  #endFold(): void {
    this.settle()
    this.#last = undefined
  }
}
