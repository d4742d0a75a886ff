import { stringifyJson } from '../../contract/json.js'
import { escapeControls, escapeLines } from '../escape-controls.js'
import type { CliIo } from '../io.js'
import { print, say } from '../print.js'

/** What a verb gave: for programs, and for people. */
export interface Result {
  readonly value: unknown
  /** Without the last line's end; nothing is printed where it is empty. */
  readonly text: string
  /** The text has colours, and what is foreign in it is escaped. */
  readonly coloured?: true
  /** Said on stderr to people, where the text would leave them wondering. */
  readonly note?: string
}

/** A verb that gives nothing but that it was done. */
export function done(text: string, value: object = {}): Result {
  return { value: { done: true, ...value }, text: escapeControls(text) }
}

/** Prints a result; it is with the reader, or the reader is gone, when this resolves. */
export async function printResult({ value, text, coloured, note }: Result, io: CliIo, json: boolean): Promise<void> {
  if (json) await print(io.stdout, `${escapeLines(stringifyJson(value, 2))}\n`)
  else if (text !== '') await print(io.stdout, `${coloured ? text : escapeLines(text)}\n`)
  if (!json && note !== undefined) say(io.stderr, note)
}
