import type { ServiceAnswer } from '../../client/exchange.js'
import { type Header, masked } from '../../client/headers.js'
import { readBody, toRows } from '../../client/read-body.js'
import type { Environment } from '../../system/environment.js'
import { lineWidth, table } from '../control/table.js'
import { escapeControls, escapeLines } from '../escape-controls.js'
import type { Output } from '../io.js'
import { jsonText } from '../json-text.js'
import type { OutputFormat } from './own-flags.js'
import { yamlText } from './yaml-text.js'

/** A response body, ready to be printed. */
export interface Shown {
  readonly bytes: string | Buffer
  /** Why it is not shown in the requested format. */
  readonly note?: string
}

/** What is given as received must not drive a terminal; in a pipe it is whole, byte for byte. */
export async function showBody(
  answer: ServiceAnswer,
  format: OutputFormat,
  stream: Output,
  env: Environment,
): Promise<Shown> {
  const isTTY = stream.isTTY === true
  if (format === 'raw' || (format === 'auto' && !isTTY)) return { bytes: isTTY ? safeText(answer) : answer.body }
  const body = readBody(answer)
  if (body.kind === 'empty') return { bytes: '' }
  if (body.kind === 'text') {
    const note =
      format === 'auto' ? {} : { note: `The answer is not JSON, or too large for it, so it is not shown as ${format}.` }
    return { bytes: isTTY ? safeText(answer) : answer.body, ...note }
  }
  return { bytes: `${await formatted(body.value, format === 'auto' ? 'table' : format, stream, env)}\n` }
}

async function formatted(
  value: unknown,
  format: 'json' | 'yaml' | 'table',
  stream: Output,
  env: Environment,
): Promise<string> {
  if (format === 'yaml') return escapeLines(yamlText(value))
  const rows = format === 'table' ? toRows(value) : undefined
  if (rows === undefined) return await jsonText(value, stream, env)
  return rows.rows.length === 0 ? '(none)' : table(rows.head, rows.rows, lineWidth(stream))
}

/** Its status line and headers, a line each. A key in them is masked. */
export function headLines({ status, statusText, headers }: ServiceAnswer): readonly string[] {
  return [escapeControls(`HTTP ${status} ${statusText}`.trimEnd()), ...headerLines(headers)]
}

export function headerLines(headers: readonly Header[]): readonly string[] {
  return masked(headers).map(([name, value]) => escapeControls(`${name}: ${value}`))
}

function safeText({ body }: ServiceAnswer): string {
  const text = escapeLines(body.toString('utf8').replaceAll('\r\n', '\n'))
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
