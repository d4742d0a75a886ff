import { Option } from 'commander'
import { jsonText } from '../colour.js'
import { escapeControls, escapeLines } from '../escape-controls.js'
import type { CliIo } from '../io.js'
import { print, printLine } from '../print.js'
import { lineWidth, table } from './table.js'

export interface Result {
  readonly value: unknown
  /** Without a final line feed. An empty text prints no line. A function takes the width of a line in cells. */
  readonly text: string | ((width: number) => string)
  /** The text has colours, and its foreign parts are escaped. */
  readonly coloured?: true
  readonly note?: string
}

export function done(text: string, value: object = {}): Result {
  return { value: { done: true, ...value }, text: escapeControls(text) }
}

export function tableResult(
  value: unknown,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  note: string,
): Result {
  return { value, text: (width) => table(head, rows, width), ...(rows.length === 0 ? { note } : {}) }
}

export async function printResult({ value, text, coloured, note }: Result, io: CliIo, json: boolean): Promise<void> {
  if (json) return void (await print(io.stdout, `${await jsonText(value, io.stdout, io.env)}\n`))
  const shown = typeof text === 'string' ? text : text(lineWidth(io.stdout))
  if (shown !== '') await print(io.stdout, `${coloured ? shown : escapeLines(shown)}\n`)
  if (note !== undefined) printLine(io.stderr, note)
}

export type OutputForm = 'text' | 'json'

export interface OutputFlags {
  readonly output?: OutputForm
  readonly json?: boolean
}

/** `-o json`; `--json` is its former name. */
export function outputOptions(): readonly Option[] {
  return [
    new Option('-o, --output <form>', 'output format').choices(['text', 'json']),
    new Option('--json', 'print JSON').hideHelp(),
  ]
}

export function wantsJson({ output, json = false }: OutputFlags): boolean {
  return json || output === 'json'
}
