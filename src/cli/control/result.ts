import { stringifyJson } from '../../contract/json.js'
import { escapeControls, escapeLines } from '../escape-controls.js'
import type { CliIo } from '../io.js'
import { print, say } from '../print.js'

/** The result of a verb, for programs and for people. */
export interface Result {
  readonly value: unknown
  /** Without a final line feed; if empty, nothing is printed. */
  readonly text: string
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
  if (json) await print(io.stdout, `${escapeLines(stringifyJson(value, 2))}\n`)
  else if (text !== '') await print(io.stdout, `${coloured ? text : escapeLines(text)}\n`)
  if (!json && note !== undefined) say(io.stderr, note)
}
