import type { ServiceResponse } from '../../client/exchange.js'
import { type Header, masked } from '../../client/headers.js'
import { readBody, toRows } from '../../client/read-body.js'
import type { Contract, Operation } from '../../contract/contract.js'
import type { KeyHeader } from '../../contract/contract-data.js'
import type { Environment } from '../../system/this-process.js'
import { loadYaml } from '../../system/yaml.js'
import { jsonText } from '../colour.js'
import { escapeControls, escapeLines, hasControls } from '../escape-controls.js'
import type { CliIo, Output } from '../io.js'
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
function yamlText(value: unknown): string {
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

export async function listOperations(
  { operations }: Contract,
  format: string | undefined,
  { stdout, env }: CliIo,
): Promise<string> {
  if (format === 'json' || format === 'yaml') {
    const views = operations.map(({ id, method, path, deprecated, sunsetAt, stability = 'stable', summary }) => ({
      operation: id,
      method,
      path,
      deprecated,
      ...(sunsetAt === undefined ? {} : { sunset: dayOf(sunsetAt) }),
      stability,
      ...(summary === undefined ? {} : { summary }),
    }))
    return format === 'json' ? await jsonText(views, stdout, env) : yamlText(views)
  }
  const rows = operations.map((operation) => {
    const { id, method, path, deprecated, sunsetAt, stability, summary = '' } = operation
    const removal = sunsetAt === undefined ? '' : `, to be removed on ${dayOf(sunsetAt)}`
    const state = [deprecated ? `deprecated${removal}` : [], stability ?? (deprecated ? [] : 'stable')].flat()
    return [id, `${method} ${path}`, state.join(', '), summary]
  })
  return table(['operation', 'request', 'stability', 'summary'], rows, lineWidth(stdout))
}

export function stabilityWarnings({ id, deprecated, sunsetAt, stability }: Operation): readonly string[] {
  const removal = sunsetAt === undefined ? '' : ` and will be removed on ${dayOf(sunsetAt)}`
  return [
    deprecated ? `${id} is deprecated${removal}.` : [],
    stability === undefined || stability === 'stable' ? [] : `${id} is ${stability}: it may change without notice.`,
  ].flat()
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
