import type { Context } from 'hono'
import { stringifyJson } from '../contract/json.js'
import type { Space } from '../core/space.js'
import { type Bytes, MIB } from '../domain/numbers.js'
import { begunView, type ExchangeRecord, exchangeView } from '../exchanges/exchange-record.js'
import type { SpaceEvent } from '../exchanges/space-event.js'
import { clearTimeout, setTimeout, systemClock } from '../system/system-clock.js'
import { readFilter } from './verbs/requests.js'

/** Per reader. Beyond it, events are skipped. */
const MAX_BUFFERED: Bytes = MIB
/** Exchanges that a brief feed sends at once, and later each millisecond. */
const BRIEF_BURST = 2000
const BRIEF_PER_MS = 0.5
/** A page draws no more often. */
const BRIEF_FLUSH_MS = 80
/** Events of this time are sent together: with many readers, writing costs more than a request. */
const FLUSH_MS = 20
/** Interval of comments, which keep proxies from closing the stream. */
const HEARTBEAT_MS = 15_000

const HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' }

type StreamEvent =
  | { readonly event: 'began' | 'ended'; readonly record: ExchangeRecord }
  | { readonly event: 'verb'; readonly done: SpaceEvent }

interface Reader {
  readonly controller: ReadableStreamDefaultController<Uint8Array>
  /** `ended` events that it missed. */
  missed: number
}

/** By space and query. */
const FEEDS = new WeakMap<Space, Map<string, Feed>>()

/**
 * Streams the exchanges of a space as server-sent events: `began` for a received request, `ended` for a sent response,
 * each with the exchange as JSON; `verb` for an applied verb; `dropped` with the number of exchanges that a slow reader
 * missed. With `brief`, only `ended` for an exchange that ends at once, and at most 500 exchanges a second after a burst:
 * a page that is open must not slow the service down.
 */
export function streamExchanges(space: Space, stopping: AbortSignal, { req, body }: Context): Response {
  const { space: _space, brief, ...query } = req.query()
  const isWanted = readFilter(space, query)
  // A HEAD request has no reader that could end the stream.
  if (req.method === 'HEAD') return body(null, 200, HEADERS)
  const feeds = FEEDS.get(space) ?? new Map<string, Feed>()
  FEEDS.set(space, feeds)
  const isBrief = brief === 'true'
  const key = `${isBrief} ${new URLSearchParams(query)}`
  const feed = feeds.get(key) ?? new Feed(space, isWanted, isBrief, stopping, () => feeds.delete(key))
  feeds.set(key, feed)
  return new Response(feed.open(req.raw.signal), { headers: HEADERS })
}

/** Renders each event once for all readers of a space with the same filter. */
class Feed {
  readonly #readers = new Set<Reader>()
  readonly #end: () => void
  #pending: StreamEvent[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  readonly #isBrief: boolean
  /** Exchanges that a brief feed may send. */
  #room = BRIEF_BURST
  #flushedAt = systemClock.monotonic()

  constructor(
    space: Space,
    isWanted: (record: ExchangeRecord) => boolean,
    isBrief: boolean,
    stopping: AbortSignal,
    onEnd: () => void,
  ) {
    this.#isBrief = isBrief
    const pushWanted = (event: 'began' | 'ended') => (record: ExchangeRecord) => {
      if (isWanted(record)) this.#push({ event, record })
    }
    const unfollow = space.log.follow({
      onBegan: pushWanted('began'),
      onEnded: pushWanted('ended'),
      onEvent: (done) => this.#push({ event: 'verb', done }),
      end: () => this.#end(),
    })
    this.#end = () => {
      this.#flush()
      clearTimeout(this.#timer)
      unfollow()
      stopping.removeEventListener('abort', this.#end)
      for (const { controller } of this.#readers) controller.close()
      this.#readers.clear()
      onEnd()
    }
    stopping.addEventListener('abort', this.#end)
    this.#flushAfter(HEARTBEAT_MS)
  }

  /** @param left aborted when the client has left */
  open(left: AbortSignal): ReadableStream<Uint8Array> {
    // It only gets events from now on.
    if (this.#pending.length > 0) this.#flush()
    let reader: Reader
    const leave = () => {
      this.#readers.delete(reader)
      reader.controller.error(left.reason)
      left.removeEventListener('abort', leave)
      if (this.#readers.size === 0) this.#end()
    }
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      reader = { controller, missed: 0 }
      this.#readers.add(reader)
      controller.enqueue(bytesOf(': connected\n\n'))
      left.addEventListener('abort', leave)
    }
    return new ReadableStream({ start, cancel: leave }, new ByteLengthQueuingStrategy({ highWaterMark: MAX_BUFFERED }))
  }

  #push(event: StreamEvent): void {
    if (this.#pending.push(event) === 1) this.#flushAfter(this.#isBrief ? BRIEF_FLUSH_MS : FLUSH_MS)
  }

  #flushAfter(delay: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#flush(), delay)
  }

  /** Without the beginnings of exchanges that have ended, and without the oldest that there is no room for. */
  #shorten(events: readonly StreamEvent[]): readonly StreamEvent[] {
    const now = systemClock.monotonic()
    this.#room = Math.min(BRIEF_BURST, this.#room + BRIEF_PER_MS * (now - this.#flushedAt))
    this.#flushedAt = now
    const ended = new Set(events.flatMap((item) => (item.event === 'ended' ? [item.record.position] : [])))
    const needed = events.filter((item) => item.event !== 'began' || !ended.has(item.record.position))
    const excess = Math.max(0, Math.ceil(needed.length - this.#room))
    this.#room -= needed.length - excess
    return needed.filter((item, index) => index >= excess || item.event === 'verb')
  }

  #flush(): void {
    const all = this.#pending
    const events = this.#isBrief ? this.#shorten(all) : all
    this.#pending = []
    this.#flushAfter(HEARTBEAT_MS)
    const ended = countEnded(all)
    const left = countEnded(events)
    for (const reader of this.#readers) reader.missed += ended - left
    const ready: Reader[] = []
    for (const reader of this.#readers) {
      if ((reader.controller.desiredSize ?? 0) > 0) ready.push(reader)
      else reader.missed += left
    }
    if (ready.length === 0) return
    const bytes = bytesOf(events.length === 0 ? ': still here\n\n' : events.map(eventText).join(''))
    for (const reader of ready) {
      const { controller, missed } = reader
      if (missed > 0) controller.enqueue(bytesOf(messageText('dropped', { count: missed })))
      reader.missed = 0
      controller.enqueue(bytes)
    }
  }
}

function countEnded(events: readonly StreamEvent[]): number {
  return events.filter(({ event }) => event === 'ended').length
}

function eventText(item: StreamEvent): string {
  if (item.event === 'verb') return messageText(item.event, item.done)
  const { event, record } = item
  return messageText(event, event === 'began' ? begunView(record) : exchangeView(record), record.id)
}

function messageText(event: string, data: object, id?: number): string {
  return `event: ${event}\ndata: ${stringifyJson(data)}\n${id === undefined ? '' : `id: ${id}\n`}\n`
}

const encoder = new TextEncoder()

function bytesOf(text: string): Uint8Array {
  return encoder.encode(text)
}
