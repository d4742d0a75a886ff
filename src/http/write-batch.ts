import { setImmediate, setTimeout, systemClock } from '../system/system-clock.js'
import type { Outgoing } from './connection.js'

/** Bounds the delay of the first reply of a turn. */
const MAX_BATCH = 64

export interface BatchSink {
  send(outgoing: Outgoing): void
  /** @param isProven requests received from now on were sent after the replies were readable */
  sent(batch: readonly Outgoing[], isProven: boolean): void
}

/**
 * Collects the replies of one turn of the event loop, and sends them together. Waking a client costs about as much as
 * producing a response, and a batch wakes it once. Refusals wait for a quiet turn.
 */
export class WriteBatch {
  readonly quiet = new QuietTurn()
  readonly #sink: BatchSink
  #waiting: Outgoing[] = []
  #refusals: Outgoing[] = []

  constructor(sink: BatchSink) {
    this.#sink = sink
  }

  put(outgoing: Outgoing): void {
    const count = this.#waiting.push(outgoing)
    if (count === 1) setImmediate(() => this.flush())
    else if (count === MAX_BATCH) this.flush()
  }

  flush(): void {
    if (this.#waiting.length === 0) return
    const batch = this.#waiting
    this.#waiting = []
    const others = batch.filter((outgoing) => !isRefusal(outgoing))
    if (others.length < batch.length) this.#hold(batch.filter(isRefusal))
    if (others.length > 0) this.#send(others, false)
  }

  #hold(refusals: readonly Outgoing[]): void {
    this.#refusals.push(...refusals)
    if (this.#refusals.length > refusals.length) return
    this.quiet.wait((isQuiet) => {
      const held = this.#refusals
      this.#refusals = []
      this.#send(held, isQuiet)
    })
  }

  #send(batch: readonly Outgoing[], isProven: boolean): void {
    for (const outgoing of batch) this.#sink.send(outgoing)
    this.#sink.sent(batch, isProven)
  }
}

export function isRefusal({ reply: { status, fault, exchange } }: Pick<Outgoing, 'reply'>): boolean {
  return (
    exchange !== undefined &&
    (status === 429 || status === 403 || status === 401 || status >= 500 || fault !== undefined)
  )
}

/** Bounds how long continuous requests delay a refusal. */
const MAX_TURNS = 100
/** Turns are long on an overloaded machine. */
const MAX_WAIT_MS = 250
/** A longer turn may have been interrupted after it polled the sockets. */
const SHORT_TURN_MS = 0.5
/** Refusals wait this long for the first request on a new connection, so that a burst counts as one. */
const FIRST_REQUEST_MS = 50

/**
 * Waits for a turn of the event loop without input. libuv polls all sockets in each turn and accepts one connection per
 * turn, in order: after a quiet turn, everything sent earlier has been read.
 *
 * A refusal sent then separates earlier requests from those sent after it was readable, on any connection.
 */
class QuietTurn {
  #received = 0
  #withoutRequest = 0
  #connectedAt = Number.NEGATIVE_INFINITY

  received(): void {
    this.#received++
  }

  connected(): void {
    this.#received++
    this.#withoutRequest++
    this.#connectedAt = systemClock.monotonic()
  }

  used(): void {
    this.#withoutRequest--
  }

  /** @param done called after a quiet turn, or with false after too many turns */
  wait(done: (isQuiet: boolean) => void, turns = 0, since = systemClock.monotonic()): void {
    const before = this.#received
    const startedAt = systemClock.monotonic()
    setImmediate(() => {
      const now = systemClock.monotonic()
      const isQuiet = this.#received === before && now - startedAt < SHORT_TURN_MS
      const expectsRequest = this.#withoutRequest > 0 && now - this.#connectedAt < FIRST_REQUEST_MS
      if (turns >= MAX_TURNS || now - since >= MAX_WAIT_MS) done(isQuiet)
      else if (expectsRequest) setTimeout(() => this.wait(done, turns + 1, since), 1)
      else if (isQuiet) done(true)
      else this.wait(done, turns + 1, since)
    })
  }
}
