import type { DeliveryMarks, Reply } from '../domain/messages.js'
import { setImmediate, setTimeout, systemClock } from '../system/system-clock.js'
import type { ConnectionOrder, Outgoing } from './connection.js'
import { DeliveryTracker } from './delivery-tracker.js'
import { holdBack } from './hold-back.js'

export interface OrderSink {
  /** @param isProven requests received from now on were sent after the replies were readable */
  written(batch: readonly Outgoing[], isProven: boolean): void
}

interface HeldReply {
  readonly outgoing: Outgoing
  readonly send: () => void
}

/** Bounds the delay of the first reply of a turn. */
const MAX_BATCH = 64

/** Bounds how long continuous requests delay a refusal. */
const MAX_TURNS = 100
/** Turns are long on an overloaded machine. */
const MAX_WAIT_MS = 250
/** A longer turn proves nothing: it may have been interrupted after it polled the sockets. */
const SHORT_TURN_MS = 0.5
/** Refusals wait this long for the first request on a new connection, so that a burst counts as one. */
const FIRST_REQUEST_MS = 50

/**
 * Proves which responses had left before a request was sent. A refusal waits for a turn of the event loop without
 * input: libuv polls all sockets in each turn and accepts one connection per turn, in order, so after a quiet turn
 * everything sent earlier has been read. A refusal written then separates earlier requests from those sent after it was
 * readable, on any connection.
 *
 * Other replies of a turn are written together. Waking a client costs about as much as producing a response, and a
 * batch wakes it once.
 */
export class DeliveryOrder {
  readonly #sink: OrderSink
  readonly #tracker = new DeliveryTracker()
  /** Highest positions whose replies were sent and delivered. */
  #marks: DeliveryMarks = { deliveredUpTo: 0, sentUpTo: 0 }
  #waiting: Outgoing[] = []
  #refusals: HeldReply[] = []
  #received = 0
  #withoutRequest = 0
  #connectedAt = Number.NEGATIVE_INFINITY

  constructor(sink: OrderSink) {
    this.#sink = sink
  }

  connected(): ConnectionOrder {
    this.#received++
    this.#withoutRequest++
    this.#connectedAt = systemClock.monotonic()
    return { opened: this.#marks, isUsed: false, receivedAt: undefined }
  }

  closed(connection: ConnectionOrder): void {
    if (!connection.isUsed) this.#withoutRequest--
  }

  /** Bytes have arrived. */
  received(connection: ConnectionOrder): void {
    this.#received++
    connection.receivedAt ??= this.#marks
  }

  /** They were read as a request. @returns the marks when it was sent */
  requested(connection: ConnectionOrder): DeliveryMarks {
    const marks = connection.receivedAt ?? this.#marks
    connection.receivedAt = undefined
    if (connection.isUsed) return marks
    connection.isUsed = true
    this.#withoutRequest--
    // The client may have decided to send the request when it connected.
    return { ...marks, deliveredUpTo: connection.opened.deliveredUpTo }
  }

  /** The marks of a request through a proxy, which holds responses back for a while. @param marks from `requested` */
  proxied({ deliveredUpTo, sentUpTo }: DeliveryMarks): DeliveryMarks {
    return { deliveredUpTo: Math.min(deliveredUpTo, this.#tracker.deliveredUpTo), sentUpTo }
  }

  /** Responses have ended, which was reported at a position. @param now monotonic */
  ended(position: number, now: number): void {
    this.#tracker.sent(position, now)
  }

  /** Writes a reply at the end of this turn; a refusal in a quiet turn. */
  put(outgoing: Outgoing): void {
    const count = this.#waiting.push(outgoing)
    if (count === 1) setImmediate(() => this.#flush())
    else if (count === MAX_BATCH) this.#flush()
  }

  /** Replies were sent, which was reported at a position. @param isProven see OrderSink */
  sent(position: number, isProven: boolean): void {
    const sentUpTo = Math.max(this.#marks.sentUpTo, position)
    this.#marks = isProven ? { deliveredUpTo: sentUpTo, sentUpTo } : { ...this.#marks, sentUpTo }
    // Requests that are already sent are read in the next turn.
    if (!isProven) setImmediate(() => setImmediate(() => this.sent(position, true)))
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const batch = this.#waiting
    this.#waiting = []
    const others = batch.filter(({ reply }) => !isRefusal(reply))
    if (others.length < batch.length) this.#hold(batch.filter(({ reply }) => isRefusal(reply)))
    if (others.length === 0) return
    for (const outgoing of others) outgoing.write()
    this.#sink.written(others, false)
  }

  #hold(refusals: readonly Outgoing[]): void {
    for (const outgoing of refusals) this.#refusals.push({ outgoing, send: holdBack(outgoing) })
    if (this.#refusals.length === refusals.length) this.#awaitQuiet(0, systemClock.monotonic())
  }

  #awaitQuiet(turns: number, since: number): void {
    const before = this.#received
    const startedAt = systemClock.monotonic()
    setImmediate(() => {
      const now = systemClock.monotonic()
      const isShort = () => systemClock.monotonic() - startedAt < SHORT_TURN_MS
      const isQuiet = this.#received === before && isShort()
      const expectsRequest = this.#withoutRequest > 0 && now - this.#connectedAt < FIRST_REQUEST_MS
      if (turns >= MAX_TURNS || now - since >= MAX_WAIT_MS) this.#send(() => true, isQuiet)
      else if (isQuiet && !expectsRequest) this.#send(isShort, true)
      if (this.#refusals.length === 0) return
      if (expectsRequest) setTimeout(() => this.#awaitQuiet(turns + 1, since), 1)
      else this.#awaitQuiet(turns + 1, since)
    })
  }

  /**
   * Sends the first, then the others while no request can have come between. The client that the first one wakes may
   * interrupt this process: then the next one waits for another quiet turn.
   */
  #send(isNextSent: () => boolean, isProven: boolean): void {
    let count = 0
    do this.#refusals[count++]?.send()
    while (count < this.#refusals.length && isNextSent())
    this.#sink.written(
      this.#refusals.splice(0, count).map(({ outgoing }) => outgoing),
      isProven,
    )
  }
}

export function isRefusal({ status, fault, exchange }: Reply): boolean {
  return (
    exchange !== undefined &&
    (status === 429 || status === 403 || status === 401 || status >= 500 || fault !== undefined)
  )
}
