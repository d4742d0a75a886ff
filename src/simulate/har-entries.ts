import { MIB } from '../domain/size.js'

// A streaming parser of JSON makes a value of every token, also of the many that nobody asks for: @streamparser/json reads
// 24 MB/s. Here only the bounds of an entry are looked for, and JSON.parse, which is native, reads what is between them:
// 70 MB/s in all, on the same processor.

/** Kept of a string: more than any body that the service takes. */
const LONGEST_STRING = 2 * MIB
const LARGEST_ENTRY = 32 * MIB
/** A name that leads to the entries is shorter. */
const LONGEST_NAME = 16
/** In strings up to here, a loop is faster than a search. */
const SHORT_STRING = 24

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NEWLINE = 0x0a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d

/** Where the entries are: `{"log": {…, "entries": [{…}, {…}]}}`. */
const DEPTH_OF_ENTRIES = 3

/** Takes what is found. Lines and entries count from 1. */
export interface EntrySink {
  entry(text: string, entry: number, line: number): void
  tooLarge(entry: number, line: number): void
}

/**
 * Finds the entries of an HTTP archive in pieces of any size. What is kept of it at any time is one entry, of which long
 * strings (the bodies of pictures) are cut.
 *
 * @source HAR 1.2, "log"
 */
export class HarEntries {
  readonly #sink: EntrySink
  #depth = 0
  #line = 1
  #isInString = false
  #isEscaped = false
  #stringLength = 0
  /** The last string outside of the entries, as far as it may be a name. */
  #name = ''
  #isInLog = false
  #isInEntries = false
  /** Pieces of the entry that is being read; undefined between entries. */
  #pieces: Buffer[] | undefined
  #size = 0
  #isTooLarge = false
  #entryLine = 0
  #entries = 0
  /** Whether there was a list of entries at all. */
  hasEntries = false

  constructor(sink: EntrySink) {
    this.#sink = sink
  }

  /** Why the archive is not whole, as a sentence part; undefined if it is. */
  get missing(): string | undefined {
    if (this.#pieces !== undefined) return `ends in the middle of entry ${this.#entries}`
    return this.#depth > 0 ? `ends after entry ${this.#entries}, before the archive does` : undefined
  }

  push(chunk: Buffer): void {
    const { length } = chunk
    // Where what is kept of the entry begins in this chunk.
    let from = this.#isCut ? -1 : 0
    let i = 0
    while (i < length) {
      if (this.#isInString) {
        i = this.#skipString(chunk, i)
        if (i < length && this.#isCut) {
          from = i
          this.#isCut = false
        }
        if (i < length) {
          this.#isInString = false
          i++
        }
        continue
      }
      const byte = chunk[i]
      switch (byte) {
        case QUOTE:
          this.#isInString = true
          this.#stringLength = 0
          if (this.#pieces === undefined) this.#name = ''
          break
        case NEWLINE:
          this.#line++
          break
        case OPEN_OBJECT:
        case OPEN_LIST:
          if (this.#open(byte)) from = i
          break
        case CLOSE_OBJECT:
        case CLOSE_LIST:
          if (this.#close()) {
            this.#take(chunk, from, i + 1)
            this.#finish()
          }
          break
      }
      i++
    }
    if (this.#pieces !== undefined && from !== -1) this.#takeRest(chunk, from)
  }

  /** The rest of the string that is being read is not kept. */
  #isCut = false

  /** @returns where the string ends, or the chunk */
  #skipString(chunk: Buffer, start: number): number {
    const { length } = chunk
    let i = start
    if (this.#isEscaped) {
      this.#isEscaped = false
      i++
    }
    const isName = this.#pieces === undefined
    while (i < length) {
      const soon = isName ? length : Math.min(length, i + SHORT_STRING)
      let hasEscape = false
      for (; i < soon; i++) {
        const byte = chunk[i]
        if (byte === QUOTE) return i
        if (byte === BACKSLASH) {
          hasEscape = true
          i++
          if (i === length) this.#isEscaped = true
        } else if (isName && this.#name.length < LONGEST_NAME) this.#name += String.fromCharCode(byte ?? 0)
      }
      // JSON within a string has quotes all the way, each of which would end a search.
      if (hasEscape || i >= length) continue
      const quote = chunk.indexOf(QUOTE, i)
      const end = quote === -1 ? length : quote
      let backslashes = 0
      while (end - 1 - backslashes >= i && chunk[end - 1 - backslashes] === BACKSLASH) backslashes++
      const isEscaped = backslashes % 2 === 1
      if (quote === -1) this.#isEscaped = isEscaped
      else if (!isEscaped) return quote
      i = end + 1
    }
    this.#stringLength += length - start
    return length
  }

  /** @returns whether an entry begins here */
  #open(byte: number): boolean {
    this.#depth++
    if (this.#isInEntries) {
      if (this.#depth !== DEPTH_OF_ENTRIES + 1 || byte !== OPEN_OBJECT) return false
      this.#pieces = []
      this.#size = 0
      this.#isTooLarge = false
      this.#entryLine = this.#line
      this.#entries++
      return true
    }
    if (this.#depth === 2) this.#isInLog = this.#name === 'log'
    else if (this.#depth === DEPTH_OF_ENTRIES && this.#isInLog && this.#name === 'entries' && byte === OPEN_LIST) {
      this.#isInEntries = true
      this.hasEntries = true
    }
    return false
  }

  /** @returns whether an entry ends here */
  #close(): boolean {
    this.#depth = Math.max(0, this.#depth - 1)
    if (this.#depth < DEPTH_OF_ENTRIES) this.#isInEntries = false
    return this.#isInEntries && this.#depth === DEPTH_OF_ENTRIES && this.#pieces !== undefined
  }

  /** Keeps what a chunk has of an entry that goes on. */
  #takeRest(chunk: Buffer, from: number): void {
    if (!this.#isInString || this.#stringLength < LONGEST_STRING) {
      this.#take(chunk, from, chunk.length)
      return
    }
    this.#take(chunk, from, safeCut(chunk, from))
    this.#isCut = true
  }

  #take(chunk: Buffer, from: number, to: number): void {
    if (from === -1 || this.#isTooLarge) return
    this.#size += to - from
    if (this.#size > LARGEST_ENTRY) {
      this.#isTooLarge = true
      this.#pieces = []
    } else this.#pieces?.push(chunk.subarray(from, to))
  }

  #finish(): void {
    const [only, ...others] = this.#pieces ?? []
    this.#pieces = undefined
    this.#name = ''
    if (this.#isTooLarge || only === undefined) {
      this.#sink.tooLarge(this.#entries, this.#entryLine)
      return
    }
    const whole = others.length === 0 ? only : Buffer.concat([only, ...others])
    this.#sink.entry(whole.toString(), this.#entries, this.#entryLine)
  }
}

/** The last place in a chunk where a string may be cut: not within an escape such as `\u00e4`. */
function safeCut(chunk: Buffer, from: number): number {
  let cut = chunk.length
  for (let i = chunk.length - 1; i >= Math.max(from, chunk.length - 6); i--) if (chunk[i] === BACKSLASH) cut = i
  while (cut > from && cut < chunk.length && chunk[cut - 1] === BACKSLASH) cut--
  return cut
}
