import { Help } from 'commander'
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

export function printLine(stream: Output, line: string): void {
  stream.write(`${wrapWords(escapeControls(line), terminalWidth(stream))}\n`)
}

/** Cells of a row; undefined off a terminal, and on one without a width (as `script` makes them). */
export function terminalWidth({ isTTY, columns }: Output): number | undefined {
  return isTTY === true && columns !== undefined && columns > 0 ? columns : undefined
}

/** Most characters that are two cells wide. Exact widths, as in table.ts, are slower to load. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu
const WRAPPER = Object.assign(new Help(), {
  minWidthToWrap: 1,
  displayWidth: (text: string) => text.replace(WIDE, '..').length,
})

/** Rows of at most this number of cells. Never breaks words, so that paths and flags can be copied. */
export function wrapRows(text: string, width: number): readonly string[] {
  return WRAPPER.boxWrap(text, width).split('\n')
}

export function wrapWords(text: string, columns: number | undefined): string {
  return columns === undefined ? text : wrapRows(text, columns - 1).join('\n')
}
