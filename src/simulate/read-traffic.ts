import { Failure } from '../domain/failures.js'
import { MIB } from '../domain/numbers.js'
import { readHar } from './har-reader.js'
import {
  addressParts,
  asText,
  type ReadResult,
  readIsoInstant,
  readSandboxFacts,
  type TrafficForm,
  type TrafficHeaders,
  type TrafficReader,
  type TrafficRecord,
  type TrafficSink,
} from './traffic-record.js'

/** The form is known from this much of the beginning. */
const HEAD_BYTES = 64 * 1024
const HAR = /^\s*\{\s*"log"\s*:\s*(?:\{|$)/
/** A line of the sandbox's own log, or the beginning of a list of exchanges. */
const EXCHANGE_LINE = /^\[?\s*\{\s*"(?:event|id|at)"\s*:/

const READERS: Readonly<Record<TrafficForm, TrafficReader>> = { har: readHar, log: readLog, ncsa: readNcsa }

export interface TrafficReading extends ReadResult {
  readonly form: TrafficForm
}

/** In bounded memory, compressed with gzip or not. @param name for messages @throws Failure TRAFFIC_UNKNOWN */
export async function readTraffic(
  chunks: AsyncIterable<Buffer>,
  name: string,
  sink: TrafficSink,
): Promise<TrafficReading> {
  let isBroken = false
  const [start, all] = await peek(chunks, 2)
  const [head, text] = await peek(untilBroken(start[0] === 0x1f && start[1] === 0x8b ? unzip(all) : all), HEAD_BYTES)
  const form = formOf(new TextDecoder().decode(head))
  if (form === undefined) throw unknownForm(head, name)
  const result = await READERS[form](text, sink)
  return { form, ...result, missing: isBroken ? 'is compressed and breaks off' : result.missing }

  /** Ends where the compressed data breaks off. @source Node.js, "Errors", zlib */
  async function* untilBroken(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* source
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && /^Z_/.test(String(error.code)))) throw error
      isBroken = true
    }
  }
}

async function peek(chunks: AsyncIterable<Buffer>, bytes: number): Promise<readonly [Buffer, AsyncIterable<Buffer>]> {
  const iterator = chunks[Symbol.asyncIterator]()
  const pieces: Buffer[] = []
  let size = 0
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    pieces.push(next.value)
    size += next.value.length
    if (size >= bytes) break
  }
  const start = Buffer.concat(pieces)
  async function* whole(): AsyncGenerator<Buffer> {
    yield start
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
  }
  return [start, whole()]
}

function unzip(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const { Readable } = process.getBuiltinModule('node:stream')
  const { createGunzip } = process.getBuiltinModule('node:zlib')
  // compose would hide the reason of a failure.
  const source = Readable.from(chunks, { objectMode: false })
  const gunzip = createGunzip()
  source.on('error', (error) => gunzip.destroy(error))
  return source.pipe(gunzip)
}

function formOf(text: string): TrafficForm | undefined {
  if (HAR.test(text)) return 'har'
  // Anything printed before the log began is only a bad line.
  for (const line of text.split('\n').map((whole) => whole.trim())) {
    if (isNcsaLine(line)) return 'ncsa'
    if (EXCHANGE_LINE.test(line)) return 'log'
  }
  return undefined
}

function unknownForm(head: Buffer, name: string): Failure {
  const magic = head.subarray(0, 2).toString('hex')
  const problem =
    head.length === 0
      ? 'is empty'
      : magic === '504b'
        ? 'is a ZIP file, which has to be unpacked first'
        : magic === 'fffe' || magic === 'feff'
          ? 'is UTF-16, and has to be UTF-8'
          : 'is in an unknown format'
  return new Failure(
    'TRAFFIC_UNKNOWN',
    `${name} ${problem}. Give an HTTP archive (HAR), the log of "serve --log json" or "control requests -o json", or the access log of a web server in the common or combined form.`,
  )
}

const MAX_LINE_LENGTH = 16 * MIB

type ReadLine = (line: string, place: number, sink: TrafficSink) => boolean

