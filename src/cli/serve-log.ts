import type { VerbDone } from '../control/verb.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import type { LogFormat } from '../options/options.js'
import { chalkFor, colourLevel } from './colour.js'
import { escapeControls } from './escape-controls.js'
import type { CliIo, Output } from './io.js'
import { jsonExchange } from './json-exchange.js'
import { LineWriter } from './line-writer.js'
import { columnsOf } from './print.js'
import { jsonReady, prettyReady, type ReadyFacts } from './ready-line.js'
import { wrapWords } from './wrap-words.js'

/** What `serve` says on stderr while it runs. */
export interface ServeLog {
  /** Undefined if exchanges are not logged. */
  readonly exchange?: (record: ExchangeRecord) => void
  /** Undefined if only exchanges are logged. */
  readonly verb?: (done: VerbDone) => void
  ready(facts: ReadyFacts): void
  warning(message: string): void
  /** A remark for people, neither a result nor a warning; it may have several lines. */
  note(message: string): void
  /** Something that happened to the sandbox, for people: what it is about, and what it is. */
  event(what: string, text: string): void
  /** What takes long at the start, until the next line takes its place; only at a terminal. */
  readonly progress?: (text: string) => void
  /** Empties the terminal. */
  clear(): void
  /** Writes what is buffered. */
  flush(): void
}

/** Opens a log in one of the formats. All of them have warnings and the ready line. */
export async function openServeLog(format: LogFormat, io: CliIo): Promise<ServeLog> {
  const { stderr } = io
  const warningLine = format === 'json' ? jsonWarning : (message: string) => forPeople(prettyWarning(message), stderr)
  const writer = new LineWriter(stderr, (count) =>
    warningLine(`${count} log lines were dropped because nothing read them`),
  )
  const write = (line: string) => writer.write(() => line)
  const plain = {
    ready: (facts: ReadyFacts) => write(forPeople(prettyReady(facts), stderr)),
    warning: (message: string) => write(warningLine(message)),
    note: () => {},
    event: () => {},
    clear: () => {},
    flush: () => writer.flush(),
  }
  switch (format) {
    case 'silent':
      return plain
    case 'json':
      return {
        ...plain,
        ready: (facts) => write(jsonReady(facts)),
        exchange: (record) => writer.write(() => jsonExchange(record)),
      }
    case 'pretty':
      return await prettyLog(writer, io)
  }
}

/** What only people read is loaded for people. */
async function prettyLog(writer: LineWriter, { stderr, env }: CliIo): Promise<ServeLog> {
  const { PrettyLog } = await import('./pretty-log.js')
  const log = new PrettyLog(writer, stderr, await chalkFor(colourLevel(stderr, env)))
  return {
    exchange: (record) => log.exchange(record),
    verb: (done) => log.verb(done),
    ready: (facts) => log.line(forPeople(prettyReady(facts), stderr)),
    warning: (message) => log.line(forPeople(prettyWarning(message), stderr)),
    note: (message) => log.line(message),
    event: (what, text) => log.event(what, text),
    ...(stderr.isTTY === true && { progress: (text: string) => writer.progress(text) }),
    clear: () => log.clear(),
    flush: () => {
      log.settle()
      writer.flush()
    },
  }
}

/** A sentence, in rows of whole words. */
function forPeople(line: string, stderr: Output): string {
  return wrapWords(line, columnsOf(stderr))
}

function jsonWarning(message: string): string {
  return escapeControls(JSON.stringify({ event: 'warning', message }))
}

function prettyWarning(message: string): string {
  return `warning: ${escapeControls(message)}`
}
