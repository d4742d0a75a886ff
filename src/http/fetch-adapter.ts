import type { AnswerEnd } from '../domain/ending.js'
import { SLOW_BODY_MS, type WireFault } from '../domain/faults.js'
import { textOf } from '../domain/long-body.js'
import {
  BODY_LIMIT_BYTES,
  type EndedExchange,
  type PendingReply,
  type Reply,
  type ServiceRequest,
} from '../domain/messages.js'
import { systemClock } from '../system/system-clock.js'
import { type AnswerTimes, endedExchange } from './ended-exchange.js'
import { HeardInTime } from './heard-in-time.js'
import { withoutHeader } from './without-header.js'

/** The address that callers in the same process share. */
const IN_PROCESS_ADDRESS = 'in-process'

/** Failures that no status expresses, with the codes that undici gives them. */
const CAUSES: Readonly<Record<'connection-reset' | 'empty-response' | 'malformed-chunk', string>> = {
  'connection-reset': 'ECONNRESET',
  'empty-response': 'UND_ERR_SOCKET',
  'malformed-chunk': 'HPE_INVALID_CHUNK_SIZE',
}

/** What a `fetch` needs of the sandbox. */
interface Service {
  /** @param left gives what is aborted when its client has left */
  service(request: ServiceRequest, left?: () => AbortSignal): PendingReply
  /** Waits until everything that replies may tell of is kept; undefined if it is. Never rejects. */
  settle(): Promise<void> | undefined
  /** What is sent in place of a reply, if it must not leave. */
  instead(reply: Reply): Reply | undefined
  /** Tells what became of replies. @returns its position */
  ended(exchanges: readonly EndedExchange[]): number
}

/** How a request came here. */
interface Way {
  /** It was passed on for somebody else, who hears of the answer later than the caller. */
  readonly relayed?: boolean | undefined
  /** Is told of the reply before it is sent. */
  readonly replied?: ((reply: Reply) => void) | undefined
}

/**
 * Makes a `fetch` for the service, without a socket. To the caller, faults look
 * as they would over one: a rejected TypeError, a truncated body, a wait.
 *
 * @param stopping aborted when the sandbox stops; hanging requests fail then
 */
export function fetchOf(front: Service, stopping: AbortSignal): (request: Request, way?: Way) => Promise<Response> {
  // Whoever is given an answer has heard it. Who has it passed on hears it in time; what was sent before may be on its way until then.
  const relayedHeard = new HeardInTime()
  let givenUpTo = 0
  const noteSent = (position: number, now: number, relayed: boolean) => {
    // Positions know no readers: what is given while something relayed is on its way is no proof of that.
    if (relayed || relayedHeard.isWaiting) relayedHeard.sent(position, now)
    else givenUpTo = position
  }
  return async (request, { relayed = false, replied } = {}) => {
    const times: AnswerTimes = {
      arrivedAt: systemClock.monotonic(),
      waitedMs: 0,
      waitsSince: undefined,
      beganAt: undefined,
    }
    const heardBefore = relayed ? relayedHeard.upTo : Math.max(givenUpTo, relayedHeard.upTo)
    const { signal } = request
    signal.throwIfAborted()
    const read = await readRequest(request, heardBefore)
    signal.throwIfAborted()
    const reply = await front.service(read, () => signal)
    replied?.(reply)
    const instead = await held(front, reply)
    const tell = (how: AnswerEnd) => {
      const now = systemClock.monotonic()
      const isAnswered = how === 'sent' || times.beganAt !== undefined
      const ended = endedExchange(reply, { how, times, now, isAnswered, connection: 0, instead })
      if (ended !== undefined) noteSent(front.ended([ended]), now, relayed)
    }
    try {
      signal.throwIfAborted()
      if (reply.delayMs > 0) {
        const waitsSince = systemClock.monotonic()
        times.waitsSince = waitsSince
        await passes(reply.delayMs, signal)
        times.waitedMs = systemClock.monotonic() - waitsSince
        times.waitsSince = undefined
      }
    } catch (error) {
      tell('left')
      throw error
    }
    const isHead = request.method === 'HEAD'
    return reply.fault === undefined || instead !== undefined
      ? whole(instead ?? reply, isHead, tell)
      : faulty(reply, reply.fault, isHead, { signal, stopping, times, tell })
  }
}

/** Waits until what a reply may tell of is kept. @returns what is given in its place, if it must not leave */
async function held(front: Service, reply: Reply): Promise<Reply | undefined> {
  const settled = front.settle()
  if (settled !== undefined) await settled
  return front.instead(reply)
}

function whole(reply: Reply, isHead: boolean, tell: (how: AnswerEnd) => void): Response {
  tell('sent')
  return response(reply, isHead ? '' : textOf(reply.body))
}

async function readRequest(request: Request, heardUpTo: number): Promise<ServiceRequest> {
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
    connection: 0,
    heardUpTo,
  }
}

function response({ status, headers }: Reply, body: string | ReadableStream<Uint8Array>): Response {
  const list: [string, string][] = []
  for (let i = 0; i < headers.length; i += 2) list.push([String(headers[i]), String(headers[i + 1])])
  // 204 and 304 have no body, not even an empty one. @source Fetch standard, null body status
  return new Response(status === 204 || status === 304 || body === '' ? null : body, { status, headers: list })
}

/** What a faulty answer is made with. */
interface Fate {
  readonly signal: AbortSignal
  readonly stopping: AbortSignal
  readonly times: AnswerTimes
  tell(how: AnswerEnd): void
}

async function faulty(
  reply: Reply,
  fault: WireFault,
  isHead: boolean,
  { signal, stopping, times, tell }: Fate,
): Promise<Response> {
  switch (fault) {
    case 'connection-reset':
    case 'empty-response':
      tell('cut')
      throw failure(fault)
    case 'malformed-chunk':
      times.beganAt = systemClock.monotonic()
      tell('cut')
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
    case 'slow-body': {
      times.beganAt = systemClock.monotonic()
      const noReader = new AbortController()
      return response(
        reply,
        new ReadableStream({
          async start(controller) {
            await passes(SLOW_BODY_MS, AbortSignal.any([signal, noReader.signal])).catch((error: unknown) => {
              tell('left')
              throw error
            })
            if (!isHead) controller.enqueue(new TextEncoder().encode(textOf(reply.body)))
            tell('sent')
            controller.close()
          },
          cancel: () => noReader.abort(),
        }),
      )
    }
    case 'hang':
      times.waitsSince = systemClock.monotonic()
      return new Promise((_resolve, reject) => {
        const cut = () => {
          signal.removeEventListener('abort', cut)
          stopping.removeEventListener('abort', cut)
          tell(signal.aborted ? 'left' : 'cut')
          reject(signal.aborted ? signal.reason : failure('connection-reset'))
        }
        if (signal.aborted || stopping.aborted) return cut()
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
