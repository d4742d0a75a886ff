import { SLOW_BODY_MS, type WireFault } from '../domain/faults.js'
import {
  bodyLimit,
  bodyText,
  type DeliveryMarks,
  type EndedExchange,
  type ExchangeRef,
  OWN_MARK,
  type PendingReply,
  type Reply,
  type ResponseOutcome,
  type ServiceRequest,
} from '../domain/messages.js'
import { isProxied } from '../domain/request-headers.js'
import type { DurationMs } from '../domain/time.js'
import { clearTimeout, setTimeout, systemClock } from '../system/system-clock.js'
import { DeliveryTracker } from './delivery-tracker.js'
import { endedExchange, type ReplyTimes, replyTimes, withoutHeader } from './replies.js'

const IN_PROCESS_ADDRESS = 'in-process'

/** Failures without a response, with the codes of undici. */
const FAILURE_CODES: Readonly<Record<Exclude<WireFault, 'slow-body' | 'hang'>, string>> = {
  'connection-reset': 'ECONNRESET',
  'empty-response': 'UND_ERR_SOCKET',
  'truncated-body': 'UND_ERR_SOCKET',
  'malformed-chunk': 'HPE_INVALID_CHUNK_SIZE',
}

export interface ServiceHandlers {
  /** @param left returns a signal that is aborted when the client has left */
  service(request: ServiceRequest, left?: () => AbortSignal): PendingReply
  /** Reports ended exchanges, and sent replies that may be unread. @returns the position of that command */
  ended(exchanges: readonly EndedExchange[], unread?: readonly ExchangeRef[]): number
}

interface Route {
  /** Relayed for another client, which receives the response later than the caller. */
  readonly relayed?: boolean | undefined
  /** Where requests go whose address names no space. */
  readonly space?: string | undefined
  readonly replied?: ((reply: Reply) => void) | undefined
  /** A person sent it. */
  readonly isOwn?: boolean
}

/**
 * Creates a `fetch` that calls the service without a socket. Faults look like network failures: a rejected TypeError,
 * a truncated body, a delay.
 * @param stopping aborted when the sandbox stops; requests that wait fail then
 */
export function createFetch(
  service: ServiceHandlers,
  stopping: AbortSignal,
): (request: Request, route?: Route) => Promise<Response> {
  // A response counts as delivered at once to a direct caller, and after a delay to a client behind a relay.
  const relayedReplies = new DeliveryTracker()
  let returnedUpTo = 0
  let sentUpTo = 0
  const noteSent = (position: number, now: number, relayed: boolean) => {
    sentUpTo = position
    // Positions do not distinguish clients: while a relayed response is in flight, no later one counts as delivered.
    if (relayed || relayedReplies.isPending) relayedReplies.sent(position, now)
    else returnedUpTo = position
  }
  return async (request, { relayed: isRelayed = false, space, replied, isOwn = false } = {}) => {
    const relayed = isRelayed || isProxied(Object.fromEntries(request.headers))
    const times = replyTimes(systemClock.monotonic())
    const relayedUpTo = relayedReplies.deliveredUpTo
    const deliveredUpTo = relayed ? relayedUpTo : Math.max(returnedUpTo, relayedUpTo)
    const before: DeliveryMarks = { deliveredUpTo, sentUpTo: Math.max(deliveredUpTo, sentUpTo) }
    const { signal } = request
    signal.throwIfAborted()
    const read = await readRequest(request, space, before, isOwn)
    signal.throwIfAborted()
    const reply = await service.service(read, () => signal)
    replied?.(reply)
    const report = (how: ResponseOutcome) => {
      const now = systemClock.monotonic()
      const isAnswered = how === 'sent' || times.beganAt !== undefined
      const ended = endedExchange(reply, { how, times, now, isAnswered, connection: 0 })
      if (ended !== undefined) noteSent(service.ended([ended]), now, relayed)
    }
    const context: WaitContext = { signal, stopping, report }
    if (signal.aborted) report('left')
    signal.throwIfAborted()
    if (reply.delayMs > 0) {
      const waitsSince = systemClock.monotonic()
      times.waitsSince = waitsSince
      await sleep(reply.delayMs, context)
      times.waitedMs = systemClock.monotonic() - waitsSince
      times.waitsSince = undefined
    }
    const isHead = request.method === 'HEAD'
    if (reply.fault !== undefined) return applyFault(reply, reply.fault, isHead, times, context)
    report('sent')
    return responseOf(reply, isHead ? '' : bodyText(reply.body))
  }
}

