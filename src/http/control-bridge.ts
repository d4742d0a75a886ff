import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as WebStream } from 'node:stream/web'
import type { UnreadBody } from '../domain/messages.js'
import { errorBody, PROBLEMS, type ProblemCode } from '../domain/problems.js'
import { type BodyBudget, hasBody, readBody } from './request-body.js'

/** The largest input, a scenario, has a few kilobytes. */
const MAX_BODY_BYTES = 256_000

const NO_SNIFF = { 'x-content-type-options': 'nosniff' }

/** Methods that a Request object cannot have. @source Fetch standard, forbidden method */
const FORBIDDEN_METHODS = new Set(['TRACE', 'TRACK', 'CONNECT'])

/**
 * Passes a request from a socket to a `fetch`, and streams the response back. The body is read on demand: unauthorized
 * clients cannot use memory.
 */
export async function bridge(
  fetch: (request: Request) => Response | Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  budget: BodyBudget,
): Promise<void> {
  const { socket } = incoming
  // Each pipelined request adds a listener.
  socket.setMaxListeners(0)
  if (FORBIDDEN_METHODS.has(incoming.method ?? '')) return refuse(outgoing, 'method_not_allowed')
  const body = lazyBody(incoming, budget)
  const left = new AbortController()
  const leave = () => left.abort()
  // Listens on the socket, because a queued response has none.
  socket.once('close', leave)
  try {
    // A body that cannot be read is refused here; the `fetch` that reads it stays pending.
    const response = await Promise.race([fetch(toRequest(incoming, body.stream, left.signal)), body.unread])
    if (left.signal.aborted) return response instanceof Response ? response.body?.cancel() : undefined
    if (response === 'too-large') return refuse(outgoing, 'payload_too_large', 'The body is larger than 256 kB.')
    if (response === 'no-room') return refuse(outgoing, 'overloaded')
    outgoing.writeHead(response.status, { ...NO_SNIFF, ...Object.fromEntries(response.headers) })
    if (response.body === null) outgoing.end()
    // A stream would take twice the processor time.
    else if (response.headers.has('content-length')) outgoing.end(Buffer.from(await response.arrayBuffer()))
    else {
      // A half-close may be the only sign that the client of an endless response has left.
      const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream') === true
      if (isEndless) socket.once('end', leave)
      if (isEndless && socket.readableEnded) leave()
      await pipeline(Readable.fromWeb(response.body as WebStream), outgoing, { signal: left.signal }).catch((error) => {
        if (!left.signal.aborted) throw error
      })
    }
  } finally {
    socket.off('close', leave).off('end', leave)
    body.free()
  }
}

function refuse(outgoing: ServerResponse, code: ProblemCode, message: string = PROBLEMS[code].message): void {
  const { status } = PROBLEMS[code]
  outgoing.writeHead(status, { ...NO_SNIFF, 'content-type': 'application/json' })
  outgoing.end(errorBody(code, message, status))
}

interface LazyBody {
  readonly stream: ReadableStream<Uint8Array>
  readonly unread: Promise<UnreadBody>
  free(): void
}

function lazyBody(incoming: IncomingMessage, budget: BodyBudget): LazyBody {
  let free = () => {}
  let refuse = (_why: UnreadBody) => {}
  const unread = new Promise<UnreadBody>((resolve) => {
    refuse = resolve
  })
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    new Promise<void>((resolve) =>
      readBody(incoming, MAX_BODY_BYTES, budget, (body) => {
        if (typeof body === 'string') return refuse(body)
        if (!budget.makeRoom(body.length)) return refuse('no-room')
        free = budget.reserve(body.length)
        controller.enqueue(body)
        controller.close()
        resolve()
      }),
    )
  return { stream: new ReadableStream({ pull }, { highWaterMark: 0 }), unread, free: () => free() }
}

function toRequest(incoming: IncomingMessage, body: LazyBody['stream'], signal: AbortSignal): Request {
  const { method = 'GET', url = '/', rawHeaders } = incoming
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(String(rawHeaders[i]), String(rawHeaders[i + 1]))
  // In absolute form, the target replaces the header. @source RFC 9112, section 3.2.2
  const [origin = '', host] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? []
  if (host !== undefined) headers.set('Host', host)
  // The client's Host is validated as a header and never becomes part of the URL.
  const takesBody = method !== 'GET' && method !== 'HEAD' && hasBody(incoming)
  const init = takesBody ? { body, duplex: 'half' as const } : {}
  return new Request(`http://sandbox${url.slice(origin.length)}`, { method, headers, signal, ...init })
}
