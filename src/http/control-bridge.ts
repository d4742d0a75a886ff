import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errorBody, PROBLEMS, type ProblemCode } from '../domain/problems.js'

/** Largest body that the control plane reads: a snapshot's or a scenario's, not a client's. */
const CONTROL_BODY_LIMIT_BYTES = 16 * 1024 * 1024

/** Methods that a Request cannot have. @source Fetch standard, forbidden method */
const FORBIDDEN_METHODS = new Set(['TRACE', 'TRACK', 'CONNECT'])

/** Brings a request on a socket to a `fetch` and its answer back, as it comes. */
export async function bridge(
  fetch: (request: Request) => Response | Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const left = new AbortController()
  outgoing.once('close', () => left.abort())
  if (FORBIDDEN_METHODS.has(incoming.method ?? '')) return refuse(outgoing, 'method_not_allowed')
  const body = await readAll(incoming)
  if (body === undefined) return refuse(outgoing, 'payload_too_large', 'The body is larger than 16 MiB.')
  const response = await fetch(toRequest(incoming, body, left.signal))
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body !== null) {
    const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    await pump(response.body, outgoing, isEndless ? incoming.socket : undefined)
  }
  outgoing.end()
}

function refuse(outgoing: ServerResponse, code: ProblemCode, message: string = PROBLEMS[code].message): void {
  const { status } = PROBLEMS[code]
  outgoing.writeHead(status, { 'Content-Type': 'application/json' })
  outgoing.end(errorBody(code, message, status))
}

/**
 * Sends a body as it comes; when the client goes, whoever makes the body is told.
 *
 * @param connection that of a body without end: that its client has closed its half is all that may be heard of its going
 */
async function pump(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  connection: Socket | undefined,
): Promise<void> {
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  if (outgoing.destroyed || connection?.readableEnded) cancel()
  outgoing.once('close', cancel)
  connection?.once('end', cancel)
  for (;;) {
    const { done, value } = await reader.read()
    if (done || outgoing.destroyed) return
    if (!outgoing.write(value)) await drained(outgoing)
  }
}

function toRequest(incoming: IncomingMessage, body: Buffer, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', rawHeaders } = incoming
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(String(rawHeaders[i]), String(rawHeaders[i + 1]))
  // The Host a client sends is checked as a header; it never becomes part of the address.
  const hasBody = method !== 'GET' && method !== 'HEAD' && body.length > 0
  return new Request(`http://sandbox${url}`, { method, headers, signal, ...(hasBody ? { body } : {}) })
}

async function readAll(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += chunk.length
    if (size <= CONTROL_BODY_LIMIT_BYTES) chunks.push(chunk)
  }
  return size <= CONTROL_BODY_LIMIT_BYTES ? Buffer.concat(chunks) : undefined
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      outgoing.off('drain', go)
      outgoing.off('close', go)
      resolve()
    }
    outgoing.once('drain', go)
    outgoing.once('close', go)
    if (outgoing.destroyed) go()
  })
}
