import type { Output } from './io.js'
import { escapeTerminalControls } from './print.js'

/** Characters buffered for a slow reader; more lines are dropped. */
const MAX_PENDING = 1_000_000
/** @source ECMA-48: EL */
const ERASE_LINE = '\r\u001b[K'
/** @source ECMA-48: CUU, EL */
const OVER_LAST_LINE = '\u001b[1A\r\u001b[K'
/** @source ECMA-48: CUP, ED; xterm control sequences, ED 3: the scrollback */
const CLEAR_SCREEN = '\u001b[H\u001b[2J\u001b[3J'

/** Writes the lines of a turn at once, without blocking. The buffer is limited; a broken stream (EPIPE) ends it. */
export class LineWriter {
  readonly #stream: Output
  readonly #droppedLine: (count: number) => string
  #pending = ''
  #dropped = 0
  #scheduled = false
  /** The stream is full until its drain event. */
  #blocked = false
  #broken = false
  #showsProgress = false
  /** Of the last line, if the next one may take its place. */
  #fold: { readonly key: string; readonly count: number } | undefined

  constructor(stream: Output, droppedLine: (count: number) => string) {
    this.#stream = stream
    this.#droppedLine = droppedLine
    stream.on('error', () => {
      this.#broken = true
      this.#pending = ''
    })
    stream.on('drain', () => {
      this.#blocked = false
      this.flush()
    })
  }

  /** @param line makes one or more lines, without the last line feed; not called if they would be dropped */
  write(line: () => string): void {
    this.#fold = undefined
    this.#write(line)
  }

  /**
   * For a terminal: takes the place of the last line if that had the same key.
   * @param line one row; `count` is the number of rows that it stands for
   */
  writeFolded(key: string, line: (count: number) => string): void {
    const count = this.#fold?.key === key ? this.#fold.count + 1 : 1
    this.#fold = { key, count }
    this.#write(() => line(count), count === 1 ? '' : OVER_LAST_LINE)
  }

  #write(line: () => string, before = ''): void {
    if (this.#broken) return
    if (this.#pending.length >= MAX_PENDING) {
      this.#dropped++
      this.#fold = undefined
      return
    }
    this.#pending += `${before}${escapeTerminalControls(line())}\n`
    this.#schedule()
  }

  progress(text: string): void {
    this.#fold = undefined
    this.flush()
    if (this.#broken || this.#blocked) return
    this.#showsProgress = true
    this.#blocked = !this.#stream.write(ERASE_LINE + escapeTerminalControls(text))
  }

  clear(): void {
    this.#fold = undefined
    if (this.#broken) return
    this.#pending = CLEAR_SCREEN
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || this.#blocked) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.flush()
    })
  }

  flush(): void {
    if (this.#broken || this.#blocked) return
    if (this.#dropped > 0) {
      this.#pending += `${escapeTerminalControls(this.#droppedLine(this.#dropped))}\n`
      this.#dropped = 0
    }
    if (this.#pending === '') return
    const text = this.#showsProgress ? ERASE_LINE + this.#pending : this.#pending
    this.#pending = ''
    this.#showsProgress = false
    this.#blocked = !this.#stream.write(text)
  }
}
