import { escapeControls, escapeDrivers } from './escape-controls.js'
import type { Output } from './io.js'
import { wrapWords } from './wrap-words.js'

// All output goes through here, except for the log's.

/** @returns false once the reader is gone */
export function print(stream: Output, text: string): Promise<boolean> {
  return printBytes(stream, escapeDrivers(text))
}

/** @returns false once the reader is gone */
export function printBytes(stream: Output, bytes: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(bytes, (error) => resolve(error === null || error === undefined))
  })
}

export function overwrite(stream: Output, line: string): void {
  const { columns = 80 } = stream
  stream.write(`\r${escapeControls(line).slice(0, columns - 1)}\u001b[K`)
}

export function say(stream: Output, line: string): void {
  stream.write(`${wrapWords(escapeControls(line), terminalWidth(stream))}\n`)
}

/** Cells of a row; undefined off a terminal, and on one without a width (as `script` makes them). */
export function terminalWidth({ isTTY, columns }: Output): number | undefined {
  return isTTY === true && columns !== undefined && columns > 0 ? columns : undefined
}
