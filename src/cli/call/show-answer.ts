import type { ServiceAnswer } from '../../client/exchange.js'
import { type Header, masked } from '../../client/headers.js'
import { type ReadBody, readBody, toRows } from '../../client/read-body.js'
import { stringifyJson } from '../../contract/json.js'
import { table } from '../control/table.js'
import { escapeControls, escapeLines } from '../escape-controls.js'
import type { OutputFormat } from './own-flags.js'
import { yamlText } from './yaml-text.js'

/** A response body, ready to be printed. */
export interface Shown {
  readonly bytes: string | Buffer
  /** Why it is not shown in the requested format. */
  readonly note?: string
}

/** @param isTTY what is given as received must not drive a terminal; in a pipe it is whole, byte for byte */
export async function showBody(answer: ServiceAnswer, format: OutputFormat, isTTY: boolean): Promise<Shown> {
  if (format === 'raw' || (format === 'auto' && !isTTY)) return { bytes: isTTY ? safeText(answer) : answer.body }
  const body = readBody(answer)
  if (body.kind === 'empty') return { bytes: '' }
  if (body.kind === 'text') {
    const note =
      format === 'auto' ? {} : { note: `The answer is not JSON, or too large for it, so it is not shown as ${format}.` }
    return { bytes: isTTY ? safeText(answer) : answer.body, ...note }
  }
  const text = await formatted(body, format === 'auto' ? 'table' : format)
  return { bytes: `${escapeLines(text)}\n` }
}

async function formatted({ value }: ReadBody & { kind: 'json' }, format: 'json' | 'yaml' | 'table'): Promise<string> {
  if (format === 'yaml') return await yamlText(value)
  const rows = format === 'table' ? toRows(value) : undefined
  if (rows === undefined) return stringifyJson(value, 2)
  return rows.rows.length === 0 ? '(none)' : table(rows.head, rows.rows)
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
