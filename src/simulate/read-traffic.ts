import { Failure } from '../domain/failures.js'
import { HarReader } from './har-reader.js'
import { LogReader } from './log-reader.js'
import { isNcsaLine, NcsaReader } from './ncsa-reader.js'
import type { TrafficForm, TrafficReader, TrafficSink } from './traffic-record.js'

/** So much of the beginning says which form it is. */
const ENOUGH = 64 * 1024
const GZIP = Buffer.from([0x1f, 0x8b])
const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf])
const HAR = /^\s*\{\s*"log"\s*:\s*(?:\{|$)/

/** What a reading came to. */
export interface TrafficReading {
  readonly form: TrafficForm
  readonly unit: 'line' | 'entry'
  /** Why the input is not whole, as a sentence part; undefined if it is. */
  readonly missing: string | undefined
}

/**
 * Reads traffic in whatever form it is, in bounded memory.
 *
 * @param chunks compressed with gzip or not
 * @param name   how messages call the input
 * @param open   is told the form, once it is known, and takes what is read
 * @throws Failure TRAFFIC_UNKNOWN
 */
export async function readTraffic(
  chunks: AsyncIterable<Buffer>,
  name: string,
  open: (form: TrafficForm) => TrafficSink,
): Promise<TrafficReading> {
  const head: Buffer[] = []
  let size = 0
  let reading: { readonly form: TrafficForm; readonly reader: TrafficReader } | undefined
  let broken: string | undefined
  const begin = () => {
    const start = withoutMark(Buffer.concat(head))
    const form = formOf(start)
    if (form === undefined) throw unknownForm(start, name)
    reading = { form, reader: readerOf(form, open(form)) }
    reading.reader.push(start)
    return reading
  }
  try {
    for await (const chunk of await unzipped(chunks)) {
      if (reading !== undefined) {
        reading.reader.push(chunk)
        continue
      }
      head.push(chunk)
      size += chunk.length
      if (size >= ENOUGH) begin()
    }
  } catch (error) {
    // What came before counts. @source Node.js, "Errors", zlib
    if (!isBrokenGzip(error)) throw error
    broken = 'is compressed and breaks off'
  }
  const { form, reader } = reading ?? begin()
  const missing = reader.end()
  return { form, unit: reader.unit, missing: broken ?? missing }
}

/** The form of an input by its beginning. */
function formOf(start: Buffer): TrafficForm | undefined {
  const text = start.subarray(0, ENOUGH).toString()
  if (HAR.test(text)) return 'har'
  const lines = text.split('\n').map((line) => line.trim())
  // What was printed before the log began is only a bad line.
  for (const line of lines) {
    if (isNcsaLine(line)) return 'ncsa'
    if (isExchangeLine(line)) return 'log'
  }
  return undefined
}

/** Whether a line may be one of the sandbox's own log, or the beginning of a list of exchanges. */
function isExchangeLine(line: string): boolean {
  return /^\[?\s*\{\s*"(?:event|id|at)"\s*:/.test(line)
}

function readerOf(form: TrafficForm, sink: TrafficSink): TrafficReader {
  switch (form) {
    case 'har':
      return new HarReader(sink)
    case 'log':
      return new LogReader(sink)
    case 'ncsa':
      return new NcsaReader(sink)
  }
}

function withoutMark(start: Buffer): Buffer {
  return start.subarray(0, 3).equals(UTF8_MARK) ? start.subarray(3) : start
}

/** The same, decompressed where it begins as gzip does. */
async function unzipped(chunks: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const iterator = chunks[Symbol.asyncIterator]()
  const first: Buffer[] = []
  let start = Buffer.alloc(0)
  while (start.length < GZIP.length) {
    const { done, value } = await iterator.next()
    if (done === true) break
    first.push(value)
    start = Buffer.concat(first)
  }
  const all = joined(start, iterator)
  if (!start.subarray(0, 2).equals(GZIP)) return all
  const { Readable } = process.getBuiltinModule('node:stream')
  const { createGunzip } = process.getBuiltinModule('node:zlib')
  // compose would swallow why it broke; pipeline's end is seen through the decompressed stream.
  const source = Readable.from(all, { objectMode: false })
  const gunzip = createGunzip()
  source.on('error', (error) => gunzip.destroy(error))
  return source.pipe(gunzip)
}

async function* joined(start: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (start.length > 0) yield start
  for (;;) {
    const { done, value } = await rest.next()
    if (done === true) return
    yield value
  }
}

function isBrokenGzip(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code))
}

function unknownForm(start: Buffer, name: string): Failure {
  const what = start.length === 0 ? 'is empty' : `is ${guess(start)}`
  return new Failure(
    'TRAFFIC_UNKNOWN',
    `${name} ${what}. Give an HTTP archive (HAR), the log of "serve --log json" or "control requests -o json", or the access log of a web server in the common or combined form.`,
  )
}

function guess(start: Buffer): string {
  if (start[0] === 0x50 && start[1] === 0x4b) return 'a ZIP file, which has to be unpacked first'
  if ((start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff))
    return 'UTF-16, and has to be UTF-8'
  return 'of no form that is known'
}
