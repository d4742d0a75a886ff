import { readBody, type ServiceResponse } from '../../client/exchange.js'
import { type Header, masked } from '../../client/headers.js'
import type { RetryWait } from '../../client/send.js'
import type { Contract, Operation } from '../../contract/contract.js'
import type { KeyHeader } from '../../contract/contract-data.js'
import { stringifyJson } from '../../contract/json.js'
import { formatDuration } from '../../domain/time.js'
import { loadYaml } from '../../system/runtime.js'
import type { Environment } from '../../system/this-process.js'
import type { CliIo, Output } from '../io.js'
import { colourLevel, coloursFor, escapeControls, escapeLines, hasControls, jsonText, print } from '../print.js'
import { lineWidth, table, toRows } from '../table.js'
import type { OutputFormat } from './commands.js'
import type { CallFailure } from './failure.js'

const LINE_FEED = 10

interface Shown {
  readonly bytes: string | Buffer
  readonly note?: string
}

/** In a pipe, a body "as received" is printed byte for byte, and JSON ends with a line feed; on a terminal it is escaped. */
export async function showBody(
  response: ServiceResponse,
  format: OutputFormat,
  stream: Output,
  env: Environment,
): Promise<Shown> {
  const isTTY = stream.isTTY === true
  const raw = () => (isTTY ? escapedText(response) : response.body)
  if (format === 'raw') return { bytes: raw() }
  const body = readBody(response)
  if (format === 'auto' && !isTTY) {
    const isOpen = body.kind === 'json' && response.body.at(-1) !== LINE_FEED
    return { bytes: isOpen ? Buffer.concat([response.body, Buffer.of(LINE_FEED)]) : response.body }
  }
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
  const removal = sunsetAt === undefined ? '' : `; its removal date is ${dayOf(sunsetAt)}`
  return [
    deprecated ? `${id} is deprecated${removal}.` : [],
    stability === undefined || stability === 'stable' ? [] : `${id} is ${stability}: it may change without notice.`,
  ].flat()
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

export type Reporter = Awaited<ReturnType<typeof openReporter>>

export async function openReporter({ stderr, env }: CliIo) {
  const { red, yellow, dim } = await coloursFor(colourLevel(stderr, env))
  const isTTY = stderr.isTTY === true
  const line = (text: string) => void print(stderr, `${text}\n`)
  return {
    warning: (message: string) => line(`${yellow('warning:')} ${escapeControls(message)}`),
    note: (message: string) => line(`note: ${escapeControls(message)}`),
    violation: (message: string) => line(`${red('CONTRACT_VIOLATION:')} ${escapeControls(message)}`),
    detail(lines: readonly string[]): void {
      for (const text of lines) line(dim(text))
    },
    retry({ wait, because, attempt, attempts }: RetryWait, fix: string | undefined): void {
      if (isTTY && fix !== undefined)
        line(dim(escapeControls(`No need to wait: press Ctrl-C, run "${fix}", and call again.`)))
      line(escapeControls(`note: ${because}; attempt ${attempt} of ${attempts} in ${formatDuration(wait)}`))
    },
    /** Off a terminal, one JSON line that includes the body. @param next a command that would help */
    async failure(
      failure: CallFailure,
      response?: ServiceResponse,
      head: readonly string[] = [],
      next?: string,
    ): Promise<void> {
      if (!isTTY) {
        const { title, detail: message = title, method, url, hint } = failure
        const error = {
          ...{ ...failure, message, place: `${method} ${url}` },
          ...(hint === undefined ? {} : { fix: hint }),
          ...(head.length === 0 ? {} : { head }),
        }
        const whole = { error, ...(next === undefined ? {} : { next: [next] }) }
        await print(stderr, `${escapeControls(stringifyJson(whole))}\n`)
        return
      }
      for (const text of head) line(text)
      if (response !== undefined) {
        const { bytes } = await showBody(response, 'json', stderr, env)
        if (bytes.length > 0) await print(stderr, String(bytes))
      }
      const { code, status, title, detail = title, attempts, hint } = failure
      const tries = attempts > 1 ? ` after ${attempts} attempts` : ''
      const after = status === undefined ? tries : ` (HTTP ${status}${tries})`
      line(`${red(`${escapeControls(code)}:`)} ${escapeControls(detail)}${after}`)
      if (hint !== undefined) line(escapeControls(hint))
    },
  }
}
