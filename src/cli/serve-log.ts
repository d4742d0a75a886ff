import type { Contract } from '../contract/contract.js'
import { isStateful } from '../contract/resource-data.js'
import type { VerbDone } from '../control/verb.js'
import { recordsText } from '../domain/numbers.js'
import { type AllowedOrigins, describeOrigins } from '../domain/web-origins.js'
import { type ExchangeRecord, exchangeFacts } from '../exchanges/exchange-record.js'
import type { LogFormat } from '../options/options.js'
import type { CliIo } from './io.js'
import { LineWriter } from './line-writer.js'
import { colourLevel, coloursFor, escapeControls, terminalWidth, wrapWords } from './print.js'

export interface ReadyFacts {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly pid: number
  readonly plan: string | undefined
  readonly limits: string | undefined
  readonly records: Readonly<Record<string, number>>
  readonly seed: number
  readonly upstream?: string | undefined
  /** Web origins that may use the upstream. */
  readonly cors?: AllowedOrigins | undefined
  readonly operations: Contract['operations']
}

export interface ServeLog {
  readonly exchange?: (record: ExchangeRecord) => void
  readonly verb?: (done: VerbDone) => void
  ready(facts: ReadyFacts): void
  warning(message: string): void
  note(message: string): void
  event(subject: string, text: string): void
  /** A text that the next line replaces; on a terminal only. */
  readonly progress?: (text: string) => void
  clear(): void
  flush(): void
}

/** @param controlUrl for commands that the log suggests; undefined before it listens */
export async function openServeLog(
  format: LogFormat,
  io: CliIo,
  controlUrl: () => string | undefined = () => undefined,
): Promise<ServeLog> {
  const { stderr } = io
  const isJson = format === 'json'
  const wrapped = (line: string) => wrapWords(line, terminalWidth(stderr))
  const warningLine = (message: string) =>
    isJson
      ? escapeControls(JSON.stringify({ event: 'warning', message }))
      : wrapped(`warning: ${escapeControls(message)}`)
  const writer = new LineWriter(stderr, (count) =>
    warningLine(`${count} log lines were dropped because nothing read them`),
  )
  const write = (line: string) => writer.write(() => line)
  const log: ServeLog = {
    ready: (facts) => write(isJson ? jsonReady(facts) : wrapped(prettyReady(facts))),
    warning: (message) => write(warningLine(message)),
    note: () => {},
    event: () => {},
    clear: () => {},
    flush: () => writer.flush(),
  }
  if (isJson) {
    const writeEvent = (event: string, facts: object) => write(escapeControls(JSON.stringify({ event, ...facts })))
    return {
      ...log,
      exchange: (record) => writer.write(() => jsonExchange(record)),
      verb: (done) =>
        writeEvent('control', { at: new Date(done.at).toISOString(), space: done.space, message: done.text }),
      event: (event, message) => writeEvent(event, { message }),
    }
  }
  if (format === 'silent') return log

  const { PrettyLog } = await import('./pretty-log.js')
  const { controlCommand } = await import('./control/find-sandbox.js')
  const pretty = new PrettyLog(writer, stderr, await coloursFor(colourLevel(stderr, io.env)), () => {
    const url = controlUrl()
    // Each time: another sandbox may have started in this folder since.
    return url === undefined ? undefined : controlCommand(url, io)
  })
  return {
    ...log,
    exchange: (record) => pretty.exchange(record),
    verb: (done) => pretty.verb(done),
    note: write,
    event: (subject, text) => pretty.event(subject, text),
    ...(stderr.isTTY === true && { progress: (text: string) => writer.progress(text) }),
    clear: () => writer.clear(),
  }
}

/** @source docs/cli.md, "Ready line" */
function prettyReady({ baseUrl, controlUrl, upstream, cors = '*', ...facts }: ReadyFacts): string {
  const behind = upstream === undefined ? '' : ` in front of ${upstream}, for ${describeOrigins(cors)}`
  return `Ready on ${baseUrl}${behind} (${startText(facts)}); dashboard ${controlUrl}/`
}

export function startText(facts: Pick<ReadyFacts, 'plan' | 'limits' | 'records' | 'seed'>): string {
  const { records, seed } = facts
  const quotas = (['plan', 'limits'] as const).flatMap((name) => (facts[name] ? [`${name} ${facts[name]}`] : []))
  return `${quotas.join(', ') || 'no quotas'}, ${recordsText(records)}, seed ${seed}`
}

function jsonReady({ operations, ...facts }: ReadyFacts): string {
  const idsOf = (wanted: boolean) =>
    operations.filter((operation) => isStateful(operation) === wanted).map(({ id }) => id)
  return escapeControls(JSON.stringify({ event: 'ready', ...facts, stateful: idsOf(true), mocked: idsOf(false) }))
}

/** An exchange without headers and bodies, which only the control plane's log has. */
export function jsonExchange(record: ExchangeRecord): string {
  return escapeControls(JSON.stringify({ event: 'exchange', ...exchangeFacts(record), remaining: record.remaining }))
}
