import { once } from 'node:events'
import { setTimeout as passes } from 'node:timers/promises'
import { Ledger, UNLIMITED } from '../ledger.js'
import type { Experiment, Server, Trial } from '../trial.js'
import { request, statusOf, Wire } from '../wire.js'

const WRITERS = 12
const READERS = 12
/** Clients that open a connection for each request. */
const CALLERS = 4
/** Clients that have asked for a large response, and read it when the signal has come. */
const LATE_READERS = 3
/** Pets that make a response larger than the socket buffers. */
const LARGE_PETS = 25
const PADDING = 200_000
const LATE_BY_MS = 200

/**
 * SIGTERM under load: every request that was sent before it is answered, no
 * response is cut, and what was kept is what was acknowledged.
 */
export const stopUnderLoad: Experiment = {
  counts: 'requests under way or sent when the signal came',
  async run(trial) {
    const rounds = trial.size(8, 2)
    let tooLate = 0
    for (let round = 0; round < rounds; round++) {
      const folder = trial.folder()
      const isLarge = round % 4 === 0
      const flags = round % 2 === 0 ? UNLIMITED : [...UNLIMITED, '--latency', '5ms..60ms']
      const server = await trial.serve(folder, flags)
      const ledger = new Ledger()
      await ledger.begin(server)
      let large = isLarge ? LARGE_PETS : 0
      await ledger.write(server, () => large-- === 0, PADDING)
      const load = new Load(trial, server, ledger)
      const clients = load.clients()
      const late = isLarge ? await load.lateReaders() : []
      await passes(trial.integer(50, 400))
      load.signalled = true
      const stopped = server.stop(round % 4 < 2 ? 'SIGTERM' : 'SIGINT')
      await Promise.all([...clients, ...late.map((read) => read())])
      const { code } = await stopped
      tooLate += load.late
      trial.check(code === 0, () => `it ended with ${code}: ${server.said}`)
      await ledger.audit(trial, await trial.serve(folder, UNLIMITED), true)
    }
    trial.note(`${tooLate} sent after the signal found the door closed`)
  },
}

class Load {
  signalled = false
  late = 0
  readonly #trial: Trial
  readonly #server: Server
  readonly #ledger: Ledger

  constructor(trial: Trial, server: Server, ledger: Ledger) {
    this.#trial = trial
    this.#server = server
    this.#ledger = ledger
  }

  clients(): Promise<void>[] {
    return [
      ...Array.from({ length: WRITERS }, () => this.#stay((wire) => this.#ledger.writeOne(wire))),
      ...Array.from({ length: READERS }, () => this.#stay((wire) => this.#read(wire))),
      ...Array.from({ length: CALLERS }, () => this.#call()),
    ]
  }

  /** Resolves when the responses have begun. */
  async lateReaders(): Promise<readonly (() => Promise<void>)[]> {
    const wires = await Promise.all(Array.from({ length: LATE_READERS }, () => Wire.open(this.#server.port)))
    await Promise.all(
      wires.map(async ({ socket }) => {
        socket.write(request('GET', '/v1/pets?limit=100'))
        await once(socket, 'data')
        socket.pause()
      }),
    )
    return wires.map((wire) => async () => {
      await passes(LATE_BY_MS)
      wire.socket.resume()
      const outcome = statusOf(await wire.response())
      this.#trial.check(outcome === 200, () => `a large response that is read late: ${outcome}`)
    })
  }

  /** One request after the other on one connection, until it is closed. */
  async #stay(send: (wire: Wire) => Promise<string>): Promise<void> {
    const wire = await Wire.open(this.#server.port)
    while (!wire.isOver && (await this.#once(() => send(wire))));
    wire.close()
  }

  /** One connection after the other, until nobody listens. */
  async #call(): Promise<void> {
    for (;;) {
      const wire = await Wire.open(this.#server.port).catch(() => undefined)
      if (wire === undefined) return
      const goesOn = await this.#once(() => this.#read(wire, 'Connection: close\r\n'))
      wire.close()
      if (!goesOn) return
    }
  }

  async #read(wire: Wire, headers = ''): Promise<string> {
    wire.send(request('GET', '/v1/pets?limit=5&status=available', { headers }))
    const heard = await wire.response()
    if (heard === 'cut') this.#trial.lose('a response was cut')
    return typeof heard === 'string' ? 'over' : String(heard.status)
  }

  async #once(send: () => Promise<string>): Promise<boolean> {
    const wasSentBefore = !this.signalled
    const outcome = await send()
    const isAnswered = outcome === '200' || outcome === 'kept'
    if (isAnswered && !this.signalled) return true
    if (wasSentBefore) this.#trial.check(isAnswered, () => `a request sent before the signal: ${outcome}`)
    else if (!isAnswered) this.late++
    return isAnswered
  }
}