async function readLines(chunks: AsyncIterable<Buffer>, sink: TrafficSink, read: ReadLine): Promise<boolean> {
  const decoder = new TextDecoder()
  let place = 0
  let pieces: string[] = []
  let length = 0
  const readWhole = () => {
    place++
    if (length <= MAX_LINE_LENGTH) return read(pieces.join(''), place, sink)
    sink.bad(place, 'is too long')
    return false
  }
  for await (const chunk of chunks) {
    const [head = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n')
    length += head.length
    if (length > MAX_LINE_LENGTH) pieces = []
    else pieces.push(head)
    const rest = lines.pop()
    if (rest === undefined) continue
    readWhole()
    for (const line of lines) read(line, ++place, sink)
    pieces = [rest]
    length = rest.length
  }
  return length > 0 && !readWhole()
}

/** `serve --log json`, or the JSON list of `control requests -o json`. @source docs/control-api.md, "Exchanges" */
async function readLog(chunks: AsyncIterable<Buffer>, sink: TrafficSink): Promise<ReadResult> {
  const isCut = await readLines(chunks, sink, readLogLine)
  return { unit: 'line', missing: isCut ? 'ends in the middle of a line' : undefined }
}

const readLogLine: ReadLine = (line, place, sink) => {
  const text = line.trim().replace(/,$/, '')
  if (text === '' || text === '[' || text === ']') return true
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    sink.bad(place, 'is not JSON')
    return false
  }
  for (const exchange of Array.isArray(value) ? value : [value]) readExchange(exchange, place, sink)
  return true
}

interface MessageLike {
  readonly headers?: TrafficHeaders
  readonly body?: unknown
}

function readExchange(value: unknown, place: number, sink: TrafficSink): void {
  const {
    event = 'exchange',
    request,
    response,
    ...exchange
  } = Object(value) as Readonly<Record<string, unknown>> & {
    readonly request?: MessageLike
    readonly response?: MessageLike
  }
  // The log has other events: ready, warning.
  if (typeof event === 'string' && event !== 'exchange') return
  const { method, path, key, status, durationMs } = exchange
  const at = readIsoInstant(exchange.at)
  if (at === undefined || typeof method !== 'string' || typeof path !== 'string' || typeof key !== 'string') {
    sink.bad(place, 'is not an exchange')
    return
  }
  sink.record({
    place,
    at,
    durationMs: typeof durationMs === 'number' ? durationMs : 0,
    method,
    host: request?.headers?.host?.toLowerCase(),
    path,
    query: asText(exchange.query),
    headers: request?.headers,
    body: request && asText(request.body),
    status: typeof status === 'number' ? status : 0,
    response: response && { headers: response.headers ?? {}, body: asText(response.body) },
    own: readSandboxFacts(exchange, null),
  })
}

/** `host ident user [time] "request" status bytes`, and in the combined form `"referer" "user agent"`; anything may follow. */
const NCSA_LINE =
  /^([^["]+) \[([^\]]{20,32})\] "((?:[^"\\]|\\.)*)" (\d{3}|-) (?:\d+|-)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?/
const NCSA_TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d [+-]\d{4})$/
const NCSA_REQUEST = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/

function isNcsaLine(line: string): boolean {
  return NCSA_LINE.test(line)
}

/**
 * Common or combined, also with the virtual host first.
 *
 * @source Apache HTTP Server, mod_log_config; nginx, ngx_http_log_module
 */
async function readNcsa(chunks: AsyncIterable<Buffer>, sink: TrafficSink): Promise<ReadResult> {
  await readLines(chunks, sink, (line, place) => {
    const record = line === '' || line === '\r' ? undefined : readNcsaLine(line, place)
    if (typeof record === 'string') sink.bad(place, record)
    else if (record !== undefined) sink.record(record)
    return true
  })
  return { unit: 'line', missing: undefined }
}

function readNcsaLine(line: string, place: number): TrafficRecord | string {
  const match = NCSA_LINE.exec(line)
  if (match === null) return 'is not a line of a common or combined log'
  const [, front = '', time = '', request = '', status = '', referer = '-', agent = '-'] = match
  const [, day, month, year, rest] = NCSA_TIME.exec(time) ?? []
  const at = Date.parse(`${day} ${month} ${year} ${rest}`)
  if (Number.isNaN(at)) return `has no time that can be read: [${time}]`
  const [, method = '', target = ''] = NCSA_REQUEST.exec(request) ?? []
  const address = addressParts(target)
  if (address === undefined) return 'has no request that can be read'
  // `address ident user`, perhaps with the virtual host before it; a user's name may have blanks.
  const words = front.split(' ')
  const hasHost = words.length > 3 && /:\d+$/.test(words[0] ?? '')
  const user = words.slice(hasHost ? 3 : 2).join(' ')
  return {
    place,
    at,
    durationMs: 0,
    method,
    ...address,
    host: address.host ?? (hasHost ? words[0]?.toLowerCase() : undefined),
    headers: { ...(referer !== '-' && { referer }), ...(agent !== '-' && { 'user-agent': agent }) },
    body: undefined,
    status: status === '-' ? 0 : Number(status),
    response: undefined,
    ...(user !== '-' && { user }),
  }
}
