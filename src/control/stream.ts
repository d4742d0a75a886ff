import type { Context } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import { stringifyJson } from '../contract/json.js'
import type { Space } from '../core/space.js'
import type { SpaceEvent } from '../exchanges/exchange-log.js'
import { begunView, type ExchangeRecord, exchangeView } from '../exchanges/exchange-record.js'
import { AsyncQueue } from './async-queue.js'
import { readFilter } from './verbs/requests.js'

/** Per reader. Beyond it, the oldest events are dropped. */
const MAX_BUFFERED_EVENTS = 1000
/** Interval of comments, which keep proxies from closing the stream. */
const HEARTBEAT_MS = 15_000

type StreamEvent =
  | { readonly event: 'began' | 'ended'; readonly record: ExchangeRecord }
  | { readonly event: 'verb'; readonly done: SpaceEvent }

/**
 * Streams the exchanges of a space as server-sent events: `began` for a received request, `ended` for a sent response,
 * each with the exchange as JSON; `verb` for an applied verb; `dropped` with the number of exchanges that a slow reader
 * missed.
 */
export function streamExchanges(space: Space, stopping: AbortSignal, context: Context): Response {
  const { space: _space, ...query } = context.req.query()
  const isWanted = readFilter(space, query)
  // A HEAD request has no reader that could end the stream.
  if (context.req.method === 'HEAD') return context.body(null, 200, { 'Content-Type': 'text/event-stream' })
  return streamSSE(context, async (stream) => {
    const queue = new AsyncQueue<StreamEvent>(MAX_BUFFERED_EVENTS, ({ event }) => event === 'ended')
    const end = () => queue.close()
    const pushWanted = (event: 'began' | 'ended') => (record: ExchangeRecord) => {
      if (isWanted(record)) queue.push({ event, record })
    }
    const unfollow = space.log.follow({
      onBegan: pushWanted('began'),
      onEnded: pushWanted('ended'),
      onEvent: (done) => queue.push({ event: 'verb', done }),
      end,
    })
    stream.onAbort(end)
    stopping.addEventListener('abort', end)
    try {
      await stream.write(': connected\n\n')
      while (!stream.aborted) {
        const delivery = await queue.take(HEARTBEAT_MS)
        if (delivery.kind === 'closed') break
        if (delivery.kind === 'quiet') await stream.write(': still here\n\n')
        else await send(stream, delivery)
      }
    } finally {
      unfollow()
      stopping.removeEventListener('abort', end)
    }
  })
}

async function send(
  stream: SSEStreamingApi,
  { items, dropped }: { readonly items: readonly StreamEvent[]; readonly dropped: number },
): Promise<void> {
  if (dropped > 0) await stream.writeSSE({ event: 'dropped', data: stringifyJson({ count: dropped }) })
  for (const item of items) {
    if (item.event === 'verb') await stream.writeSSE({ event: item.event, data: stringifyJson(item.done) })
    else {
      const { event, record } = item
      const view = event === 'began' ? begunView(record) : exchangeView(record)
      await stream.writeSSE({ event, id: String(record.id), data: stringifyJson(view) })
    }
  }
}
