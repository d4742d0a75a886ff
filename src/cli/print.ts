import { Help } from 'commander'
import { stringifyJson } from '../contract/json.js'
import type { Environment } from '../system/this-process.js'
import type { Output } from './io.js'

/** C0 and C1 controls, line and paragraph separators, and marks that change the writing direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must go
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The same without line ends, tabs, and the colours that we use. */
const TERMINAL_CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that must go
  /(?!\u001b\[(?:[12]|2[12]|3[1-6]|39)m)[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Escapes foreign text, so that it cannot forge a second line or control the terminal. JSON keeps its meaning. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, escaped)
}

export function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n')
}

export function hasControls(text: string): boolean {
  return escapeLines(text) !== text
}

/** The last safeguard before output: a field that was not escaped can do no more than set a colour. */
export function escapeTerminalControls(text: string): string {
  return text.replace(TERMINAL_CONTROLS, escaped)
}

function escaped(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** A line of text for XML, with control characters escaped. Lone surrogates become U+FFFD. */
export function xmlText(text: string): string {
  const held = escapeControls(text).replace(/[\ud800-\udfff\ufffe\uffff]/gu, '\ufffd')
  return held.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

// All output goes through here, except for the log's.

/** @returns false once the reader is gone */
export function print(stream: Output, text: string): Promise<boolean> {
  return printBytes(stream, escapeTerminalControls(text))
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
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours have no width
const COLOUR = /\u001b\[\d+m/g
const WRAPPER = Object.assign(new Help(), {
  minWidthToWrap: 1,
  displayWidth: (text: string) => text.replace(COLOUR, '').replace(WIDE, '..').length,
})

/** Rows of at most this number of cells. Never breaks words, so that paths and flags can be copied. */
export function wrapRows(text: string, width: number): readonly string[] {
  return WRAPPER.boxWrap(text, width).split('\n')
}

/** Rows after the first begin with `indent`. */
export function wrapHanging(text: string, columns: number | undefined, indent = '  '): string {
  if (columns === undefined) return text
  const [first = '', ...more] = wrapRows(text, columns - 1)
  const rest = more.length === 0 ? [] : wrapRows(more.join(' '), columns - 1 - indent.length)
  return [first, ...rest.map((row) => indent + row)].join('\n')
}

export function wrapWords(text: string, columns: number | undefined): string {
  return columns === undefined ? text : wrapRows(text, columns - 1).join('\n')
}

/** Chalk's own detection ignores NO_COLOR and reads the command line. @source no-color.org; force-color.org */
export function colourLevel(stream: Output, env: Environment): 0 | 1 {
  const { NO_COLOR, FORCE_COLOR, TERM } = env
  if (NO_COLOR !== undefined && NO_COLOR !== '') return 0
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR === '0' || FORCE_COLOR === 'false' ? 0 : 1
  return stream.isTTY === true && TERM !== 'dumb' ? 1 : 0
}

export function isInteractive(stream: Output, env: Environment): boolean {
  return stream.isTTY === true || (env.FORCE_COLOR !== undefined && colourLevel(stream, env) === 1)
}

const COLOURS = ['red', 'green', 'yellow', 'cyan', 'magenta', 'bold', 'dim'] as const

export type Colours = Readonly<Record<(typeof COLOURS)[number], (text: string) => string>>

export const NO_COLOURS = Object.fromEntries(COLOURS.map((colour) => [colour, (text: string) => text])) as Colours

/** Loads chalk late: most output has no colours. */
export async function coloursFor(level: 0 | 1): Promise<Colours> {
  return level === 1 ? new (await import('./chalk.js')).Chalk({ level }) : NO_COLOURS
}

const PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g

export async function jsonText(value: unknown, stream: Output, env: Environment): Promise<string> {
  const text = escapeLines(stringifyJson(value, 2))
  const level = colourLevel(stream, env)
  if (level === 0) return text
  const { cyan, green, yellow } = await coloursFor(level)
  return text.replace(PARTS, (part, string: string | undefined, colon: string | undefined) => {
    if (string === undefined) return yellow(part)
    return colon === undefined ? green(string) : cyan(string) + colon
  })
}
