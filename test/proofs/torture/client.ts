import { once } from 'node:events'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** A response; or no connection, the end of the connection before the response, or in the middle of it. */
export type Heard =
  | { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  | 'refused'
  | 'closed'
  | 'cut'

export interface RequestParts {
  readonly key?: string
  readonly body?: string
  readonly timeoutMs?: number
  /** Called when the connection is there, and the request is sent. */
  readonly onSent?: () => void
  /** Called when the response has begun; it is read once this resolves. */
  readonly beforeBody?: () => Promise<unknown>
}

/** A client with one connection at a time. */
export class Client {
  readonly port: number
  readonly #agent: Agent

  constructor(port: number, keepAlive = true) {
    this.port = port
    this.#agent = new Agent({ keepAlive, maxSockets: 1 })
  }

  /** Rejects if no response comes in time. */
  async ask(method: string, path: string, parts: RequestParts = {}): Promise<Heard> {
    const { key = 'sandbox', body, timeoutMs = 30_000, onSent = () => {}, beforeBody } = parts
    const signal = AbortSignal.timeout(timeoutMs)
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
    const sent = request({ agent: this.#agent, port: this.port, host: '127.0.0.1', method, path, headers, signal })
    sent.on('error', () => {})
    let readBefore = 0
    sent.once('socket', (socket) => {
      readBefore = socket.bytesRead
      if (socket.connecting) socket.once('connect', onSent)
      else onSent()
    })
    sent.end(body)
    try {
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      await beforeBody?.()
      return { status: Number(response.statusCode), headers: response.headers, body: await text(response) }
    } catch (error) {
      if (signal.aborted) throw new Error(`no response to ${method} ${path} within ${timeoutMs} ms`)
      if (Object(error).code === 'ECONNREFUSED') return 'refused'
      return (sent.socket?.bytesRead ?? 0) > readBefore ? 'cut' : 'closed'
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** One request over a connection of its own. */
export function ask(port: number, method: string, path: string, parts?: RequestParts): Promise<Heard> {
  return new Client(port, false).ask(method, path, parts)
}

export function statusOf(heard: Heard): number | string {
  return typeof heard === 'string' ? heard : heard.status
}
