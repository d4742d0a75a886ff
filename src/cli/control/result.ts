import { type Command, Option } from 'commander'
import type { CliIo } from '../io.js'
import { escapeLines, jsonText, print, printLine } from '../print.js'
import { lineWidth, table } from '../table.js'

export interface Result {
  readonly value: unknown
  /** Without a final line feed. An empty text prints no line. A function takes the width of a line in cells. */
  readonly text: string | ((width: number) => string)
  /** The text has colours, and its foreign parts are escaped. */
  readonly coloured?: true
  readonly note?: string
  readonly next?: readonly string[]
}

export function tableResult(
  value: unknown,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  note: string,
): Result {
  return { value, text: (width) => table(head, rows, width), ...(rows.length === 0 ? { note } : {}) }
}

/** @param next commands that would help; they become the last field @source docs/cli.md, "JSON output" */
export async function printJson(value: unknown, io: CliIo, next: readonly string[] = []): Promise<void> {
  const whole = next.length === 0 ? value : { ...Object(value), next }
  await print(io.stdout, `${await jsonText(whole, io.stdout, io.env)}\n`)
}

export async function printResult(
  { value, text, coloured, note, next }: Result,
  io: CliIo,
  json: boolean,
): Promise<void> {
  if (json) return await printJson(value, io, next)
  const shown = typeof text === 'string' ? text : text(lineWidth(io.stdout))
  if (shown !== '') await print(io.stdout, `${coloured ? shown : escapeLines(shown)}\n`)
  if (note !== undefined) printLine(io.stderr, note)
}

export type OutputForm = 'text' | 'json'

export interface OutputFlags<Form extends string = OutputForm> {
  readonly output?: Form
  readonly json?: boolean
}

/** `-o json`; `--json` is its former name. */
export function outputOptions(...others: readonly string[]): readonly Option[] {
  return [
    new Option('-o, --output <form>', 'output format').choices(['text', 'json', ...others]),
    new Option('--json', 'print JSON').hideHelp(),
  ]
}

export function addOutputOptions<C extends Command>(command: C, ...others: readonly string[]): C {
  for (const option of outputOptions(...others)) command.addOption(option)
  return command
}

export function wantsJson({ output, json = false }: OutputFlags<string>): boolean {
  return json || output === 'json'
}
