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
/** A page gets the first exchange after a pause soon, and a flood in parts: writing and drawing cost it and the service. */
const BRIEF_FLUSH_MS = 80
const BRIEF_INTERVAL_MS = 250
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

/** Exchanges since the last flush, each in its last state: the newest that there is room for. Adding one has to be cheap. */
class LatestExchanges {
  /** Two for an exchange that has begun and ended. */
  #records: ExchangeRecord[] = []
  #ended = 0
  /** Positions that were sent as begun: without their end, a page would show them in progress for ever. */
  readonly #open = new Set<number>()
  #room = BRIEF_BURST
  #countedAt = systemClock.monotonic()

  add(record: ExchangeRecord): void {
    if (this.#records.length === 0) this.#makeRoom()
    this.#records.push(record)
    if (record.how !== undefined) this.#ended++
    // Records that the log has dropped would fill the memory.
    const most = 2 * (this.#room + BRIEF_PER_MS * BRIEF_INTERVAL_MS)
    if (this.#records.length > 2 * most)
      this.#records = [
        ...this.#records.slice(0, -most).filter((old) => this.#isAwaited(old)),
        ...this.#records.slice(-most),
      ]
  }

  #isAwaited({ how, position }: ExchangeRecord): boolean {
    return how !== undefined && this.#open.has(position)
  }

  #makeRoom(): void {
    const now = systemClock.monotonic()
    this.#room = Math.min(BRIEF_BURST, this.#room + BRIEF_PER_MS * (now - this.#countedAt))
    this.#countedAt = now
  }

  /** @returns the exchanges, oldest first, and how many ended ones were dropped */
  take(): { readonly events: StreamEvent[]; readonly dropped: number } {
    this.#makeRoom()
    const latest = new Map<number, ExchangeRecord>()
    const room = Math.max(1, this.#room)
    for (let i = this.#records.length - 1; i >= 0 && latest.size < room; i--) {
      const record = this.#records[i]
      if (record !== undefined && !latest.has(record.position)) latest.set(record.position, record)
    }
    if (this.#open.size > 0)
      for (const record of this.#records) if (this.#isAwaited(record)) latest.set(record.position, record)
    for (const { how, position } of latest.values()) {
      if (how === undefined) this.#open.add(position)
      else this.#open.delete(position)
    }
    const events = [...latest.values()]
      .sort((a, b) => a.position - b.position)
      .map((record): StreamEvent => ({ event: record.how === undefined ? 'began' : 'ended', record }))
    const dropped = this.#ended - countEnded(events)
    this.#room -= events.length
    this.#records = []
    this.#ended = 0
    return { events, dropped }
  }
}

/** Renders each event once for all readers of a space with the same filter. */
class Feed {
  readonly #readers = new Set<Reader>()
  readonly #end: () => void
  /** Of a brief feed: only verbs. */
  #pending: StreamEvent[] = []
  readonly #latest: LatestExchanges | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #isWaiting = false
  /** By the monotonic clock. */
  #flushedAt = Number.NEGATIVE_INFINITY

  constructor(
    space: Space,
    isWanted: (record: ExchangeRecord) => boolean,
    isBrief: boolean,
    stopping: AbortSignal,
    onEnd: () => void,
  ) {
    this.#latest = isBrief ? new LatestExchanges() : undefined
    const pushWanted = (event: 'began' | 'ended') => (record: ExchangeRecord) => {
      if (!isWanted(record)) return
      if (this.#latest === undefined) this.#pending.push({ event, record })
      else this.#latest.add(record)
      this.#flushSoon()
    }
    const unfollow = space.log.follow({
      onBegan: pushWanted('began'),
      onEnded: pushWanted('ended'),
      onEvent: (done) => {
        this.#pending.push({ event: 'verb', done })
        this.#flushSoon()
      },
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
    if (this.#isWaiting) this.#flush()
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

  #flushSoon(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    const untilNext = this.#flushedAt + BRIEF_INTERVAL_MS - systemClock.monotonic()
    this.#flushAfter(this.#latest === undefined ? FLUSH_MS : Math.max(BRIEF_FLUSH_MS, untilNext))
  }

  #flushAfter(delay: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#flush(), delay)
  }

  #flush(): void {
    const { events: latest, dropped } = this.#latest?.take() ?? { events: [], dropped: 0 }
    const events = [...latest, ...this.#pending]
    this.#pending = []
    if (this.#isWaiting) this.#flushedAt = systemClock.monotonic()
    this.#isWaiting = false
    this.#flushAfter(HEARTBEAT_MS)
    const ended = countEnded(events)
    const ready: Reader[] = []
    for (const reader of this.#readers) {
      reader.missed += dropped
      if ((reader.controller.desiredSize ?? 0) > 0) ready.push(reader)
      else reader.missed += ended
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
