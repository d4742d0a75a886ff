import { escapeControls, escapeDrivers } from './escape-controls.js'
import type { Output } from './io.js'
import { wrapWords } from './wrap-words.js'

// The only door to stdout and stderr, beside the log's.

/**
 * Prints a text, with colours if it has any.
 *
 * @returns false once nobody reads any more
 */
export function print(stream: Output, text: string): Promise<boolean> {
  return printBytes(stream, escapeDrivers(text))
}

/** Prints what was received as it was received, in a pipe. Nobody reading any more is no failure. */
export function printBytes(stream: Output, bytes: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(bytes, (error) => resolve(error === null || error === undefined))
  })
}

/** Puts a line in place of the one that the cursor is in, on a terminal; it stays there, cut to the terminal's width. */
export function overwrite(stream: Output, line: string): void {
  const { columns = 80 } = stream
  stream.write(`\r${escapeControls(line).slice(0, columns - 1)}\u001b[K`)
}

/** Says one line, whatever is in it; a terminal that is too narrow gets more rows, each of whole words. */
export function say(stream: Output, line: string): void {
  stream.write(`${wrapWords(escapeControls(line), columnsOf(stream))}\n`)
}

/** Cells of a row, undefined off a terminal, and on one that does not say (as `script` makes them, 0 wide). */
export function columnsOf({ isTTY, columns }: Output): number | undefined {
  return isTTY === true && columns !== undefined && columns > 0 ? columns : undefined
}
