import { stringifyJson } from '../../contract/json.js'
import { escapeControls } from '../escape-controls.js'
import type { CliIo, Output } from '../io.js'

/** What a verb gave: for programs, and for people. */
export interface Result {
  readonly value: unknown
  /** Without the last line's end; nothing is printed where it is empty. */
  readonly text: string
  /** Said on stderr to people, where the text would leave them wondering. */
  readonly note?: string
}

/** A verb that gives nothing but that it was done. */
export function done(text: string, value: object = {}): Result {
  return { value: { done: true, ...value }, text: escapeControls(text) }
}

/** Prints a result; it is with the reader, or the reader is gone, when this resolves. */
export async function printResult({ value, text, note }: Result, io: CliIo, json: boolean): Promise<void> {
  if (json) await print(io.stdout, `${jsonText(value)}\n`)
  else if (text !== '') await print(io.stdout, `${text}\n`)
  if (!json && note !== undefined) io.stderr.write(`${escapeControls(note)}\n`)
}

/** @returns false once nobody reads any more */
export function print(stream: Output, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error === null || error === undefined))
  })
}

/** JSON for a terminal: line ends are only between its parts. */
function jsonText(value: unknown): string {
  return stringifyJson(value, 2).split('\n').map(escapeControls).join('\n')
}
