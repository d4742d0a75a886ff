import { stringifyJson } from '../contract/json.js'
import type { Environment } from '../system/environment.js'
import { chalkFor, colourLevel } from './colour.js'
import { escapeLines } from './escape-controls.js'
import type { Output } from './io.js'

const PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g

export async function jsonText(value: unknown, stream: Output, env: Environment): Promise<string> {
  const text = escapeLines(stringifyJson(value, 2))
  const level = colourLevel(stream, env)
  if (level === 0) return text
  const { cyan, green, yellow } = await chalkFor(level)
  return text.replace(PARTS, (part, string: string | undefined, colon: string | undefined) => {
    if (string === undefined) return yellow(part)
    return colon === undefined ? green(string) : cyan(string) + colon
  })
}
