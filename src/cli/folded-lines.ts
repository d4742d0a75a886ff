import type { LineWriter } from './line-writer.js'

/** How long repetitions may be kept back where they cannot be counted in place. */
const KEPT_BACK_MS = 5000

/**
 * Lines of which the same again takes no further one.
 *
 * On a terminal it is counted where it stands. Elsewhere the first one is written, and
 * then how many followed: when something else is written, or after some seconds.
 */
export class FoldedLines {
  readonly #writer: LineWriter
  /** Cells of a row, undefined off a terminal. */
  readonly #columns: () => number | undefined
  #kind = ''
  #times = 0
  #width: number | undefined
  /** Repetitions that nothing was said of, and how to say it. */
  #owed: { readonly times: number; readonly line: (times: number) => string } | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(writer: LineWriter, columns: () => number | undefined) {
    this.#writer = writer
    this.#columns = columns
  }

  /**
   * @param kind    two lines of one kind are the same again
   * @param line    makes the line, told how often it has been by now
   * @param summary says how often it has been since that was last said
   */
  write(kind: string, line: (times: number) => string, summary: (times: number) => string): void {
    const width = this.#columns()
    const isSame = kind === this.#kind
    // In a window of another width a line may have been broken, and nobody knows where the cursor is.
    if (isSame && width !== undefined && width === this.#width) {
      this.#times++
      this.#writer.rewrite(() => line(this.#times))
    } else if (isSame && width === undefined) {
      this.#owed = { times: (this.#owed?.times ?? 0) + 1, line: summary }
      this.#timer ??= setTimeout(() => this.settle(), KEPT_BACK_MS).unref()
    } else {
      this.end()
      this.#kind = kind
      this.#times = 1
      this.#width = width
      this.#writer.write(() => line(1))
    }
  }

  /** Whatever comes next is something else. */
  end(): void {
    this.settle()
    this.#kind = ''
  }

  /** Says what was kept back. */
  settle(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const owed = this.#owed
    this.#owed = undefined
    if (owed !== undefined) this.#writer.write(() => owed.line(owed.times))
  }
}
