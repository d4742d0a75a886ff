import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

interface ProxiedConnection {
  readonly client: Socket
  readonly server: Socket
  /** Delayed pieces in each direction, in order. */
  there: Promise<void>
  back: Promise<void>
  /** Bytes of the next response that pass before the cut. */
  cutAfter?: number | undefined
  /** Bytes from the client that are held back. */
  held?: Buffer[] | undefined
}

/** Simulates network failures between a client and a local server. */
export class TcpProxy {
  readonly #listener: Server
  readonly #target: number
  readonly #connections = new Set<ProxiedConnection>()
  #isCut = false
  #isSwallowing = false
  #delayMs = 0
  #trap: { readonly pattern: string; readonly passing: number; readonly triggered: () => void } | undefined

  private constructor(listener: Server, target: number) {
    this.#listener = listener
    this.#target = target
    listener.on('connection', (client) => this.#join(client))
  }

  static async open(port: number): Promise<TcpProxy> {
    const listener = createServer({ allowHalfOpen: true, noDelay: true }).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    return new TcpProxy(listener, port)
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port
  }

  /** Closes all connections, and refuses others. */
  cut(): void {
    this.#isCut = true
    for (const connection of this.#connections) this.#end(connection)
  }

  /** Drops all data in both directions, without closing connections. */
  swallow(): void {
    this.#isSwallowing = true
  }

  /** Delays data in both directions. */
  delay(ms: number): void {
    this.#delayMs = ms
  }

  /** Holds back data from clients on existing connections. */
  hold(): void {
    for (const connection of this.#connections) connection.held = []
  }

  get held(): string {
    return [...this.#connections].map(({ held = [] }) => Buffer.concat(held).toString()).join('')
  }

  /** Sends held data, even if its client has left. */
  async release(): Promise<void> {
    for (const connection of this.#connections) {
      for (const bytes of connection.held ?? []) await new Promise((resolve) => connection.server.write(bytes, resolve))
      connection.held = undefined
    }
  }

  /**
   * Cuts all connections during the next response to a request.
   *
   * @param pattern part of the request
   * @param passing bytes of the response that pass
   * @returns resolves after the cut
   */
  cutInResponseTo(pattern: string, passing = 0): Promise<void> {
    return new Promise((resolve) => {
      this.#trap = { pattern, passing, triggered: resolve }
    })
  }

  /** Back to normal. Connections with dropped data are closed. */
  restore(): void {
    if (this.#isSwallowing) for (const connection of this.#connections) this.#end(connection)
    this.#isCut = false
    this.#isSwallowing = false
    this.#delayMs = 0
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) this.#end(connection)
    this.#listener.close()
    await once(this.#listener, 'close')
  }

  #join(client: Socket): void {
    if (this.#isCut) return void client.destroy()
    const server = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const connection: ProxiedConnection = { client, server, there: Promise.resolve(), back: Promise.resolve() }
    this.#connections.add(connection)
    client.on('data', (bytes) => this.#send(connection, bytes))
    server.on('data', (bytes) => this.#respond(connection, bytes))
    const end = () => {
      // Held data still has to arrive.
      if (connection.held === undefined) this.#end(connection)
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end).on('end', end)
  }

  #send(connection: ProxiedConnection, bytes: Buffer): void {
    if (this.#isSwallowing) return
    if (connection.held !== undefined) return void connection.held.push(bytes)
    if (this.#trap !== undefined && bytes.includes(this.#trap.pattern)) connection.cutAfter = this.#trap.passing
    connection.there = this.#later(connection.there, () => connection.server.write(bytes))
  }

  #respond(connection: ProxiedConnection, bytes: Buffer): void {
    if (this.#isSwallowing) return
    const { cutAfter } = connection
    if (cutAfter === undefined) {
      connection.back = this.#later(connection.back, () => connection.client.write(bytes))
      return
    }
    const trap = this.#trap
    this.#trap = undefined
    connection.client.write(bytes.subarray(0, cutAfter), () => {
      this.cut()
      trap?.triggered()
    })
  }

  /** Keeps the order, even if the delay changes. */
  async #later(before: Promise<void>, pass: () => void): Promise<void> {
    const due = performance.now() + this.#delayMs
    await before
    if (due > performance.now()) await new Promise((resolve) => setTimeout(resolve, due - performance.now()))
    pass()
  }

  #end(connection: ProxiedConnection): void {
    connection.client.destroy()
    connection.server.destroy()
    this.#connections.delete(connection)
  }
}
