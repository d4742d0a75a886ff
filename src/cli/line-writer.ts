import { escapeDrivers } from './escape-controls.js'
import type { Output } from './io.js'

/** Characters buffered for a reader that does not read; anything beyond is dropped. */
const MOST_WAITING = 1_000_000

/**
 * Writes lines to a stream without ever holding up the process: all lines of
 * one turn at once, never waiting, and never buffering more than a fixed amount.
 *
 * After a stream breaks (EPIPE), nothing more is written to it.
 */
export class LineWriter {
  readonly #stream: Output
  readonly #droppedLine: (count: number) => string
  #waiting = ''
  /** What was written last; empty if it cannot be written again, something else being below it. */
  #last = ''
  #dropped = 0
  #scheduled = false
  /** The stream is full and waits for its drain event. */
  #blocked = false
  #broken = false
  /** The cursor stands behind a text that is to go. */
  #showsProgress = false

  /** @param droppedLine says how many lines could not be written */
  constructor(stream: Output, droppedLine: (count: number) => string) {
    this.#stream = stream
    this.#droppedLine = droppedLine
    stream.on('error', () => {
      this.#broken = true
      this.#waiting = ''
    })
    stream.on('drain', () => {
      this.#blocked = false
      this.flush()
    })
  }

  /** @param line makes the line, or several, without the last line feed; not called if it would be dropped */
  write(line: () => string): void {
    if (this.#broken) return
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped++
      return
    }
    this.#last = `${escapeDrivers(line())}\n`
    this.#waiting += this.#last
    this.#schedule()
  }

  /** Writes in the place of what was written last: only to a terminal in which that still stands above the cursor. */
  rewrite(line: () => string): void {
    if (this.#broken || this.#waiting.length >= MOST_WAITING) return
    const before = this.#last
    this.#last = `${escapeDrivers(line())}\n`
    if (before === '') this.#waiting += this.#last
    else if (this.#waiting.endsWith(before)) this.#waiting = this.#waiting.slice(0, -before.length) + this.#last
    else this.#waiting += upAndErase(before.split('\n').length - 1) + this.#last
    this.#schedule()
  }

  /** Shows a text at once, of which nothing is left when something else is written: only to a terminal. */
  progress(text: string): void {
    this.flush()
    if (this.#broken || this.#blocked) return
    this.#last = ''
    this.#showsProgress = true
    this.#blocked = !this.#stream.write(ERASE_LINE + escapeDrivers(text))
  }

  /** Empties the screen, what has scrolled away included. */
  clear(): void {
    if (this.#broken) return
    this.#waiting = CLEAR_SCREEN
    this.#last = ''
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

  /** Writes what is buffered, if the stream accepts it. */
  flush(): void {
    if (this.#broken || this.#blocked) return
    if (this.#dropped > 0) {
      this.#waiting += `${escapeDrivers(this.#droppedLine(this.#dropped))}\n`
      this.#last = ''
      this.#dropped = 0
    }
    if (this.#waiting === '') return
    const text = this.#showsProgress ? ERASE_LINE + this.#waiting : this.#waiting
    this.#waiting = ''
    this.#showsProgress = false
    this.#blocked = !this.#stream.write(text)
  }
}

/** @source ECMA-48: EL, from the beginning of the line */
const ERASE_LINE = '\r\u001b[K'

/** @source ECMA-48: CUP to the first cell, ED of the screen; xterm control sequences, ED 3: for what has scrolled away */
const CLEAR_SCREEN = '\u001b[H\u001b[2J\u001b[3J'

/** @source ECMA-48: CPL, then ED from there on */
function upAndErase(rows: number): string {
  return `\u001b[${rows}F\u001b[J`
}
