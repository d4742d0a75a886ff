import { Failure } from '../domain/failures.js'
import { readHar } from './har-reader.js'
import { isNcsaLine, readLog, readNcsa } from './log-readers.js'
import type { ReadResult, TrafficForm, TrafficReader, TrafficSink } from './traffic-record.js'

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
