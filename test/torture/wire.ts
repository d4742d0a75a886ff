import { connect, type Socket } from 'node:net'

/** One response as it came. */
interface WireResponse {
  readonly status: number
  /** By lower-case name; of a repeated one, the last. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** A response, or the end of the connection before it or in the middle of it. */
export type Heard = WireResponse | 'closed' | 'cut'

/** Longer than any response takes here. */
const PATIENCE_MS = 30_000

/** A connection that sends raw bytes and parses responses. @source RFC 9112 */
export class Wire {
  readonly socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #isOver = false
  #wake = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    const over = () => {
      this.#isOver = true
      this.#wake()
    }
    socket.on('error', over)
    socket.on('end', over)
    socket.on('close', over)
  }

  /** Rejects where nobody listens. */
  static open(port: number): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Wire(socket))
      })
    })
  }

  get unread(): string {
    return this.#received.toString('latin1')
  }

  get isOver(): boolean {
    return this.#isOver
  }

  send(bytes: string | Uint8Array): void {
    if (!this.socket.destroyed) this.socket.write(bytes)
  }

  /** The next response. @param method of its request: one to HEAD has no body */
  async response(method = 'GET', patienceMs = PATIENCE_MS): Promise<Heard> {
    const giveUpAt = performance.now() + patienceMs
    for (;;) {
      const parsed = parseResponse(this.#received, method, this.#isOver)
      if (parsed !== undefined) {
        this.#received = this.#received.subarray(parsed.length)
        return parsed.response
      }
      if (this.#isOver) return this.#received.length === 0 ? 'closed' : 'cut'
      if (performance.now() > giveUpAt) throw new Error(`no response within ${patienceMs} ms`)
      await this.#more()
    }
  }

  /** Everything up to the end of the connection. */
  async rest(): Promise<string> {
    const giveUpAt = performance.now() + PATIENCE_MS
    while (!this.#isOver) {
      if (performance.now() > giveUpAt) throw new Error(`still open after ${PATIENCE_MS} ms`)
      await this.#more()
    }
    return this.unread
  }

  close(): void {
    this.socket.destroy()
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 1000)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

const END_OF_HEAD = '\r\n\r\n'

/** @returns undefined while it is not whole */
function parseResponse(
  bytes: Buffer,
  method: string,
  isOver: boolean,
): { readonly response: WireResponse; readonly length: number } | undefined {
  const headLength = bytes.indexOf(END_OF_HEAD)
  if (headLength === -1) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, headLength).split('\r\n')
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1])
  if (Number.isNaN(status)) throw new Error(`not a response: ${first}`)
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), afterColon(line)]))
  const from = headLength + END_OF_HEAD.length
  const whole = (body: Buffer, length: number) => ({ response: { status, headers, body: body.toString() }, length })
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return whole(Buffer.alloc(0), from)
  if (headers.get('transfer-encoding') === 'chunked') {
    const chunks = parseChunks(bytes, from)
    return chunks && whole(chunks.body, chunks.end)
  }
  const length = headers.get('content-length')
  if (length === undefined) return isOver ? whole(bytes.subarray(from), bytes.length) : undefined
  const end = from + Number(length)
  return bytes.length < end ? undefined : whole(bytes.subarray(from, end), end)
}

function afterColon(line: string): string {
  return line.slice(line.indexOf(':') + 1).trim()
}

function parseChunks(bytes: Buffer, start: number): { readonly body: Buffer; readonly end: number } | undefined {
  const parts: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (Number.isNaN(size)) throw new Error('a chunk has no size')
    const next = lineEnd + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return { body: Buffer.concat(parts), end: next }
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = next
  }
}

/** What a request may differ in. */
export interface RequestParts {
  readonly key?: string
  readonly host?: string
  readonly headers?: string
  readonly body?: string | Uint8Array
}

/** A request as bytes, right unless the parts say otherwise. */
export function request(
  method: string,
  target: string,
  { key = 'sandbox', host = '127.0.0.1', headers = '', body }: RequestParts = {},
) {
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body)
  const ofBody = body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${content.length}\r\n`
  const head = `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n${ofBody}${headers}\r\n`
  return content.length === 0 ? Buffer.from(head, 'latin1') : Buffer.concat([Buffer.from(head, 'latin1'), content])
}

/** One request over a connection of its own. */
export async function ask(
  port: number,
  method: string,
  target: string,
  parts: RequestParts & { readonly patienceMs?: number } = {},
): Promise<Heard> {
  const wire = await Wire.open(port)
  try {
    const headers = `Connection: close\r\n${parts.headers ?? ''}`
    wire.send(request(method, target, { ...parts, headers }))
    return await wire.response(method, parts.patienceMs)
  } finally {
    wire.close()
  }
}

export function statusOf(heard: Heard): number | 'closed' | 'cut' {
  return typeof heard === 'string' ? heard : heard.status
}
