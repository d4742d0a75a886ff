import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** One direction of a connection, and what is delayed on it. */
interface Way {
  underWay: number
  last: Promise<void>
}

/** A connection through the proxy: both of its ends. */
interface Passage {
  readonly there: Way
  readonly back: Way
  readonly client: Socket
  readonly server: Socket
  /** So many bytes of the next answer pass, then it is cut. */
  cutAfter: number | undefined
  /** What the client has sent since it is held. */
  held: Buffer[] | undefined
}

interface Target {
  readonly port: number
  readonly host: string
}

/** A network between a client and a server on this machine, in which things go wrong. */
export class TcpProxy {
  readonly #listener: Server
  readonly #target: Target
  readonly #passages = new Set<Passage>()
  #isCut = false
  #isHole = false
  #delayMs = 0
  #trap: { readonly pattern: string; readonly passing: number; readonly sprung: () => void } | undefined

  private constructor(listener: Server, target: Target) {
    this.#listener = listener
    this.#target = target
    listener.on('connection', (client) => this.#join(client))
  }

  static async open(port: number, host = '127.0.0.1'): Promise<TcpProxy> {
    const listener = createServer({ allowHalfOpen: true, noDelay: true }).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    return new TcpProxy(listener, { port, host })
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port
  }

  /** Ends all connections, and lets no others come. */
  cut(): void {
    this.#isCut = true
    for (const passage of this.#passages) this.#end(passage)
  }

  /** Swallows everything in both directions, without ending a connection. */
  swallow(): void {
    this.#isHole = true
  }

  /** Everything takes longer, in both directions. */
  delay(ms: number): void {
    this.#delayMs = ms
  }

  /** Keeps back what is sent on the connections that there are; later ones are free. */
  hold(): void {
    for (const passage of this.#passages) passage.held = []
  }

  /** What is kept back. */
  get held(): string {
    return [...this.#passages].map(({ held = [] }) => Buffer.concat(held).toString()).join('')
  }

  /** Sends on what was held, even if its sender has left. */
  async release(): Promise<void> {
    for (const passage of this.#passages) {
      for (const bytes of passage.held ?? []) await new Promise((resolve) => passage.server.write(bytes, resolve))
      passage.held = undefined
    }
  }

  /**
   * Cuts everything in the middle of an answer, once.
   *
   * @param pattern what the request has in it
   * @param passing bytes of the answer that pass
   * @returns when it has happened
   */
  cutInAnswerTo(pattern: string, passing = 0): Promise<void> {
    return new Promise((resolve) => {
      this.#trap = { pattern, passing, sprung: resolve }
    })
  }

  /** As it was at first. What was swallowed is gone, and so are connections that lack it. */
  restore(): void {
    if (this.#isHole) for (const passage of this.#passages) this.#end(passage)
    this.#isCut = false
    this.#isHole = false
    this.#delayMs = 0
  }

  async close(): Promise<void> {
    for (const passage of this.#passages) this.#end(passage)
    this.#listener.close()
    await once(this.#listener, 'close')
  }

  #join(client: Socket): void {
    if (this.#isCut) return void client.destroy()
    const server = connect({ ...this.#target, allowHalfOpen: true, noDelay: true })
    const way = (): Way => ({ underWay: 0, last: Promise.resolve() })
    const passage: Passage = { there: way(), back: way(), client, server, cutAfter: undefined, held: undefined }
    this.#passages.add(passage)
    client.on('data', (bytes) => this.#send(passage, bytes))
    server.on('data', (bytes) => this.#answer(passage, bytes))
    const end = () => {
      // What is held is still to arrive, though nobody waits for its answer.
      if (passage.held === undefined) this.#end(passage)
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end).on('end', end)
  }

  #send(passage: Passage, bytes: Buffer): void {
    if (this.#isHole) return
    if (passage.held !== undefined) return void passage.held.push(bytes)
    if (this.#trap !== undefined && bytes.includes(this.#trap.pattern)) passage.cutAfter = this.#trap.passing
    this.#later(passage.there, () => passage.server.write(bytes))
  }

  #answer(passage: Passage, bytes: Buffer): void {
    if (this.#isHole) return
    const { cutAfter } = passage
    if (cutAfter === undefined) {
      this.#later(passage.back, () => passage.client.write(bytes))
      return
    }
    const trap = this.#trap
    this.#trap = undefined
    passage.client.write(bytes.subarray(0, cutAfter), () => {
      this.cut()
      trap?.sprung()
    })
  }

  /** Nothing overtakes what was sent before it, whatever the delay is by then. */
  #later(way: Way, pass: () => void): void {
    if (this.#delayMs === 0 && way.underWay === 0) {
      pass()
      return
    }
    const due = performance.now() + this.#delayMs
    way.underWay++
    way.last = way.last
      .then(() => new Promise((resolve) => setTimeout(resolve, due - performance.now())))
      .then(() => {
        way.underWay--
        pass()
      })
  }

  #end(passage: Passage): void {
    passage.client.destroy()
    passage.server.destroy()
    this.#passages.delete(passage)
  }
}
