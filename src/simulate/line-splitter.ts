import { MIB } from '../domain/size.js'

/** A longer line is none of a log. */
const LONGEST_LINE = 16 * MIB
const NEWLINE = 0x0a

/** Cuts text into lines, whatever the pieces that it comes in. */
export class LineSplitter {
  readonly #line: (text: string, number: number) => void
  readonly #tooLong: (number: number) => void
  #rest: Buffer[] = []
  #restLength = 0
  #isTooLong = false
  #count = 0

  /** @param line takes each line with its number, from 1 */
  constructor(line: (text: string, number: number) => void, tooLong: (number: number) => void) {
    this.#line = line
    this.#tooLong = tooLong
  }

  push(chunk: Buffer): void {
    const last = chunk.lastIndexOf(NEWLINE)
    if (last === -1) {
      this.#keep(chunk)
      return
    }
    let start = 0
    if (this.#isTooLong) {
      this.#tooLong(++this.#count)
      this.#isTooLong = false
      start = chunk.indexOf(NEWLINE) + 1
      this.#rest = []
      this.#restLength = 0
    }
    this.#rest.push(chunk.subarray(start, last + 1))
    const lines = this.#takeRest().split('\n')
    // What follows the last newline is the beginning of the next line.
    lines.pop()
    for (const line of lines) this.#line(line, ++this.#count)
    this.#keep(chunk.subarray(last + 1))
  }

  /** @returns whether the last line had no end */
  end(): boolean {
    if (this.#isTooLong) this.#tooLong(++this.#count)
    else if (this.#restLength > 0) {
      this.#line(this.#takeRest(), ++this.#count)
      return true
    }
    return false
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0 || this.#isTooLong) return
    this.#rest.push(piece)
    this.#restLength += piece.length
    if (this.#restLength <= LONGEST_LINE) return
    this.#isTooLong = true
    this.#rest = []
    this.#restLength = 0
  }

  #takeRest(): string {
    const [only, ...others] = this.#rest
    const text = (others.length === 0 && only !== undefined ? only : Buffer.concat(this.#rest)).toString()
    this.#rest = []
    this.#restLength = 0
    return text
  }
}
