import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** Responses in the Redis protocol, by command. Default: `OK`. */
export type FakeResponses = Readonly<Record<string, string>>

/** A server with scripted Redis responses. */
export class FakeRedis {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  responses: FakeResponses

  private constructor(server: Server, responses: FakeResponses) {
    this.#server = server
    this.responses = responses
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      let sent = ''
      socket.setEncoding('latin1').on('data', (text) => {
        sent += text
        for (let whole = commandIn(sent); whole !== undefined; whole = commandIn(sent)) {
          sent = sent.slice(whole.length)
          socket.write(this.responses[whole.name] ?? '+OK\r\n')
        }
      })
      socket.on('error', () => {})
    })
  }

  static async start(responses: FakeResponses): Promise<FakeRedis> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FakeRedis(server, responses)
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

export function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`
}

/** Parses a complete command at the beginning of a text: `*1\r\n$4\r\nPING\r\n`. */
function commandIn(sent: string): { readonly name: string; readonly length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(sent)
  if (head === null) return undefined
  let at = head[0].length
  let name = ''
  for (let word = 0; word < Number(head[1]); word++) {
    const size = /^\$(\d+)\r\n/.exec(sent.slice(at, at + 20))
    if (size === null) return undefined
    const from = at + size[0].length
    at = from + Number(size[1]) + 2
    if (at > sent.length) return undefined
    if (word === 0) name = sent.slice(from, at - 2).toUpperCase()
  }
  return { name, length: at }
}
