import { readFileSync } from 'node:fs'

/** A captured request with its response. Times are milliseconds of the capture's clock. */
export interface Wired {
  /** When its first byte was sent. */
  readonly sentAt: number
  /** A number of its own for each connection. */
  readonly connection: number
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  readonly response: WiredResponse | undefined
  /** Time of a FIN or RST of the server before the end of the response. */
  readonly brokenAt: number | undefined
}

export interface WiredResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  /** When its last byte reached the client's socket. */
  readonly deliveredAt: number
  /** `no`: the client's socket was closed by then. `unread`: it was closed afterwards with bytes unread. */
  readonly isDelivered: 'yes' | 'no' | 'unread'
}

export interface Segment {
  readonly at: number
  readonly from: number
  readonly to: number
  readonly sequence: number
  readonly isSyn: boolean
  readonly isFin: boolean
  readonly isReset: boolean
  readonly data: Buffer
}

const MAGIC_NANOSECONDS = 0xa1b23c4d

/** TCP over IPv4 in a file of tcpdump. */
export function readSegments(file: string): Segment[] {
  const bytes = readFileSync(file)
  const perSecond = bytes.readUInt32LE(0) === MAGIC_NANOSECONDS ? 1e6 : 1e3
  const segments: Segment[] = []
  for (let at = 24; at + 16 <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 8)
    if (at + 16 + length > bytes.length) break
    const time = bytes.readUInt32LE(at) * 1000 + bytes.readUInt32LE(at + 4) / perSecond
    const packet = bytes.subarray(at + 16, at + 16 + length)
    at += 16 + length
    if (packet.readUInt16BE(12) !== 0x0800 || packet[23] !== 6) continue
    const ip = packet.subarray(14, 14 + packet.readUInt16BE(16))
    const tcp = ip.subarray((ip.readUInt8(0) & 15) * 4)
    const flags = tcp.readUInt8(13)
    segments.push({
      at: time,
      from: tcp.readUInt16BE(0),
      to: tcp.readUInt16BE(2),
      sequence: tcp.readUInt32BE(4),
      isSyn: (flags & 2) !== 0,
      isFin: (flags & 1) !== 0,
      isReset: (flags & 4) !== 0,
      data: tcp.subarray((tcp.readUInt8(12) >> 4) * 4),
    })
  }
  return segments
}

/** One direction of a connection: bytes with the time of each. */
class Stream {
  readonly #parts: { readonly start: number; readonly at: number }[] = []
  bytes = Buffer.alloc(0)
  #next: number | undefined
  finAt: number | undefined
  resetAt: number | undefined

  add({ at, sequence, isSyn, isFin, isReset, data }: Segment): void {
    if (isReset) this.resetAt ??= at
    if (isSyn) this.#next = (sequence + 1) >>> 0
    // Skips retransmitted bytes.
    const known = this.#next === undefined ? 0 : (this.#next - sequence) | 0
    if (data.length > 0 && known >= 0 && known < data.length) {
      this.#parts.push({ start: this.bytes.length, at })
      this.bytes = Buffer.concat([this.bytes, data.subarray(known)])
      this.#next = (sequence + data.length) >>> 0
    }
    if (isFin) this.finAt ??= at
  }

  timeOf(offset: number): number {
    return this.#parts.findLast(({ start }) => start <= offset)?.at ?? Number.NaN
  }
}

/** Requests to a port, in the order sent. */
export function requestsTo(port: number, segments: readonly Segment[]): Wired[] {
  const open = new Map<number, { readonly up: Stream; readonly down: Stream }>()
  const connections: { readonly up: Stream; readonly down: Stream }[] = []
  for (const segment of segments) {
    const isUp = segment.to === port
    if (!isUp && segment.from !== port) continue
    const client = isUp ? segment.from : segment.to
    if (isUp && segment.isSyn && open.get(client)?.up.bytes.length !== 0) {
      const connection = { up: new Stream(), down: new Stream() }
      open.set(client, connection)
      connections.push(connection)
    }
    const connection = open.get(client)
    if (connection !== undefined) (isUp ? connection.up : connection.down).add(segment)
  }
  return connections.flatMap(exchangesOf).sort((one, other) => one.sentAt - other.sentAt)
}

function exchangesOf({ up, down }: { readonly up: Stream; readonly down: Stream }, connection: number): Wired[] {
  const requests = messagesOf(up)
  const responses = messagesOf(down).filter(({ start }) => !/^HTTP\/1.1 1/.test(start))
  return requests.map(({ start, headers, body, firstAt }, index) => {
    const [method = '', target = ''] = start.split(' ')
    const found = responses[index]
    const closedAt = Math.min(up.finAt ?? Number.POSITIVE_INFINITY, up.resetAt ?? Number.POSITIVE_INFINITY)
    const isReset = up.resetAt !== undefined
    const response =
      found &&
      ({
        status: Number(found.start.split(' ')[1]),
        headers: found.headers,
        deliveredAt: found.lastAt,
        isDelivered: !isReset
          ? 'yes'
          : closedAt < found.lastAt
            ? 'no'
            : index === responses.length - 1
              ? 'unread'
              : 'yes',
      } as const)
    // A client that has closed its half may still read.
    const brokenAt = found === undefined && !isReset ? (down.resetAt ?? down.finAt) : undefined
    return { sentAt: firstAt, connection, method, target, headers, body, response, brokenAt }
  })
}

interface Message {
  readonly start: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  readonly firstAt: number
  readonly lastAt: number
}

function messagesOf(stream: Stream): Message[] {
  const messages: Message[] = []
  const { bytes } = stream
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at)
    if (end === -1) break
    const [start = '', ...lines] = bytes.toString('latin1', at, end).split('\r\n')
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const from = end + 4
    const to = endOfBody(bytes, from, start, headers)
    if (to > bytes.length) break
    messages.push({
      start,
      headers,
      body: bytes.toString('utf8', from, to),
      firstAt: stream.timeOf(at),
      lastAt: stream.timeOf(to - 1),
    })
    at = to
  }
  return messages
}

function endOfBody(bytes: Buffer, from: number, start: string, headers: ReadonlyMap<string, string>): number {
  const length = headers.get('content-length')
  if (length !== undefined) return from + Number(length)
  if (headers.get('transfer-encoding') !== 'chunked')
    return /^HTTP\/1.1 (200|5)/.test(start) ? Number.POSITIVE_INFINITY : from
  for (let at = from; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return Number.POSITIVE_INFINITY
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    at = line + 2 + size + 2
    if (size === 0) return at
  }
}
