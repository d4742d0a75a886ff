import { stringifyJson } from '../contract/json.js'
import type { Environment } from '../system/this-process.js'
import { escapeLines } from './escape-controls.js'
import type { Output } from './io.js'

/** @source no-color.org; force-color.org */
export function colourLevel(stream: Output, env: Environment): 0 | 1 {
  const { NO_COLOR, FORCE_COLOR, TERM } = env
  if (NO_COLOR !== undefined && NO_COLOR !== '') return 0
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR === '0' || FORCE_COLOR === 'false' ? 0 : 1
  return stream.isTTY === true && TERM !== 'dumb' ? 1 : 0
}

export function isForPeople(stream: Output, env: Environment): boolean {
  return stream.isTTY === true || (env.FORCE_COLOR !== undefined && colourLevel(stream, env) === 1)
}

const COLOURS = ['red', 'green', 'yellow', 'cyan', 'magenta', 'bold', 'dim'] as const

export type Colours = Readonly<Record<(typeof COLOURS)[number], (text: string) => string>>

export function coloursFor(level: 0 | 1): Colours {
  // An import of node:util would load its parser of arguments, at every start.
  const { styleText } = process.getBuiltinModule('node:util')
  const paint = (colour: (typeof COLOURS)[number]) => (text: string) =>
    level === 0 ? text : styleText(colour, text, { validateStream: false })
  return Object.fromEntries(COLOURS.map((colour) => [colour, paint(colour)])) as Colours
}

const PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g

export function jsonText(value: unknown, stream: Output, env: Environment): string {
  const text = escapeLines(stringifyJson(value, 2))
  const level = colourLevel(stream, env)
  if (level === 0) return text
  const { cyan, green, yellow } = coloursFor(level)
  return text.replace(PARTS, (part, string: string | undefined, colon: string | undefined) => {
    if (string === undefined) return yellow(part)
    return colon === undefined ? green(string) : cyan(string) + colon
  })
}
