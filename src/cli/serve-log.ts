import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import type { LogFormat } from '../options/options.js'
import { chalkFor, colourLevel } from './colour.js'
import { escapeControls } from './escape-controls.js'
import { jsonExchange, prettyExchange } from './exchange-line.js'
import type { CliIo } from './io.js'
import { LineWriter } from './line-writer.js'
import { jsonReady, prettyReady, type ReadyFacts } from './ready-line.js'

/** What `serve` says on stderr while it runs. */
export interface ServeLog {
  /** Undefined if exchanges are not logged. */
  readonly exchange: ((record: ExchangeRecord) => void) | undefined
  ready(facts: ReadyFacts): void
  warning(message: string): void
  /** A remark for people, neither a result nor a warning. */
  note(message: string): void
  /** Writes what is buffered. */
  flush(): void
}

/** Opens a log in one of the formats. All of them have warnings and the ready line. */
export async function openServeLog(format: LogFormat, { stderr, env }: CliIo): Promise<ServeLog> {
  const json = format === 'json'
  const warningLine = json ? jsonWarning : prettyWarning
  const writer = new LineWriter(stderr, (count) =>
    warningLine(`${count} log lines were dropped because nothing read them`),
  )
  return {
    exchange: format === 'silent' ? undefined : await exchangeWriter(format, writer, stderr, env),
    ready: (facts) => writer.write(() => (json ? jsonReady(facts) : prettyReady(facts))),
    warning: (message) => writer.write(() => warningLine(message)),
    note: (message) => format === 'pretty' && writer.write(() => message),
    flush: () => writer.flush(),
  }
}

async function exchangeWriter(
  format: 'pretty' | 'json',
  writer: LineWriter,
  stderr: CliIo['stderr'],
  env: CliIo['env'],
): Promise<(record: ExchangeRecord) => void> {
  if (format === 'json') return (record) => writer.write(() => jsonExchange(record))
  const chalk = await chalkFor(colourLevel(stderr, env))
  return (record) => writer.write(() => prettyExchange(record, chalk))
}

function jsonWarning(message: string): string {
  return escapeControls(JSON.stringify({ event: 'warning', message }))
}

function prettyWarning(message: string): string {
  return `warning: ${escapeControls(message)}`
}
