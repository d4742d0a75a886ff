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
  #dropped = 0
  #scheduled = false
  /** The stream is full and waits for its drain event. */
  #blocked = false
  #broken = false

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

  /** @param line makes the line, without its line feed; not called if the line would be dropped */
  write(line: () => string): void {
    if (this.#broken) return
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped++
      return
    }
    this.#waiting += `${line()}\n`
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
      this.#waiting += `${this.#droppedLine(this.#dropped)}\n`
      this.#dropped = 0
    }
    if (this.#waiting === '') return
    const text = escapeDrivers(this.#waiting)
    this.#waiting = ''
    this.#blocked = !this.#stream.write(text)
  }
}
