import type { ServiceResponse } from '../../client/exchange.js'
import { type Header, masked } from '../../client/headers.js'
import { readBody, toRows } from '../../client/read-body.js'
import type { KeyHeader } from '../../contract/contract-data.js'
import type { Environment } from '../../system/this-process.js'
import { loadYaml } from '../../system/yaml.js'
import { jsonText } from '../colour.js'
import { escapeControls, escapeLines, hasControls } from '../escape-controls.js'
import type { Output } from '../io.js'
import { lineWidth, table } from '../table.js'
import type { OutputFormat } from './flags.js'

interface Shown {
  readonly bytes: string | Buffer
  readonly note?: string
}

/** In a pipe, a body "as received" is printed byte for byte; on a terminal it is escaped. */
export async function showBody(
  response: ServiceResponse,
  format: OutputFormat,
  stream: Output,
  env: Environment,
): Promise<Shown> {
  const isTTY = stream.isTTY === true
  const raw = () => (isTTY ? escapedText(response) : response.body)
  if (format === 'raw' || (format === 'auto' && !isTTY)) return { bytes: raw() }
  const body = readBody(response)
  if (body.kind === 'empty') return { bytes: '' }
  if (body.kind === 'text') {
    const note = `The response is not JSON, or is too large to format, so it is not shown as ${format}.`
    return { bytes: raw(), ...(format === 'auto' ? {} : { note }) }
  }
  if (format === 'yaml') return { bytes: `${escapeLines(yamlText(body.value))}\n` }
  const rows = format === 'json' ? undefined : toRows(body.value)
  if (rows === undefined) return { bytes: `${await jsonText(body.value, stream, env)}\n` }
  return { bytes: `${rows.rows.length === 0 ? '(none)' : table(rows.head, rows.rows, lineWidth(stream))}\n` }
}

/** YAML with exact integers. A text that will be escaped is quoted, so that it keeps its meaning. */
export function yamlText(value: unknown): string {
  const { Document, visit } = loadYaml()
  const document = new Document(value)
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && hasControls(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0 }).trimEnd()
}

export function headLines(
  { status, statusText, headers }: ServiceResponse,
  keyHeaders: readonly KeyHeader[],
): readonly string[] {
  return [escapeControls(`HTTP ${status} ${statusText}`.trimEnd()), ...headerLines(headers, keyHeaders)]
}

export function headerLines(headers: readonly Header[], keyHeaders: readonly KeyHeader[]): readonly string[] {
  return masked(headers, keyHeaders).map(([name, value]) => escapeControls(`${name}: ${value}`))
}

function escapedText({ body }: ServiceResponse): string {
  const text = escapeLines(body.toString('utf8').replaceAll('\r\n', '\n'))
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
