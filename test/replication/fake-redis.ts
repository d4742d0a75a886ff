import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** Answers to commands by their name, as Redis writes them; `OK` to what is not named. */
export type FakeAnswers = Readonly<Record<string, string>>

/** Speaks as a Redis does, and says what it is told to say. */
export class FakeRedis {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  answers: FakeAnswers

  private constructor(server: Server, answers: FakeAnswers) {
    this.#server = server
    this.answers = answers
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      let sent = ''
      socket.setEncoding('latin1').on('data', (text) => {
        sent += text
        for (let whole = commandIn(sent); whole !== undefined; whole = commandIn(sent)) {
          sent = sent.slice(whole.length)
          socket.write(this.answers[whole.name] ?? '+OK\r\n')
        }
      })
      socket.on('error', () => {})
    })
  }

  static async start(answers: FakeAnswers): Promise<FakeRedis> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new FakeRedis(server, answers)
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

/** A text as Redis sends it. */
export function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`
}

/** The command that a text begins with, if it is whole: `*1\r\n$4\r\nPING\r\n`. */
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
