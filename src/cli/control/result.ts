import { escapeControls, escapeLines } from '../escape-controls.js'
import type { CliIo } from '../io.js'
import { jsonText } from '../json-text.js'
import { print, say } from '../print.js'
import { lineWidth } from './table.js'

/** The result of a verb, for programs and for people. */
export interface Result {
  readonly value: unknown
  /** Without a final line feed; if empty, nothing is printed. A table fits lines of so many cells. */
  readonly text: string | ((width: number) => string)
  /** The text has colours, and what is foreign in it is escaped. */
  readonly coloured?: true
  /** Printed on stderr, for people, where the text alone would be puzzling. */
  readonly note?: string
}

/** The result of a verb that returns nothing. */
export function done(text: string, value: object = {}): Result {
  return { value: { done: true, ...value }, text: escapeControls(text) }
}

/** Prints a result. Resolves once it is delivered, or the reader is gone. */
export async function printResult({ value, text, coloured, note }: Result, io: CliIo, json: boolean): Promise<void> {
  if (json) await print(io.stdout, `${await jsonText(value, io.stdout, io.env)}\n`)
  else {
    const shown = typeof text === 'string' ? text : text(lineWidth(io.stdout))
    if (shown !== '') await print(io.stdout, `${coloured ? shown : escapeLines(shown)}\n`)
  }
  if (!json && note !== undefined) say(io.stderr, note)
}
