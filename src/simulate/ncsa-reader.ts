import type { EpochMs } from '../domain/time.js'
import { addressParts } from './address-parts.js'
import { LineSplitter } from './line-splitter.js'
import type { TrafficReader, TrafficRecord, TrafficSink } from './traffic-record.js'

/** `host ident user [time] "request" status bytes`, and in the combined form `"referer" "user agent"`; what follows is not read. */
const LINE =
  /^([^["]+) \[([^\]]{20,32})\] "((?:[^"\\]|\\.)*)" (\d{3}|-) (?:\d+|-)(?: "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)")?/

const TIME = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})$/
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const REQUEST = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/

/** Whether a line is one of a common or combined log. */
export function isNcsaLine(line: string): boolean {
  return LINE.test(line)
}

/**
 * Reads the access log of a web server, in the common or the combined form, also with the virtual host in front.
 *
 * @source Apache HTTP Server, mod_log_config; nginx, ngx_http_log_module
 */
export class NcsaReader implements TrafficReader {
  readonly unit = 'line'
  readonly #lines: LineSplitter
  #lastTime = ''
  #lastAt: EpochMs | undefined

  constructor(sink: TrafficSink) {
    this.#lines = new LineSplitter(
      (line, number) => this.#read(line, number, sink),
      (number) => sink.bad(number, 'is too long'),
    )
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk)
  }

  end(): undefined {
    this.#lines.end()
  }

  #read(line: string, place: number, sink: TrafficSink): void {
    if (line === '' || line === '\r') return
    const match = LINE.exec(line)
    if (match === null) {
      sink.bad(place, 'is not a line of a common or combined log')
      return
    }
    const [, front = '', time = '', request = '', status = '', referer, agent] = match
    const at = this.#instantOf(time)
    if (at === undefined) {
      sink.bad(place, `has no time that can be read: [${time}]`)
      return
    }
    const asked = REQUEST.exec(request)
    const [, method = '', target = ''] = asked ?? []
    const address = asked === null ? undefined : addressParts(target)
    if (address === undefined) {
      sink.bad(place, 'has no request that can be read')
      return
    }
    const { virtualHost, user } = frontParts(front)
    const record: TrafficRecord = {
      place,
      at,
      durationMs: 0,
      method,
      host: address.host ?? virtualHost,
      path: address.path,
      query: address.query,
      headers: headersOf(referer, agent),
      body: undefined,
      status: status === '-' ? 0 : Number(status),
      answer: undefined,
      ...(user === '-' ? {} : { user }),
    }
    sink.record(record)
  }

  /** Most lines have the time of the one before. */
  #instantOf(text: string): EpochMs | undefined {
    if (text !== this.#lastTime) {
      this.#lastTime = text
      this.#lastAt = readTime(text)
    }
    return this.#lastAt
  }
}

function headersOf(referer: string | undefined, agent: string | undefined): TrafficRecord['headers'] {
  return {
    ...(referer === undefined || referer === '-' ? {} : { referer }),
    ...(agent === undefined || agent === '-' ? {} : { 'user-agent': agent }),
  }
}

/** `address ident user`, perhaps with the virtual host before it; a user's name may have blanks. */
function frontParts(front: string): { readonly virtualHost: string | undefined; readonly user: string } {
  const words = front.split(' ')
  const hasHost = words.length > 3 && /:\d+$/.test(words[0] ?? '')
  return {
    virtualHost: hasHost ? words[0]?.toLowerCase() : undefined,
    user: words.slice(hasHost ? 3 : 2).join(' '),
  }
}

/** `10/Oct/2000:13:55:36 -0700` */
function readTime(text: string): EpochMs | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [day, year, hours, minutes, seconds, offsetHours, offsetMinutes] = [1, 3, 4, 5, 6, 8, 9].map((part) =>
    Number(match[part]),
  )
  const month = MONTHS.indexOf(match[2] ?? '')
  if (month === -1) return undefined
  const offset = (match[7] === '-' ? -1 : 1) * (60 * (offsetHours ?? 0) + (offsetMinutes ?? 0))
  return Date.UTC(year ?? 0, month, day, hours, (minutes ?? 0) - offset, seconds)
}