async function readRequest(
  request: Request,
  space: string | undefined,
  before: DeliveryMarks,
  isOwn: boolean,
): Promise<ServiceRequest> {
  const url = new URL(request.url)
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
  const headers = { ...Object.fromEntries(request.headers), ...(isOwn && OWN_MARK) }
  return {
    method: request.method,
    target: url.pathname + url.search,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    body: body !== undefined && body.length > bodyLimit(headers) ? 'too-large' : body,
    address: IN_PROCESS_ADDRESS,
    connection: 0,
    ...(space && { space }),
    ...before,
  }
}

function responseOf({ status, headers }: Reply, body: string | ReadableStream<Uint8Array>): Response {
  const list: [string, string][] = []
  for (let i = 0; i < headers.length; i += 2) list.push([String(headers[i]), String(headers[i + 1])])
  // 204 and 304 have no body, not even an empty one. @source Fetch standard, null body status
  return new Response(status === 204 || status === 304 || body === '' ? null : body, { status, headers: list })
}

interface WaitContext {
  readonly signal: AbortSignal
  readonly stopping: AbortSignal
  report(how: ResponseOutcome): void
}

async function applyFault(
  reply: Reply,
  fault: WireFault,
  isHead: boolean,
  times: ReplyTimes,
  context: WaitContext,
): Promise<Response> {
  const { signal, report } = context
  const encoder = new TextEncoder()
  switch (fault) {
    case 'connection-reset':
    case 'empty-response':
      report('cut')
      throw failure(fault)
    case 'truncated-body':
    case 'malformed-chunk': {
      times.beganAt = systemClock.monotonic()
      report('cut')
      const bytes = encoder.encode(fault === 'malformed-chunk' ? '[{"id":' : bodyText(reply.body))
      return responseOf(
        { ...reply, headers: withoutHeader(reply.headers, 'Content-Length') },
        new ReadableStream({
          start: (controller) =>
            controller.enqueue(fault === 'malformed-chunk' ? bytes : bytes.subarray(0, bytes.length >> 1)),
          pull: (controller) => controller.error(failure(fault)),
        }),
      )
    }
    case 'slow-body': {
      times.beganAt = systemClock.monotonic()
      const cancelled = new AbortController()
      return responseOf(
        reply,
        new ReadableStream({
          async start(controller) {
            await sleep(SLOW_BODY_MS, { ...context, signal: AbortSignal.any([signal, cancelled.signal]) })
            if (!isHead) controller.enqueue(encoder.encode(bodyText(reply.body)))
            report('sent')
            controller.close()
          },
          cancel: () => cancelled.abort(),
        }),
      )
    }
    case 'hang':
      times.waitsSince = systemClock.monotonic()
      return (await sleep(undefined, context)) as never
  }
}

function failure(fault: keyof typeof FAILURE_CODES): TypeError {
  const cause = Object.assign(new Error(`Fault injected by the sandbox: ${fault}.`), { code: FAILURE_CODES[fault] })
  return new TypeError('fetch failed', { cause })
}

/**
 * @param milliseconds undefined: for ever
 * @throws the reason of the signal, or TypeError once the sandbox stops, after reporting it
 */
function sleep(milliseconds: DurationMs | undefined, { signal, stopping, report }: WaitContext): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      stopping.removeEventListener('abort', end)
      if (!signal.aborted && !stopping.aborted) return resolve()
      report(signal.aborted ? 'left' : 'cut')
      reject(signal.aborted ? signal.reason : failure('connection-reset'))
    }
    const timer = milliseconds === undefined ? undefined : setTimeout(end, milliseconds)
    signal.addEventListener('abort', end)
    stopping.addEventListener('abort', end)
    if (signal.aborted || stopping.aborted) end()
  })
}
