import { stringifyJson } from '../contract/json.js'
import type { Environment } from '../system/this-process.js'
import { escapeLines } from './escape-controls.js'
import type { Output } from './io.js'

/** Chalk's own detection ignores NO_COLOR and reads the command line. @source no-color.org; force-color.org */
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

/** Loads chalk late: most output has no colours. */
export async function coloursFor(level: 0 | 1): Promise<Colours> {
  if (level === 1) return new (await import('./chalk.js')).Chalk({ level })
  return Object.fromEntries(COLOURS.map((colour) => [colour, (text: string) => text])) as Colours
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
