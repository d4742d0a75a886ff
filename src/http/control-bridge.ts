import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { UnreadBody } from '../domain/messages.js'
import { errorBody, PROBLEMS, type ProblemCode } from '../domain/problems.js'
import type { BodyRoom } from './body-room.js'
import { hasBody, readBody } from './read-body.js'

/** Largest body that the control plane reads: a scenario has a few kilobytes. */
const CONTROL_BODY_LIMIT_BYTES = 256_000

/** Methods that a Request object cannot have. @source Fetch standard, forbidden method */
const FORBIDDEN_METHODS = new Set(['TRACE', 'TRACK', 'CONNECT'])

/**
 * Brings a request on a socket to a `fetch` and its answer back, as it comes.
 *
 * The body is read only when it is asked for, so that whoever may not steer the
 * sandbox cannot make it hold one.
 */
export async function bridge(
  fetch: (request: Request) => Response | Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  room: BodyRoom,
): Promise<void> {
  const { socket } = incoming
  // As many may wait for its end as there are requests in a row on it.
  socket.setMaxListeners(0)
  if (FORBIDDEN_METHODS.has(incoming.method ?? '')) return refuse(outgoing, 'method_not_allowed')
  const body = new LazyBody(incoming, room)
  const left = new AbortController()
  const leave = () => left.abort()
  // Not that of the answer, which has none as long as others are before it.
  socket.once('close', leave)
  try {
    // What is wrong with the body is answered in here; who has asked for it waits for good, and is forgotten.
    const response = await Promise.race([fetch(toRequest(incoming, body, left.signal)), body.unread])
    if (left.signal.aborted) return
    if (response === 'too-large') return refuse(outgoing, 'payload_too_large', 'The body is larger than 256 kB.')
    if (response === 'no-room') return refuse(outgoing, 'overloaded')
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (response.body !== null) {
      const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream') === true
      await pump(response.body, outgoing, socket, isEndless)
    }
    outgoing.end()
  } finally {
    socket.off('close', leave)
    body.giveBack()
  }
}

function refuse(outgoing: ServerResponse, code: ProblemCode, message: string = PROBLEMS[code].message): void {
  const { status } = PROBLEMS[code]
  outgoing.writeHead(status, { 'Content-Type': 'application/json' })
  outgoing.end(errorBody(code, message, status))
}

/** A body of which nothing is read before somebody asks for it. */
class LazyBody {
  /** Says why it could not be read; waits for good where it can. */
  readonly unread: Promise<UnreadBody>
  readonly stream: ReadableStream<Uint8Array>
  readonly #room: BodyRoom
  #lent = 0

  constructor(incoming: IncomingMessage, room: BodyRoom) {
    this.#room = room
    let refuse: (why: UnreadBody) => void = () => {}
    this.unread = new Promise((resolve) => {
      refuse = resolve
    })
    this.stream = new ReadableStream(
      {
        pull: (controller) =>
          new Promise<void>((resolve) =>
            readBody(incoming, CONTROL_BODY_LIMIT_BYTES, room, (body) => {
              if (typeof body === 'string') return refuse(body)
              if (!room.make(body.length)) return refuse('no-room')
              this.#lend(body.length)
              controller.enqueue(body)
              controller.close()
              resolve()
            }),
          ),
      },
      { highWaterMark: 0 },
    )
  }

  #lend(bytes: number): void {
    this.#lent = bytes
    this.#room.lend(bytes)
  }

  giveBack(): void {
    this.#room.giveBack(this.#lent)
    this.#lent = 0
  }
}

/** Sends a body as it comes, and no faster than it is taken; when the client goes, whoever makes the body is told. */
async function pump(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  socket: Socket,
  isEndless: boolean,
): Promise<void> {
  const reader = body.getReader()
  let isOver = false
  const cancel = () => {
    isOver = true
    void reader.cancel().catch(() => {})
  }
  if (socket.destroyed || (isEndless && socket.readableEnded)) cancel()
  socket.once('close', cancel)
  // That its client has closed its half is all that may be heard of its going.
  if (isEndless) socket.once('end', cancel)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || isOver) return
      await taken(value, outgoing, socket)
    }
  } finally {
    socket.off('close', cancel)
    socket.off('end', cancel)
  }
}

function toRequest(incoming: IncomingMessage, body: LazyBody, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', rawHeaders } = incoming
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(String(rawHeaders[i]), String(rawHeaders[i + 1]))
  // The client's Host is checked as a header; it never becomes part of the URL.
  const takesBody = method !== 'GET' && method !== 'HEAD' && hasBody(incoming)
  const init = takesBody ? { body: body.stream, duplex: 'half' as const } : {}
  return new Request(`http://sandbox${url}`, { method, headers, signal, ...init })
}

/** Sends a piece. Resolves when it was taken, or never will be. */
function taken(piece: Uint8Array, outgoing: ServerResponse, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      socket.off('close', go)
      resolve()
    }
    socket.once('close', go)
    if (socket.destroyed) go()
    // Not the event `drain`, which a socket that was handed over no longer brings.
    else outgoing.write(piece, go)
  })
}
