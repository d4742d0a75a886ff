import type { WireFault } from '../domain/faults.js'
import { textOf } from '../domain/long-body.js'
import { BODY_LIMIT_BYTES, type PendingReply, type Reply, type ServiceRequest } from '../domain/messages.js'
import { withoutHeader } from './raw-response.js'
import { SLOW_BODY_MS } from './wire-faults.js'

/** The address that callers in the same process share. */
const IN_PROCESS_ADDRESS = 'in-process'

/** Failures that no status expresses, with the codes that undici gives them. */
const CAUSES: Readonly<Record<'connection-reset' | 'empty-response' | 'malformed-chunk', string>> = {
  'connection-reset': 'ECONNRESET',
  'empty-response': 'UND_ERR_SOCKET',
  'malformed-chunk': 'HPE_INVALID_CHUNK_SIZE',
}

/**
 * Makes a `fetch` for the service, without a socket. To the caller, faults look
 * as they would over one: a rejected TypeError, a truncated body, a wait.
 *
 * @param stopping aborted when the sandbox stops; hanging requests fail then
 */
export function fetchOf(
  service: (request: ServiceRequest) => PendingReply,
  stopping: AbortSignal,
): (request: Request) => Promise<Response> {
  let heardUntil = 0
  return async (request) => {
    const heardBefore = heardUntil
    const { signal } = request
    signal.throwIfAborted()
    const read = await readRequest(request, heardBefore)
    signal.throwIfAborted()
    const reply = await service(read)
    signal.throwIfAborted()
    if (reply.delayMs > 0) await passes(reply.delayMs, signal)
    if (reply.fault !== 'hang') heardUntil = Math.max(heardUntil, reply.dueAt)
    return reply.fault === undefined
      ? response(reply, textOf(reply.body))
      : faulty(reply, reply.fault, signal, stopping)
  }
}

async function readRequest(request: Request, heardUntil: number): Promise<ServiceRequest> {
  const url = new URL(request.url)
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
  const headers = Object.fromEntries(request.headers)
  return {
    method: request.method,
    target: url.pathname + url.search,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    body: body !== undefined && body.length > BODY_LIMIT_BYTES ? 'too-large' : body,
    address: IN_PROCESS_ADDRESS,
    heardUntil,
  }
}

function response({ status, headers }: Reply, body: string | ReadableStream<Uint8Array>): Response {
  const list: [string, string][] = []
  for (let i = 0; i < headers.length; i += 2) list.push([String(headers[i]), String(headers[i + 1])])
  // 204 and 304 have no body, not even an empty one. @source Fetch standard, null body status
  return new Response(status === 204 || status === 304 || body === '' ? null : body, { status, headers: list })
}

async function faulty(reply: Reply, fault: WireFault, signal: AbortSignal, stopping: AbortSignal): Promise<Response> {
  switch (fault) {
    case 'connection-reset':
    case 'empty-response':
      throw failure(fault)
    case 'malformed-chunk':
      return response(
        { ...reply, headers: withoutHeader(reply.headers, 'Content-Length') },
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('[{"id":'))
          },
          pull(controller) {
            controller.error(failure(fault))
          },
        }),
      )
    case 'slow-body':
      return response(
        reply,
        new ReadableStream({
          async start(controller) {
            await passes(SLOW_BODY_MS, signal)
            controller.enqueue(new TextEncoder().encode(textOf(reply.body)))
            controller.close()
          },
        }),
      )
    case 'hang':
      return new Promise((_resolve, reject) => {
        const cut = () => reject(signal.aborted ? signal.reason : failure('connection-reset'))
        if (signal.aborted || stopping.aborted) cut()
        signal.addEventListener('abort', cut, { once: true })
        stopping.addEventListener('abort', cut, { once: true })
      })
  }
}

function failure(fault: keyof typeof CAUSES): TypeError {
  const cause = Object.assign(new Error(`The sandbox was asked for ${fault}.`), { code: CAUSES[fault] })
  return new TypeError('fetch failed', { cause })
}

function passes(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const give = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', give)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', give, { once: true })
  })
}
