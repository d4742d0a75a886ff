import { escapeControls, escapeDrivers } from './escape-controls.js'
import type { Output } from './io.js'

// All output goes through here, except for the log's.

/** @returns false once the reader is gone */
export function print(stream: Output, text: string): Promise<boolean> {
  return printBytes(stream, escapeDrivers(text))
}

export function printBytes(stream: Output, bytes: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(bytes, (error) => resolve(error === null || error === undefined))
  })
}

export function overwrite(stream: Output, line: string): void {
  const { columns = 80 } = stream
  stream.write(`\r${escapeControls(line).slice(0, columns - 1)}\u001b[K`)
}

export function printLine(stream: Output, line: string): void {
  stream.write(`${wrapWords(escapeControls(line), terminalWidth(stream))}\n`)
}

/** Cells of a row; undefined off a terminal, and on one without a width (as `script` makes them). */
export function terminalWidth({ isTTY, columns }: Output): number | undefined {
  return isTTY === true && columns !== undefined && columns > 0 ? columns : undefined
}

const INDENT = '  '
/** From this code point on, nearly all characters are two cells wide; no character below it is. */
const FIRST_WIDE = 0x1100

/**
 * Never breaks words, so that paths and flags can be copied. Zero-width marks count as one cell: cells.ts is exact, but
 * slower to load. Off a terminal (no columns), the text stays as it is.
 */
export function wrapWords(text: string, columns: number | undefined): string {
  if (columns === undefined || text.length < columns / 2) return text
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns - 1))
    .join('\n')
}

function wrapLine(line: string, cells: number): string {
  const [begin = ''] = /^ */.exec(line) ?? []
  const [first = '', ...words] = line.slice(begin.length).split(' ')
  const rows = [begin + first]
  for (const word of words) {
    const row = rows.pop() ?? ''
    if (widthOf(row) + 1 + widthOf(word) <= cells) rows.push(`${row} ${word}`)
    else rows.push(row, begin + INDENT + word)
  }
  return rows.join('\n')
}

function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += (character.codePointAt(0) ?? 0) < FIRST_WIDE ? 1 : 2
  return width
}
