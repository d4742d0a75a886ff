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
      socket.setEncoding('latin1').on('data', (text) => {
        // Tests send no command that comes in two pieces.
        for (const [, name = ''] of String(text).matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)\r\n/gm))
          socket.write(this.responses[name.toUpperCase()] ?? '+OK\r\n')
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
