import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { stringifyJson } from '../contract/json.js'
import type { ExchangeRecord } from '../space/exchange.js'
import { exchangeView } from '../space/exchange-view.js'
import type { World } from '../space/world.js'
import { checkInput } from './perform.js'
import { type Filter, filterSchema, matches } from './verbs/requests.js'

/** Exchanges kept for a reader that is slow; beyond, the oldest are dropped and it is told how many. */
const BUFFERED_EXCHANGES = 500

/** A comment now and then, so that nothing between takes the stream for dead. */
const HEARTBEAT_MS = 15_000

/**
 * Streams the exchanges of a space as they happen, as server-sent events:
 * `exchange` with its JSON, `dropped` with how many a slow reader has missed.
 */
export function streamExchanges(world: World, context: Context): Response {
  const { space: _space, ...query } = context.req.query()
  const filter = checkInput({ input: filterSchema }, query) as Filter
  return streamSSE(context, async (stream) => {
    let waiting: ExchangeRecord[] = []
    let dropped = 0
    let wake = () => {}
    const unfollow = world.log.follow((record) => {
      if (!matches(record, filter)) return
      if (waiting.push(record) > BUFFERED_EXCHANGES) {
        waiting.shift()
        dropped++
      }
      wake()
    })
    stream.onAbort(() => {
      unfollow()
      wake()
    })
    await stream.write(': connected\n\n')
    while (!stream.aborted && !stream.closed) {
      if (waiting.length === 0) {
        const isQuiet = await somethingHappens((notify) => {
          wake = notify
        })
        if (isQuiet) await stream.write(': still here\n\n')
        continue
      }
      const records = waiting
      const missed = dropped
      waiting = []
      dropped = 0
      if (missed > 0) await stream.writeSSE({ event: 'dropped', data: stringifyJson({ count: missed }) })
      for (const record of records) {
        await stream.writeSSE({ event: 'exchange', id: String(record.id), data: stringifyJson(exchangeView(record)) })
      }
    }
    unfollow()
  })
}

/** Waits until somebody notifies. @returns true if nobody did for the length of a heartbeat */
function somethingHappens(listen: (notify: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), HEARTBEAT_MS)
    listen(() => {
      clearTimeout(timer)
      resolve(false)
    })
  })
}
